import { ask, byId, make, onKey, onStatus, onUndo, send, status } from "./common.js";

let timer = 0, was = false;

onStatus((now) => {
  const under = now.learning;
  byId("learn").disabled = Boolean(under);
  byId("stop").disabled = !under;
  byId("progress").hidden = !under;
  if (under) {
    byId("stage").textContent = under.round ? `${under.stage}, round ${under.round}` : under.stage;
    if (under.total) { byId("bar").value = (100 * (under.done || 0)) / under.total; } else byId("bar").removeAttribute("value");
    byId("gap").textContent = under.gap ? `at most ${(100 * under.gap).toFixed(1)} % from the optimum` : "";
    if (!timer) timer = setInterval(() => status().catch(() => {}), 300);
  } else if (timer) { clearInterval(timer); timer = 0; }
  if (was && !under) log().catch(() => {});
  was = Boolean(under);
  const fresh = now.model ? `Model ${now.model}: ${now.since === 0 ? "it has heard all decisions." : `${now.since} decision${now.since === 1 ? "" : "s"} since.`}` : "No model yet.";
  byId("verdict").textContent = fresh;
  byId("verdict").classList.toggle("good", Boolean(now.model) && now.since === 0);
  if (now.learned) changed(now.learned);
});

function changed(found) {
  if (found.error) { byId("changed").replaceChildren(make("p", { class: "wrong" }, found.error)); return; }
  if (!found.model) { byId("changed").replaceChildren(make("p", {}, "Stopped; nothing was changed.")); return; }
  const rows = Object.entries(found.counts || {}).filter(([, n]) => n).map(([name, n]) => make("tr", {}, make("th", { scope: "row" }, `groups ${name}`),
    make("td", { class: "number" }, n.toLocaleString("en"))));
  const how = { answers: "your answers", groups: "confirmed groups", "no labels": "no labels: a guess by which fields agree",
    "answers, which foretell groups better than other groups do": "your answers, which foretell groups better than other groups do" };
  byId("changed").replaceChildren(make("p", {}, `Model ${found.model}, from ${how[found.how] || found.how}, in ${found.seconds} s${found.stopped ? ", stopped early" : ""}: ${found.changes}.`),
    make("table", {}, make("tbody", {}, ...rows)));
}

/** What a decision is about; those that were beside a group that was confirmed are not in it, and piles have a bar between them. */
function about(d) {
  const group = d.group ? `group ${d.group}` : "";
  if (d.piles.length) return [d.piles.map((pile) => pile.join(", ")).join(" | "), d.note].filter(Boolean).join(", ");
  const parts = d.kind === "confirm" ? [group, d.items.length ? `to which ${d.items.join(", ")} do not belong` : ""] : [...d.items, group];
  return [...parts, d.undoes ? `decision ${d.undoes}` : "", d.note].filter(Boolean).join(", ");
}

async function log() {
  const { decisions } = await ask("/api/log", { limit: 20 });
  const head = ["number", "decision", "about", "by", "at"].map((name) => make("th", { scope: "col" }, name));
  byId("log").replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...decisions.map((d) => make("tr", {},
    make("td", {}, String(d.number)), make("td", {}, d.kind + (d.undone ? " (undone)" : "")),
    make("td", {}, about(d)),
    make("td", {}, d.author), make("td", {}, make("time", { datetime: d.time }, new Date(d.time).toLocaleString()))))));
}

const learn = async () => { if (byId("learn").disabled) return; await send("/api/learn"); await status(); };
byId("learn").addEventListener("click", () => learn().catch(() => {}));
byId("stop").addEventListener("click", () => send("/api/stop").catch(() => {}));
onKey("l", () => { learn().catch(() => {}); });
onUndo(log);
log().catch(() => {});

import { ask, byId, decide, make, onKey, onUndo, send, status, tell } from "./common.js";
import { card, curve, press, reasons } from "./items.js";

const PAGE = 10;
let offset = 0;
const percent = (p) => `${Math.round(100 * p)} %`;

async function load(from = 0) {
  const found = await ask("/api/review", { offset: from, limit: PAGE });
  offset = from + found.groups.length;
  const sure = found.calibrated ? "Confidence is learned from held-out groups." : "Confidence is the model's own word; twelve confirmed groups can calibrate it.";
  byId("verdict").textContent = `${found.total} group${found.total === 1 ? "" : "s"} can be doubted, ${found.confirmed} confirmed. ${sure}`;
  const drawn = await Promise.all(found.groups.map(doubt));
  if (from) byId("doubts").append(...drawn);
  else byId("doubts").replaceChildren(...(drawn.length ? drawn : [make("p", { class: "soft" }, "Nothing is doubtful.")]));
  byId("more").hidden = offset >= found.total;
  if (!from) byId("merges").replaceChildren(...(await Promise.all(found.merges.slice(0, 8).map(merge))));
}

const items = async (ids) => (await ask("/api/items", { id: ids.slice(0, 60) })).items;

async function doubt(found) {
  const leaving = new Set(found.part), held = await items([...found.part, ...found.items.filter((id) => !leaving.has(id))]);
  const cards = held.map((item) => card(item, { class: leaving.has(item.id) ? "leaving" : "", more: { onclick: press } }));
  const reason = make("div");
  const box = make("article", { class: "doubt", tabindex: "-1", "data-group": found.group, "data-part": JSON.stringify(found.part) },
    make("h3", {}, `${found.size} items, ${percent(found.sure)} sure that the marked belong to the rest`),
    make("ul", { class: "members" }, ...cards.map((one) => make("li", {}, one))),
    found.size > held.length ? make("p", { class: "soft" }, `and ${found.size - held.length} more`) : null,
    make("div", { class: "row" }, make("button", { type: "button", class: "main", onclick: () => accept(box) }, "Accept ", make("kbd", {}, "A")),
      make("button", { type: "button", onclick: () => split(box) }, "Split as suggested ", make("kbd", {}, "S")),
      make("button", { type: "button", onclick: () => out(box) }, "Chosen out ", make("kbd", {}, "X")),
      make("button", { type: "button", onclick: () => why(box) }, "Why together ", make("kbd", {}, "W"))), reason);
  box.reason = reason;
  box.items = held;
  return box;
}

/** Take a box away; who was in it is in the next one, not at the end of the page. */
function leave(box) {
  const next = box.nextElementSibling || box.previousElementSibling;
  box.remove();
  (next?.querySelector("button") || byId("main")).focus();
}

async function done(box, text) {
  tell(text);
  leave(box);
  if (!byId("doubts").children.length) await load();
}
const safely = (work) => work.catch(() => {});
const accept = (box) => safely((async () => { await decide("confirm", { group: box.dataset.group }); await done(box, "Accepted."); })());
const split = (box) => safely((async () => {
  await decide("split", { group: box.dataset.group, items: JSON.parse(box.dataset.part) });
  await done(box, "Split as suggested.");
})());
const out = (box) => safely((async () => {
  const ids = [...box.querySelectorAll('.item[aria-pressed="true"]')].map((one) => one.dataset.id);
  if (!ids.length) { tell("Choose the items that do not belong."); return; }
  await decide("split", { group: box.dataset.group, items: ids });
  await done(box, "The chosen are a group of their own.");
})());
const why = (box) => safely((async () => {
  const pressed = [...box.querySelectorAll('.item[aria-pressed="true"]')].map((one) => one.dataset.id);
  const part = JSON.parse(box.dataset.part), rest = box.items.find((item) => !part.includes(item.id));
  const [a, b] = pressed.length === 2 ? pressed : [part[0], rest?.id];
  box.reason.replaceChildren(make("p", { class: "soft" }, `${a} and ${b}:`), reasons(await ask("/api/why", { a, b })));
})());

async function merge(found) {
  const [first, second] = await Promise.all([items(found.first.items.slice(0, 3)), items(found.second.items.slice(0, 3))]);
  const box = make("article", { class: "doubt" }, make("h3", {}, `${percent(found.sure)} likely one: ${found.first.size} and ${found.second.size} items`),
    make("ul", { class: "members" }, ...[...first, ...second].map((item) => make("li", {}, card(item, { more: { onclick: press } })))));
  const gone = (text) => { tell(text); leave(box); };
  const reason = make("div");
  box.append(make("div", { class: "row" },
    make("button", { type: "button", onclick: () => safely((async () => { await decide("merge", { group: found.second.group, into: found.first.group }); gone("Merged."); })()) }, "Merge"),
    make("button", { type: "button", onclick: () => safely((async () => { await decide("different", { items: [first[0].id, second[0].id] }); gone("Kept apart."); })()) }, "Keep apart"),
    make("button", { type: "button", onclick: () => safely((async () => reason.replaceChildren(reasons(await ask("/api/why", { a: first[0].id, b: second[0].id }))))()) }, "Why not")), reason);
  return box;
}

async function dial() {
  const { curve: held } = await ask("/api/precision");
  byId("dial").hidden = !held.length;
  if (!held.length) {
    byId("curve").replaceChildren(make("p", { class: "soft" }, "The dial has a curve when twelve groups of two items and more are confirmed, and foretell others about as well as your answers do."));
    return;
  }
  const points = held.map((p) => ({ x: p.recall, y: p.precision, low: p.lower, high: p.precision })).sort((a, b) => a.x - b.x);
  curve(byId("curve"), points, { label: "Precision by recall on held-out groups", x: "recall", y: "precision", from: 0.5 });
}

byId("dial").addEventListener("submit", (event) => {
  event.preventDefault();
  safely((async () => {
    const found = await send("/api/regroup", { precision: Number(byId("precision").value) });
    byId("dialled").textContent = `${found.dial}: ${found.changes}.`;
    await status();
    await load();
  })());
});
byId("more").addEventListener("click", () => safely(load(offset)));
const here = () => document.activeElement?.closest?.(".doubt[data-group]") || byId("doubts").querySelector(".doubt");
function step(by) {
  const boxes = [...byId("doubts").querySelectorAll(".doubt")];
  const at = boxes.indexOf(here());
  const box = boxes[Math.max(0, Math.min(boxes.length - 1, document.activeElement?.closest(".doubt") ? at + by : 0))];
  box?.focus();
  box?.scrollIntoView({ block: "nearest" });
}
onKey("ArrowDown", (event) => (event.target.closest(".scroll") ? false : step(1)));
onKey("ArrowUp", (event) => (event.target.closest(".scroll") ? false : step(-1)));
for (const [name, what] of [["a", accept], ["s", split], ["x", out], ["w", why]]) onKey(name, () => { const box = here(); if (box) what(box); });
onUndo(() => load());
load().catch(() => { byId("verdict").textContent = "Learn first: there is no model yet."; });
dial().catch(() => {});

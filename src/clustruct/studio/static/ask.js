import { ask, byId, decide, make, onKey, onUndo, send, status, takeBack, tell } from "./common.js";
import { card, curve, press, reasons, sideBySide, stepCards } from "./items.js";

// Questions of this batch, the present one, and of each decision of this batch the question it answered.
let batch = [], at = 0, made = [], busy = false;
const REASONS = {
  check: "drawn at random, to see how good the model is",
  doubt: "one of the most useful to ask",
  many: "one yes says much at once",
};

async function load() {
  const found = await ask("/api/questions", { n: 10 });
  [batch, at, made] = [found.questions, 0, []];
  verdict(found.curve);
  draw();
}

function verdict({ points, enough, reason }) {
  byId("enough").textContent = enough ? `Enough: ${reason}. Go on to Review, or Export.` : `Not yet: ${reason}.`;
  byId("enough").classList.toggle("good", enough);
  const drawn = points.map((p) => ({ x: p.n, y: p.share, low: p.low, high: p.high }));
  curve(byId("curve"), drawn, { label: "Share of answers foretold by models that had not seen them", x: "answers", y: "foretold" });
}

const isGroup = (question) => question?.kind === "group";

function draw() {
  const question = batch[at];
  for (const id of ["reason", "pair", "members", "near"]) byId(id).replaceChildren();
  for (const id of ["yes", "no", "dunno", "why"]) byId(id).disabled = !question;
  byId("sides").hidden = !question || isGroup(question);
  byId("whole").hidden = !isGroup(question);
  likely("yes");
  if (!question) {
    byId("place").textContent = batch.length ? "Learning from your answers…" : "No more questions.";
    return;
  }
  byId("place").textContent = `Question ${at + 1} of ${batch.length}: ${REASONS[question.why]}.${isGroup(question) ? " Mark what is wrong, if anything; what is not marked counts as right." : ""}`;
  if (isGroup(question)) group(question);
  else pair(question);
}

function words(title, yes, no) {
  byId("question-title").textContent = title;
  byId("yes").querySelector("span").textContent = yes;
  byId("no").querySelector("span").textContent = no;
}

function pair(question) {
  words("Do these two belong together?", "Yes", "No");
  sideBySide(byId("pair"), question.items);
}

/** Cards of a group, and of what is nearest to it; those that the model doubts most have an edge. */
function group(question) {
  const doubtful = new Set(question.part), n = question.beside.length;
  words(`Do these ${question.items.length} belong together${n ? ", and none of those below" : ""}?`, "Yes, as shown", "No, as marked");
  const cards = (items, edge) => items.map((item) => make("li", {}, card(item, { class: edge(item) ? "leaving" : "", more: { onclick: mark } })));
  byId("members").replaceChildren(...cards(question.items, (item) => doubtful.has(item.id)));
  byId("near").replaceChildren(...cards(question.beside, () => false));
  byId("near-title").hidden = !n;
  byId("near-title").textContent = n === 1 ? "Nearest to them, not in the group: mark it if it belongs to them" : "Nearest to them, not in the group: mark those that belong to them";
}

/** What is marked makes "no" the likely answer. */
function mark(event) {
  press(event);
  likely(marked("members").length + marked("near").length ? "no" : "yes");
}

function likely(which) { for (const id of ["yes", "no"]) byId(id).classList.toggle("main", id === which); }

const marked = (id) => [...byId(id).querySelectorAll('[aria-pressed="true"]')].map((one) => one.dataset.id);
const idsOf = (items) => items.map((item) => item.id);

/** What an answer to a question decides, one after another; nothing where more must be said first. */
function decisions(kind, question) {
  const ids = idsOf(question.items);
  if (!isGroup(question)) return [[kind, { items: ids }]];
  const out = marked("members"), come = marked("near"), stay = ids.filter((id) => !out.includes(id));
  if (kind === "same" && !out.length && !come.length) return [["confirm", { group: question.group, items: idsOf(question.beside) }]];
  if (kind === "same") { tell("Some are marked: N says that these are wrong. Unmark them to say yes."); return []; }
  if (!stay.length || (!out.length && !come.length)) { tell(HOW); return []; }
  if (kind === "unsure") return [[kind, { items: [out[0] || come[0], stay[0]] }]];
  const others = idsOf(question.beside).filter((id) => !come.includes(id));
  return [...asMarked(question.group, stay, out, others), ...come.map((id) => ["same", { items: [stay[0], id] }])];
}

const HOW = "Mark what is wrong first: click cards that do not belong to the others, and cards below that do; or go to them with the arrows and press space.";

/** What is not marked is right: those that stay are together, and others beside them are not with them. One that leaves is taken out. Of several
 * nobody has said that they are one group: the others are taken out of their midst, into a group whose name is not known here. */
function asMarked(group, stay, out, others) {
  const each = (kind, ids) => ids.map((id) => [kind, { items: [stay[0], id] }]);
  if (out.length > 1) return [["split", { group, items: stay }], ...each("different", others)];
  const first = out.length ? [["split", { group, items: out }]] : [];
  return [...first, ...(others.length ? [["confirm", { group, items: others }]] : each("same", stay.slice(1)))];
}

async function answer(kind) {
  const question = batch[at];
  if (!question || busy) return;
  busy = true;
  try {
    const sent = decisions(kind, question);
    for (const [what, told] of sent) {
      await decide(what, told);
      made.push(at);
    }
    if (!sent.length) return;
    at += 1;
    draw();
    if (at >= batch.length) await learn();
  } finally { busy = false; }
}

/** Back to the question that the last decision of this batch answered, with all that answer decided; in all other cases other questions. */
function back(which) {
  if (which !== "undo" || !made.length) return load();
  const place = made.pop();
  if (made.at(-1) === place) return takeBack("undo");
  at = place;
  return draw();
}

async function learn() {
  await send("/api/learn");
  for (;;) {
    await new Promise((done) => setTimeout(done, 250));
    const now = await status();
    if (!now.learning) {
      if (now.learned?.error) tell(now.learned.error);
      break;
    }
    byId("place").textContent = `Learning: ${now.learning.stage}…`;
  }
  await load();
}

/** Two items of a question to explain: of a group what is marked, or else most doubtful, and one of the others. */
function doubtful(question) {
  const ids = idsOf(question.items), part = [...marked("members"), ...marked("near"), ...(question.part || [])];
  return part.length ? [part[0], ids.find((id) => !part.includes(id)) || ids.find((id) => id !== part[0])] : ids.slice(0, 2);
}

async function why() {
  const question = batch[at];
  if (!question) return;
  const [a, b] = doubtful(question), all = [...question.items, ...question.beside];
  const name = (id) => `${Object.values(all.find((item) => item.id === id)?.fields || {})[0] || ""} (${id})`;
  const found = await ask("/api/why", { a, b });
  byId("reason").replaceChildren(...(isGroup(question) ? [make("p", { class: "soft" }, `${name(a)} and ${name(b)}:`)] : []), reasons(found));
}

const say = (kind) => () => { answer(kind).catch(() => {}); };
byId("yes").addEventListener("click", say("same"));
byId("no").addEventListener("click", say("different"));
byId("dunno").addEventListener("click", say("unsure"));
byId("why").addEventListener("click", () => why().catch(() => {}));
for (const [name, by] of [["ArrowDown", 1], ["ArrowRight", 1], ["ArrowUp", -1], ["ArrowLeft", -1]]) {
  onKey(name, () => (isGroup(batch[at]) ? stepCards(byId("whole"), by) : false));
}
onKey("y", say("same"));
onKey("n", say("different"));
onKey("u", say("unsure"));
onKey("w", () => { why().catch(() => {}); });
onKey("l", () => { learn().catch(() => {}); });
onUndo(back);
load().catch(() => { byId("place").textContent = "Learn first: there is no model to ask by."; });

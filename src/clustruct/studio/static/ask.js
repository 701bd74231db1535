import { ask, byId, decide, make, onKey, onUndo, send, tell } from "./common.js";
import { card, curve, press, reasons, sideBySide, stepCards } from "./items.js";

let batch = [], at = 0, answered = 0, busy = false;

async function load() {
  const found = await ask("/api/questions", { n: 10 });
  [batch, at] = [found.questions, 0];
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
  for (const id of ["reason", "pair", "members"]) byId(id).replaceChildren();
  for (const id of ["yes", "no", "dunno", "why"]) byId(id).disabled = !question;
  byId("sides").hidden = !question || isGroup(question);
  byId("members").hidden = !isGroup(question);
  if (!question) {
    byId("place").textContent = batch.length ? "Learning from your answers…" : "No more questions.";
    return;
  }
  const how = question.why === "check" ? "drawn at random, to see how good the model is" : "one of the most useful to ask";
  byId("place").textContent = `Question ${at + 1} of ${batch.length}: ${how}.`;
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

/** Cards of a group; those that may not belong to it are marked already. */
function group(question) {
  words(`Do these ${question.items.length} belong together?`, "Yes, all", "No, the marked do not");
  const doubtful = new Set(question.part);
  byId("members").replaceChildren(...question.items.map((item) => {
    const drawn = card(item, { more: { onclick: press } });
    drawn.setAttribute("aria-pressed", String(doubtful.has(item.id)));
    return make("li", {}, drawn);
  }));
}

/** What an answer to a question decides; nothing where more must be said first. */
function decision(kind, question) {
  const ids = question.items.map((item) => item.id);
  if (!isGroup(question)) return [kind, { items: ids }];
  const marked = [...byId("members").querySelectorAll('[aria-pressed="true"]')].map((one) => one.dataset.id);
  if (kind === "same") return ["move", { items: ids, into: question.group }];
  if (!marked.length || marked.length === ids.length) {
    tell("Mark the cards that do not belong to the others: click them, or go to them with the arrows and press space.");
    return null;
  }
  if (kind === "unsure") return [kind, { items: [marked[0], ids.find((id) => !marked.includes(id))] }];
  return ["split", { group: question.group, items: marked }];
}

async function answer(kind) {
  const question = batch[at];
  const decided = question && !busy && decision(kind, question);
  if (!decided) return;
  busy = true;
  try {
    await decide(...decided);
    answered += 1;
    at += 1;
    draw();
    if (at >= batch.length) await learn();
  } finally { busy = false; }
}

async function learn() {
  await send("/api/learn");
  for (;;) {
    await new Promise((done) => setTimeout(done, 250));
    const now = await ask("/api/status");
    if (!now.learning) {
      if (now.learned?.error) tell(now.learned.error);
      break;
    }
    byId("place").textContent = `Learning: ${now.learning.stage}…`;
  }
  await load();
}

async function why() {
  const question = batch[at];
  if (!question) return;
  const ids = question.items.map((item) => item.id), other = ids.find((id) => !question.part?.includes(id));
  const [a, b] = question.part?.length ? [question.part[0], other] : ids;
  const found = await ask("/api/why", { a, b });
  byId("reason").replaceChildren(reasons(found));
}

const say = (kind) => () => { answer(kind).catch(() => {}); };
byId("yes").addEventListener("click", say("same"));
byId("no").addEventListener("click", say("different"));
byId("dunno").addEventListener("click", say("unsure"));
byId("why").addEventListener("click", () => why().catch(() => {}));
for (const [name, by] of [["ArrowDown", 1], ["ArrowRight", 1], ["ArrowUp", -1], ["ArrowLeft", -1]]) {
  onKey(name, () => (isGroup(batch[at]) ? stepCards(byId("members"), by) : false));
}
onKey("y", say("same"));
onKey("n", say("different"));
onKey("u", say("unsure"));
onKey("w", () => { why().catch(() => {}); });
onKey("l", () => { learn().catch(() => {}); });
onUndo(() => { if (at > 0 && answered > 0) { at -= 1; answered -= 1; draw(); } });
load().catch(() => { byId("place").textContent = "Learn first: there is no model to ask by."; });

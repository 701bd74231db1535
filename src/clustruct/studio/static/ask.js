import { ask, byId, decide, make, onKey, onUndo, send, tell } from "./common.js";
import { curve, reasons, sideBySide } from "./items.js";

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

function draw() {
  const question = batch[at];
  byId("reason").replaceChildren();
  for (const id of ["yes", "no", "dunno", "why"]) byId(id).disabled = !question;
  if (!question) {
    byId("place").textContent = batch.length ? "Learning from your answers…" : "No more questions.";
    byId("pair").replaceChildren();
    return;
  }
  const how = question.why === "check" ? "drawn at random, to see how good the model is" : "one of the most useful to ask";
  byId("place").textContent = `Question ${at + 1} of ${batch.length}: ${how}.`;
  sideBySide(byId("pair"), [question.a, question.b]);
}

async function answer(kind) {
  const question = batch[at];
  if (!question || busy) return;
  busy = true;
  try {
    await decide(kind, { items: [question.a.id, question.b.id] });
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
  const found = await ask("/api/why", { a: question.a.id, b: question.b.id });
  byId("reason").replaceChildren(reasons(found));
}

const say = (kind) => () => { answer(kind).catch(() => {}); };
byId("yes").addEventListener("click", say("same"));
byId("no").addEventListener("click", say("different"));
byId("dunno").addEventListener("click", say("unsure"));
byId("why").addEventListener("click", () => why().catch(() => {}));
onKey("y", say("same"));
onKey("n", say("different"));
onKey("u", say("unsure"));
onKey("w", () => { why().catch(() => {}); });
onKey("l", () => { learn().catch(() => {}); });
onUndo(() => { if (at > 0 && answered > 0) { at -= 1; answered -= 1; draw(); } });
load().catch(() => { byId("place").textContent = "Learn first: there is no model to ask by."; });

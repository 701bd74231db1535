import { ask, byId, decide, make, onKey, onOwnUndo, onUndo, send, status, tell } from "./common.js";
import { Board, NEW, NONE } from "./board.js";
import { curve, reasons, sideBySide } from "./items.js";

// Questions of this batch, the present one, all that were answered by a decision since the page was opened, how many were skipped, and whether something was answered since it has learned.
let batch = [], at = 0, made = [], skipped = 0, fresh = false, busy = false;
const REASONS = {
  any: "an item drawn at random, and what is most like it",
  doubt: "an item of which an answer teaches most, and what is most like it",
};

async function load() {
  const found = await ask("/api/questions", { skipped });
  // What was taken back while it learned is asked before others.
  [batch, at] = [[...batch.slice(at).filter((question) => question.again), ...found.questions], 0];
  verdict(found.curve);
  draw();
}

function verdict({ points, enough, reason }) {
  byId("enough").textContent = enough ? `Enough: ${reason}. Go on to Review, or Export.` : `Not yet: ${reason}.`;
  byId("enough").classList.toggle("good", enough);
  const drawn = points.map((p) => ({ x: p.n, y: p.share, low: p.low, high: p.high }));
  curve(byId("curve"), drawn, { label: "Share of answers foretold by models that had not seen them", x: "answers", y: "foretold" });
}

const isBoard = (question) => question?.kind === "sort";
const MOVE = "Cards of one column belong together, those of different columns do not. Move what is wrong, then say as shown.";
// Nothing of it is told to anybody before "as shown" is said: where a card is meanwhile is a number of its own.
const board = new Board(byId("board"), { word: "Column", heading: "h3", of: (item) => item.column, put, none: { title: "Unsure: nothing is said of these", key: "U" } });

// Where the cards were before each move.
let moves = [];

function put(ids, to) {
  const column = to === NEW ? 1 + Math.max(...board.order) : to;
  moves.push(board.items.map((item) => item.column));
  byId("undo").disabled = false;
  for (const item of board.items) if (ids.includes(item.id)) item.column = column;
  board.draw(ids[0]);
}

/** Undo takes back moves on this board first, then decisions. */
function unmove(which) {
  if (which !== "undo" || !moves.length) return false;
  const columns = moves.pop();
  board.items.forEach((item, k) => { item.column = columns[k]; });
  board.draw();
  if (!moves.length) status().catch(() => {});
  return true;
}

function draw() {
  const question = batch[at], sorts = isBoard(question);
  moves = [];
  for (const id of ["reason", "pair"]) byId(id).replaceChildren();
  for (const id of ["yes", "no", "dunno", "why"]) byId(id).disabled = !question;
  byId("sides").hidden = !question || sorts;
  byId("board").hidden = !sorts;
  byId("no").hidden = sorts;
  byId("compare").hidden = !sorts;
  board.show(sorts ? question.piles.flatMap((pile, column) => pile.map((item) => ({ ...item, column }))) : []);
  if (!question) {
    byId("place").textContent = batch.length ? "Learning from your answers…" : "No more questions.";
    return;
  }
  byId("question-title").textContent = sorts ? `Sort these ${board.items.length} cards` : "Do these two belong together?";
  byId("place").textContent = `Question ${made.length + skipped + 1}: ${REASONS[question.why]}.${sorts ? ` ${MOVE}` : ""}`;
  byId("yes").querySelector("span").textContent = sorts ? "As shown" : "Yes";
  if (!sorts) sideBySide(byId("pair"), question.items);
  look();
}

/** To where a question begins; the focus, too, where what had it is gone. */
function look() {
  const title = byId("question-title"), had = document.activeElement;
  if (!had || had === document.body || had.closest("[hidden]")) title.focus();
  title.scrollIntoView({ block: "nearest" });
}

const idsOf = (items) => items.map((item) => item.id);

/** What an answer decides; nothing where a board has less than two cards of which something is said. */
function decision(kind, question) {
  if (!isBoard(question)) return [kind, { items: idsOf(question.items) }];
  const piles = board.columns().map(([, held]) => idsOf(held));
  return piles.flat().length > 1 ? ["sort", { piles }] : null;
}

async function answer(kind) {
  const question = batch[at];
  if (!question || busy) return;
  busy = true;
  try {
    const told = decision(kind, question);
    if (told) {
      await decide(...told);
      answered(question);
    } else {
      skipped += 1;
      await status();
    }
    at += 1;
    draw();
    if (at >= batch.length) await (fresh ? learn() : load());
  } finally { busy = false; }
}

function answered(question) {
  question.again = false;
  fresh = true;
  made.push(question);
}

/** Back to the question that the last decision answered, if it was here; in all other cases other questions. */
function back(which) {
  if (which === "undo" && made.length) {
    const question = made.pop();
    question.again = true;
    batch.splice(at, 0, question);
    return draw();
  }
  const redone = batch.find((question) => question.again);
  if (which === "redo" && redone) answered(redone);
  return load();
}

async function learn() {
  fresh = false;
  await send("/api/learn");
  for (;;) {
    await new Promise((done) => setTimeout(done, 250));
    const now = await status();
    if (!now.learning) {
      if (now.learned?.error) tell(now.learned.error);
      break;
    }
    const told = `Learning: ${now.learning.stage}…`;
    if (byId("place").textContent !== told) byId("place").textContent = told;
  }
  await load();
}

/** Two items of a question to explain: of a board those that are chosen, then those of their column, or of the first that has two. */
function two(question) {
  if (!isBoard(question)) return question.items;
  const [first] = board.chosen, columns = board.columns().map(([, held]) => held);
  const column = columns.find((held) => (first === undefined ? held.length > 1 : idsOf(held).includes(first))) || [];
  const ids = [...new Set([...board.chosen, ...idsOf([...column, ...columns.flat(), ...board.items])])];
  return ids.slice(0, 2).map((id) => board.items.find((item) => item.id === id));
}

async function why() {
  const question = batch[at];
  if (!question) return;
  const [a, b] = two(question), name = (item) => `${Object.values(item.fields)[0] || ""} (${item.id})`;
  const found = await ask("/api/why", { a: a.id, b: b.id });
  byId("reason").replaceChildren(...(isBoard(question) ? [make("p", { class: "soft" }, `${name(a)} and ${name(b)}:`)] : []), reasons(found));
}

const say = (kind) => () => { answer(kind).catch(() => {}); };
/** Of a board it is where chosen cards go, of a pair an answer. */
const either = (to, kind) => () => (isBoard(batch[at]) ? board.put(to) : say(kind)());
byId("yes").addEventListener("click", say("same"));
byId("no").addEventListener("click", say("different"));
byId("dunno").addEventListener("click", either(NONE, "unsure"));
byId("why").addEventListener("click", () => why().catch(() => {}));
onKey("y", say("same"));
// A key that is held down since another page answers nothing here.
onKey("Enter", (event) => (isBoard(batch[at]) && !event.repeat && !event.target.closest("a, button") ? say("same")() : false));
onKey("n", either(NEW, "different"));
onKey("u", either(NONE, "unsure"));
const compare = () => (isBoard(batch[at]) ? board.compare(byId("sides"), byId("pair")) : false);
byId("compare").addEventListener("click", compare);
onKey("s", compare);
onKey("w", () => { why().catch(() => {}); });
onKey("l", () => { learn().catch(() => {}); });
onOwnUndo(unmove);
onUndo(back);
load().catch(() => { byId("place").textContent = "Learn first: there is no model to ask by."; });

import { ask, byId, decide, make, onKey, onUndo, tell } from "./common.js";
import { Board, NEW, NONE } from "./board.js";
import { List } from "./list.js";

let skip = 0, more = false, blind = false;
// In blind mode: items that were not put anywhere yet, whatever groups they are in.
const loose = new Set();
const board = new Board(byId("board"), { word: "Group", of: (item) => (loose.has(item.id) ? NONE : item.group), put, none: { title: "Not grouped yet" } });

async function load() {
  const found = await ask("/api/block", { skip });
  more = found.more;
  loose.clear();
  if (blind) for (const item of found.items) loose.add(item.id);
  board.show(found.items);
  byId("next").disabled = !more && skip === 0;
}

async function refresh() {
  if (!board.items.length) return;
  board.items = (await ask("/api/items", { id: board.items.map((item) => item.id) })).items;
  board.draw();
  all.reload();
}

let busy = Promise.resolve();
/** Cards into a group, or a new one; one decision after another. */
function put(moved, to) {
  const group = to === NEW ? null : to;
  busy = busy.then(async () => {
    const found = await decide("move", { items: moved, into: group });
    for (const item of board.items) if (moved.includes(item.id)) { item.group = found.into || group; loose.delete(item.id); }
    board.draw(moved[0]);
    all.reload();
  }).catch(() => refresh());
}

async function confirmAll() {
  for (const [group] of board.columns()) await decide("confirm", { group });
  tell("Kept: these groups are right as shown.");
  if (more) { skip += 1; await load(); }
}

async function unsure() {
  const [a, b, ...rest] = board.chosen;
  if (!b || rest.length) { tell("Choose two cards of which you are unsure whether they belong together."); return; }
  await decide("unsure", { items: [a, b] });
  board.chosen.clear();
  board.draw();
  tell("Kept: nobody knows whether these two belong together.");
}

async function note() {
  const text = window.prompt("A note to remember with the decisions:");
  if (text) { await decide("note", { note: text, items: [] }); tell("Kept."); }
}

const compare = () => board.compare(byId("sides"), byId("table"));

const another = () => { skip = more ? skip + 1 : 0; return load(); };
const all = new List(byId("all"), (item) => make("div", { class: "line" }, make("b", {}, item.id), " ",
  Object.values(item.fields).slice(0, 3).join(" · ")));
let waiting = 0;
byId("search").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => all.reload(byId("search").value), 150);
});
byId("next").addEventListener("click", () => another().catch(() => {}));
byId("confirm").addEventListener("click", () => confirmAll().catch(() => {}));
byId("compare").addEventListener("click", compare);
byId("unsure").addEventListener("click", () => unsure().catch(() => {}));
byId("note").addEventListener("click", () => note().catch(() => {}));
byId("blind").addEventListener("change", () => { blind = byId("blind").checked; load().catch(() => {}); });
onKey("n", () => board.put(NEW));
onKey("u", () => { unsure().catch(() => {}); });
onKey("c", () => { confirmAll().catch(() => {}); });
onKey("s", compare);
onKey("m", () => { note().catch(() => {}); });
onKey("j", () => { another().catch(() => {}); });
onKey("/", () => byId("search").focus());
onUndo(refresh);
load().catch(() => {});

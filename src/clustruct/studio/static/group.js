import { ask, byId, decide, make, onKey, onUndo, tell } from "./common.js";
import { card, sideBySide, stepCards } from "./items.js";
import { List } from "./list.js";

const chosen = new Set();
let items = [], skip = 0, more = false, blind = false;
// In blind mode: items that were not put anywhere yet, whatever groups they are in.
const loose = new Set();
const order = [];

async function load() {
  chosen.clear();
  const found = await ask("/api/block", { skip });
  items = found.items;
  more = found.more;
  loose.clear();
  order.length = 0;
  if (blind) for (const item of items) loose.add(item.id);
  draw();
}

async function refresh() {
  if (!items.length) return;
  const found = await ask("/api/items", { id: items.map((item) => item.id) });
  items = found.items;
  draw();
  all.reload();
}

function piles() {
  const found = new Map(order.map((group) => [group, []]));
  for (const item of items) {
    if (loose.has(item.id)) continue;
    if (!found.has(item.group)) { found.set(item.group, []); order.push(item.group); }
    found.get(item.group).push(item);
  }
  return [...found].filter(([, held]) => held.length);
}

function draw(focus) {
  const had = focus || document.activeElement?.dataset?.id;
  const drawn = piles().map(([group, held], at) => pile(`Group ${at + 1}`, held, group, at));
  if (loose.size) drawn.unshift(pile("Not grouped yet", items.filter((item) => loose.has(item.id)), null, -1));
  drawn.push(make("div", { class: "pile", ondragover: over, ondragleave: leave, ondrop: (event) => drop(event, null) },
    make("h2", {}, "New group"), make("button", { type: "button", onclick: () => put(null) }, "Chosen cards here ", make("kbd", {}, "N"))));
  byId("board").replaceChildren(...drawn);
  for (const button of document.querySelectorAll("#board .item")) button.setAttribute("aria-pressed", String(chosen.has(button.dataset.id)));
  byId("next").disabled = !more && skip === 0;
  if (had) byId("board").querySelector(`[data-id="${CSS.escape(had)}"]`)?.focus();
}

function pile(title, held, group, at) {
  const cards = held.map((item) => make("li", {}, card(item, { draggable: true, more: {
    onclick: () => toggle(item.id), ondragstart: (event) => drag(event, item.id) } })));
  const here = group === null ? null : make("button", { type: "button", class: "here", onclick: () => put(group),
    "aria-label": `here${at < 9 ? ` ${at + 1}` : ""}: chosen cards to ${title.toLowerCase()}` }, "here ", at < 9 ? make("kbd", {}, String(at + 1)) : "");
  return make("div", { class: "pile", role: "group", "aria-label": title, ondragover: over, ondragleave: leave,
    ondrop: (event) => (group === null ? event.preventDefault() : drop(event, group)) },
  make("h2", {}, title, make("span", { class: "soft" }, `${held.length}`), here), make("ul", {}, ...cards));
}

function toggle(id) {
  if (!chosen.delete(id)) chosen.add(id);
  draw(id);
}

function drag(event, id) {
  if (!chosen.has(id)) { chosen.clear(); chosen.add(id); }
  event.dataTransfer.setData("text/plain", id);
  event.dataTransfer.effectAllowed = "move";
}
function over(event) { event.preventDefault(); event.currentTarget.classList.add("over"); }
function leave(event) { event.currentTarget.classList.remove("over"); }
function drop(event, group) { event.preventDefault(); leave(event); put(group); }

let busy = Promise.resolve();
/** Chosen cards into a group, or a new one; one decision after another. */
function put(group) {
  const moved = [...chosen].filter((id) => loose.has(id) || group === null || items.find((item) => item.id === id)?.group !== group);
  if (!moved.length) { tell("Choose cards first: click them, or go to them with the arrows and press space."); return; }
  chosen.clear();
  busy = busy.then(async () => {
    const found = await decide("move", { items: moved, into: group });
    for (const item of items) if (moved.includes(item.id)) { item.group = found.into || group; loose.delete(item.id); }
    draw(moved[0]);
    all.reload();
  }).catch(() => refresh());
}

async function confirmAll() {
  for (const [group] of piles()) await decide("confirm", { group });
  tell("Kept: these groups are right as shown.");
  if (more) { skip += 1; await load(); }
}

async function unsure() {
  const [a, b, ...rest] = chosen;
  if (!b || rest.length) { tell("Choose two cards of which you are unsure whether they belong together."); return; }
  await decide("unsure", { items: [a, b] });
  chosen.clear();
  draw();
  tell("Kept: nobody knows whether these two belong together.");
}

async function note() {
  const text = window.prompt("A note to remember with the decisions:");
  if (text) { await decide("note", { note: text, items: [] }); tell("Kept."); }
}

function compare() {
  const held = items.filter((item) => chosen.has(item.id)).slice(0, 6);
  if (held.length < 2) { tell("Choose two cards or more."); return; }
  byId("sides").hidden = false;
  sideBySide(byId("table"), held);
  byId("sides").scrollIntoView({ block: "nearest" });
}

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
for (const [name, by] of [["ArrowDown", 1], ["ArrowRight", 1], ["ArrowUp", -1], ["ArrowLeft", -1]]) {
  onKey(name, (event) => (event.target.closest(".list, .scroll") ? false : stepCards(byId("board"), by)));
}
for (let n = 1; n <= 9; n += 1) onKey(String(n), () => { const held = piles()[n - 1]; if (held) put(held[0]); });
onKey("n", () => put(null));
onKey("u", () => { unsure().catch(() => {}); });
onKey("c", () => { confirmAll().catch(() => {}); });
onKey("s", compare);
onKey("m", () => { note().catch(() => {}); });
onKey("j", () => { another().catch(() => {}); });
onKey("/", () => byId("search").focus());
onUndo(refresh);
load().catch(() => {});

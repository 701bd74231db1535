// What all pages share: asking the server, telling people, undo and redo, keys.

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children; texts are always text, never markup. */
export function make(tag, attributes = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") found.className = value;
    else if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (value === true) found.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) found.setAttribute(name, value);
  }
  found.append(...children.filter((child) => child !== null && child !== undefined));
  return found;
}

let hiding = 0;
export function tell(text) {
  const box = byId("message");
  box.textContent = text;
  box.hidden = !text;
  clearTimeout(hiding);
  hiding = setTimeout(() => { box.hidden = true; }, 8000);
}

async function answer(response) {
  const held = await response.json().catch(() => ({ error: `the server said ${response.status}` }));
  if (!response.ok) {
    tell(held.error || "refused");
    throw new Error(held.error);
  }
  return held;
}

export async function ask(path, query = {}) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) words.append(name, one);
  return answer(await fetch(`${path}?${words}`, { headers: { accept: "application/json" } }));
}

export async function send(path, what = {}) {
  const body = JSON.stringify(what);
  return answer(await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body }));
}

const key = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");

/** A decision is sent once more where no answer came; its key keeps it from being made twice. */
export async function decide(kind, what = {}) {
  const sent = { kind, key: key(), ...what };
  let found;
  try {
    found = await send("/api/decide", sent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    await new Promise((done) => setTimeout(done, 700));
    found = await send("/api/decide", sent);
  }
  show(found);
  look();
  return found;
}

let looking = 0;
/** Whether decisions contradict each other: said soon after, and until it is mended. */
function look() {
  clearTimeout(looking);
  looking = setTimeout(async () => {
    const { problem } = await ask("/api/problem").catch(() => ({}));
    byId("problem").textContent = problem ? `Not both can be right: ${problem}. Undo takes the last back.` : "";
  }, 300);
}

const heard = [];
/** Called with how things stand, whenever that is heard of. */
export function onStatus(what) { heard.push(what); }

let last = {};
export function show(status) {
  if (!("at" in status) && !("project" in status)) return;
  last = { ...last, ...status };
  byId("undo").disabled = !last.undo;
  byId("redo").disabled = !last.redo;
  const count = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
  const since = last.model ? `, ${last.since} since model ${last.model}` : "";
  byId("state").textContent = last.project
    ? `${count(last.items, "item")} in ${count(last.groups, "group")}; ${count(last.decisions, "decision")}${since}`
    : "No project is open.";
  for (const what of heard) what(last);
}

export const status = async () => { const found = await ask("/api/status"); show(found); return found; };

const undone = [];
/** Called after an undo or redo, with which: what is shown may not be so any more. */
export function onUndo(what) { undone.push(what); }

let own = () => false;
/** Asked before an undo or redo, with which: a page that has steps of its own to take back does so, and says yes. */
export function onOwnUndo(what) { own = what; }

async function takeBack(which) {
  if (own(which) || byId(which).disabled) return;
  show(await send(`/api/${which}`, { key: key() }));
  look();
  for (const what of undone) await what(which);
}

const keys = new Map();
export function onKey(name, what) { keys.set(name, what); }

const isTyping = (target) => target.matches("input:not([type=checkbox]), select, textarea");

document.addEventListener("keydown", (event) => {
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if ((event.ctrlKey || event.metaKey) && !event.altKey) {
    if (isTyping(event.target)) return;
    if (name === "z" || name === "y") {
      event.preventDefault();
      takeBack(name === "y" || event.shiftKey ? "redo" : "undo").catch(() => {});
    }
    return;
  }
  if (event.altKey || byId("help").open) return;
  if (name === "Escape" && !event.target.matches("select") && !event.target.value) { toSteps(); return; }
  if (isTyping(event.target)) return;
  const what = name === "?" ? openKeys : keys.get(name);
  if (what && what(event) !== false) event.preventDefault();
});

/** From deep in a page to where other pages are a Tab away. */
function toSteps() { document.querySelector(".steps [aria-current]").focus(); }

function openKeys() { byId("help").showModal(); }
byId("undo").addEventListener("click", () => takeBack("undo").catch(() => {}));
byId("redo").addEventListener("click", () => takeBack("redo").catch(() => {}));
byId("keys").addEventListener("click", openKeys);

// Another tab may have decided something.
document.addEventListener("visibilitychange", () => { if (!document.hidden) status().catch(() => {}); });
status().catch(() => {});
// Until now nothing would have heard a click.
byId("main").inert = false;

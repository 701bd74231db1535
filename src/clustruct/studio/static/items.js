// Items as cards and as columns side by side, with what differs marked.
import { make } from "./common.js";

const words = (text) => String(text ?? "").toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** The text with the words that another text has not, marked. */
export function marked(text, other) {
  const known = new Set(words(other));
  const parts = String(text ?? "").split(/([\p{L}\p{N}]+)/u);
  const out = make("span");
  for (const part of parts) {
    const strange = words(part).length && !known.has(part.toLowerCase());
    out.append(strange && other !== undefined ? make("mark", {}, part) : part);
  }
  return out;
}

export function card(item, options = {}) {
  const fields = Object.entries(item.fields);
  const [first, ...rest] = fields.length ? fields : [["", item.id]];
  const values = rest.slice(0, 4).map(([name, value]) => make("span", { class: "value" }, make("span", {}, `${name}: `), value));
  return make("button", { type: "button", class: `item ${options.class || ""}`, "data-id": item.id, "aria-pressed": "false",
    draggable: options.draggable ? "true" : false, ...options.more }, make("b", {}, first[1]), ...values);
}

/** A card that is clicked is chosen, or no more. */
export function press(event) {
  const button = event.currentTarget;
  button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
}

/** From the card that has the focus to another one; from elsewhere to the first. */
export function stepCards(home, by) {
  const cards = [...home.querySelectorAll(".item")];
  const at = cards.indexOf(document.activeElement);
  cards[Math.max(0, Math.min(cards.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

/** A table with one column for each item and one row for each field. */
export function sideBySide(table, items) {
  const fields = [...new Set(items.flatMap((item) => Object.keys(item.fields)))];
  const head = make("tr", {}, make("th", { scope: "col" }, "field"), ...items.map((item) => make("th", { scope: "col" }, item.id)));
  const rows = fields.map((field) => {
    const values = items.map((item) => item.fields[field]);
    const cells = values.map((value, at) => {
      const other = items.length > 1 ? values.filter((_, b) => b !== at).join(" ") : undefined;
      return make("td", {}, value === undefined ? make("span", { class: "soft" }, "missing") : marked(value, other));
    });
    return make("tr", {}, make("th", { scope: "row" }, field), ...cells);
  });
  table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
}

/** What each field says for and against two items, as bars. */
export function reasons(found) {
  const shown = found.fields.filter((one) => Math.abs(one.contribution) >= 0.005).slice(0, 12);
  const most = Math.max(...shown.map((one) => Math.abs(one.contribution)), 1e-9);
  const rows = shown.map((one) => make("tr", {}, make("th", { scope: "row" }, one.field),
    make("td", { class: "number" }, `${one.contribution > 0 ? "+" : "−"}${Math.abs(one.contribution).toFixed(2)}`),
    make("td", {}, bar(one.contribution / most))));
  const chance = `${Math.round(100 * found.p)} % likely together by the model, which ${found.together ? "has put them together" : "keeps them apart"}.`;
  return make("div", {}, make("p", {}, chance), make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "field"),
    make("th", { scope: "col", class: "number" }, "says"), make("th", { scope: "col" }, "for / against"))), make("tbody", {}, ...rows)),
    ...(found.note ? [make("p", { class: "soft" }, found.note)] : []));
}

const SVG = "http://www.w3.org/2000/svg";
export function drawn(tag, attributes, ...children) {
  const found = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  found.append(...children);
  return found;
}

function bar(share) {
  const width = Math.abs(share) * 60;
  const rect = drawn("rect", { x: share < 0 ? 60 - width : 60, y: 2, width, height: 10, class: share < 0 ? "against" : "for" });
  return drawn("svg", { viewBox: "0 0 120 14", width: 120, height: 14, "aria-hidden": "true" }, rect);
}

/** A curve with its band; points are {x, y, low, high}. */
export function curve(home, points, { label, x, y, from = 0, to = 1 }) {
  if (!points.length) {
    home.replaceChildren(make("p", { class: "soft" }, "Nothing to draw yet."));
    return;
  }
  const [w, h, left, head, foot] = [520, 220, 46, 22, 34];
  const least = Math.min(...points.map((p) => p.x), 0);
  const most = Math.max(...points.map((p) => p.x), least + 1e-9);
  const at = (v) => left + ((v - least) / (most - least || 1)) * (w - left - 10);
  const up = (v) => head + (1 - (v - from) / (to - from)) * (h - foot - head);
  const line = points.map((p) => `${at(p.x)},${up(p.y)}`).join(" ");
  const band = [...points.map((p) => `${at(p.x)},${up(p.high)}`), ...points.slice().reverse().map((p) => `${at(p.x)},${up(p.low)}`)].join(" ");
  const marks = [from, (from + to) / 2, to].map((v) => drawn("text", { x: 4, y: up(v) + 4 }, `${Math.round(100 * v)} %`));
  const feet = [least, most].map((v, i) => drawn("text", { x: i ? w - 10 : left, y: h - 16, "text-anchor": i ? "end" : "start" }, v > 1.5 || v === 0 ? String(Math.round(v)) : `${Math.round(100 * v)} %`));
  home.replaceChildren(drawn("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": label },
    drawn("line", { x1: left, x2: w - 10, y1: up(from), y2: up(from), class: "axis" }),
    drawn("polygon", { points: band, class: "band" }), drawn("polyline", { points: line, class: "line" }),
    ...points.map((p) => drawn("circle", { cx: at(p.x), cy: up(p.y), r: 3, class: "dot" })), ...marks, ...feet,
    drawn("text", { x: w / 2, y: h - 2, "text-anchor": "middle" }, x), drawn("text", { x: left, y: 12 }, y)));
}

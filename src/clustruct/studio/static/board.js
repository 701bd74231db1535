// Cards in columns: some are chosen, then put into a column, a new one, or none.
import { make, onKey, tell } from "./common.js";
import { card, sideBySide, stepCards } from "./items.js";

export const NEW = Symbol("a new column"), NONE = Symbol("no column");
const ARROWS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** Whose board it is says what becomes of cards that are put somewhere.
 *
 * word, heading : what a column is called, and the element of its title
 * of(item) : the column of an item, or NONE
 * put(ids, to) : cards into a column, NEW or NONE; what has changed is then to be drawn
 * none : title of what holds the cards of no column, and the key that puts some there, if any does */
export class Board {
  constructor(home, { word, heading = "h2", of, put, none }) {
    Object.assign(this, { home, word, heading, of, move: put, none, items: [], order: [], chosen: new Set() });
    const elsewhere = (event) => home.hidden || event.target.closest(".list, .scroll");
    for (const [name, by] of Object.entries(ARROWS)) onKey(name, (event) => (elsewhere(event) ? false : stepCards(home, by)));
    for (let n = 1; n <= 9; n += 1) onKey(String(n), () => (home.hidden ? false : this.putAt(n - 1)));
  }

  /** Other cards. */
  show(items) {
    [this.items, this.order] = [items, []];
    this.chosen.clear();
    this.draw();
  }

  /** Columns that have cards, in the order in which they first had some: [column, items]. */
  columns() {
    const found = new Map(this.order.map((column) => [column, []]));
    for (const item of this.items) {
      const column = this.of(item);
      if (!found.has(column)) found.set(column, []);
      found.get(column).push(item);
    }
    found.delete(NONE);
    this.order = [...found.keys()];
    return [...found].filter(([, held]) => held.length);
  }

  held(column) { return this.items.filter((item) => this.of(item) === column); }

  /** Draw all; the focus stays on its card, or goes to the one that is named. */
  draw(focus) {
    const had = focus ?? (this.home.contains(document.activeElement) ? document.activeElement.dataset.id : undefined);
    const drawn = this.columns().map(([column, held], at) => this.column(`${this.word} ${at + 1}`, held, column, at < 9 ? String(at + 1) : ""));
    drawn.push(this.column(`New ${this.word.toLowerCase()}`, [], NEW, "N"));
    const loose = this.held(NONE), { title, key } = this.none;
    if (key) drawn.push(this.column(title, loose, NONE, key));
    else if (loose.length) drawn.unshift(this.column(title, loose));
    this.home.replaceChildren(...drawn);
    if (had !== undefined) this.home.querySelector(`[data-id="${CSS.escape(had)}"]`)?.focus();
  }

  /** One column; without a place to put cards to, none can be put there. */
  column(title, held, to, key) {
    const takes = to !== undefined, count = held.length ? make("span", { class: "soft" }, `${held.length}`) : null;
    const drawn = make("div", { class: "pile", role: "group", "aria-label": title, ...(takes ? this.target(to) : {}) },
      make(this.heading, {}, make("span", {}, title), count, takes ? this.here(title, to, key) : null));
    if (held.length) drawn.append(make("ul", {}, ...held.map((item) => make("li", {}, this.card(item)))));
    return drawn;
  }

  here(title, to, key) {
    const label = `${key ? `here ${key}` : "here"}: chosen cards to ${title.toLowerCase()}`;
    return make("button", { type: "button", class: "here", onclick: () => this.put(to), "aria-label": label }, "here ", key ? make("kbd", {}, key) : "");
  }

  /** What makes an element take cards that are dragged there. */
  target(to) {
    const over = (is) => (event) => { event.preventDefault(); event.currentTarget.classList.toggle("over", is); };
    return { ondragover: over(true), ondragleave: over(false), ondrop: (event) => { over(false)(event); this.put(to); } };
  }

  card(item) {
    return card(item, { draggable: true, more: { "aria-pressed": String(this.chosen.has(item.id)),
      onclick: () => this.toggle(item.id), ondragstart: (event) => this.drag(event, item.id) } });
  }

  toggle(id) {
    if (!this.chosen.delete(id)) this.chosen.add(id);
    this.draw(id);
  }

  drag(event, id) {
    if (!this.chosen.has(id)) { this.chosen.clear(); this.chosen.add(id); }
    event.dataTransfer.setData("text/plain", id);
    event.dataTransfer.effectAllowed = "move";
  }

  putAt(place) {
    const found = this.columns()[place];
    if (found) this.put(found[0]);
  }

  /** Chosen cards side by side, at most six, in a table of its own home. */
  compare(home, table) {
    const held = this.items.filter((item) => this.chosen.has(item.id)).slice(0, 6);
    if (held.length < 2) { tell("Choose two cards or more."); return; }
    home.hidden = false;
    sideBySide(table, held);
    home.scrollIntoView({ block: "nearest" });
  }

  /** Chosen cards into a column, as far as they are not there. */
  put(to) {
    if (!this.chosen.size) { tell("Choose cards first: click them, or go to them with the arrows and press space."); return; }
    const there = new Set(this.held(to).map((item) => item.id)), moved = [...this.chosen].filter((id) => !there.has(id));
    this.chosen.clear();
    if (moved.length) this.move(moved, to);
    else this.draw();
  }
}

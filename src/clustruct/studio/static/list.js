// A list of any length: only the lines that are seen are drawn, and asked for.
import { ask, make } from "./common.js";

const HEIGHT = 38.4, AROUND = 10, PAGE = 100;

export class List {
  constructor(home, line) {
    this.home = home;
    this.line = line;
    this.search = "";
    this.space = make("div", { class: "space" });
    home.append(this.space);
    home.addEventListener("scroll", () => this.draw());
    this.reload();
  }

  async reload(search = this.search) {
    this.search = search;
    this.pages = new Map();
    const first = await this.page(0);
    this.total = first.total;
    this.space.style.height = `${Math.max(this.total, 1) * HEIGHT}px`;
    await this.draw();
  }

  page(number) {
    if (!this.pages.has(number)) {
      this.pages.set(number, ask("/api/items", { offset: number * PAGE, limit: PAGE, search: this.search }));
    }
    return this.pages.get(number);
  }

  async draw() {
    const from = Math.max(0, Math.floor(this.home.scrollTop / HEIGHT) - AROUND);
    const to = Math.min(this.total, Math.ceil((this.home.scrollTop + this.home.clientHeight) / HEIGHT) + AROUND);
    const wanted = `${this.search} ${from} ${to}`;
    this.wanted = wanted;
    const lines = [];
    for (let at = from; at < to; at += 1) {
      const { items } = await this.page(Math.floor(at / PAGE));
      const item = items[at % PAGE];
      if (!item) continue;
      const drawn = this.line(item);
      drawn.style.top = `${at * HEIGHT}px`;
      lines.push(drawn);
    }
    if (this.wanted === wanted) this.space.replaceChildren(...(lines.length ? lines : [make("p", { class: "line soft" }, "Nothing found.")]));
  }
}

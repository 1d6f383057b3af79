// The list of events. A choice moves the cursor; the list follows the cursor.

import { lower } from "./data.js";
import { button, h } from "./dom.js";
import { clock } from "./format.js";

const PAGE = 40;

export class EventList {
  constructor(state, told, data) {
    Object.assign(this, { state, told, ...data });
    this.words = "";
    this.page = 0;
    this.kindsShown = h(
      "div",
      { className: "kinds", role: "group", "aria-label": "Kinds of events" },
      ...told.kinds.map(({ name, count }, kind) =>
        h(
          "label",
          { className: "chip" },
          h("input", {
            type: "checkbox",
            checked: !state.kinds.has(name),
            onchange: (event) => {
              const kinds = new Set(state.kinds);
              if (event.target.checked) kinds.delete(name);
              else kinds.add(name);
              state.set({ kinds });
            },
          }),
          h("i", { className: `mark k${kind % 6}` }),
          `${name} `,
          h("small", {}, count.toLocaleString("en")),
        ),
      ),
    );
    this.list = h("ol", {});
    this.where = h("span", { className: "place" });
    this.before = button("‹ Earlier", "Earlier events", () => this.turn(-1));
    this.after = button("Later ›", "Later events", () => this.turn(1));
    this.element = h(
      "section",
      { className: "card events", "aria-label": "Events" },
      h("header", {}, h("h2", {}, "Events")),
      this.kindsShown,
      h("input", {
        type: "search",
        placeholder: "Find in events",
        "aria-label": "Find in events",
        oninput: (event) => {
          this.words = event.target.value.toLowerCase();
          this.choose();
        },
      }),
      this.list,
      h("div", { className: "row pages" }, this.before, this.where, this.after),
    );
    state.on(["kinds"], () => this.choose());
    state.on(["t"], () => this.follow());
    this.choose();
  }

  /** Takes those of the kinds and words that are asked for. */
  choose() {
    const quiet = this.told.kinds.map(({ name }) => this.state.kinds.has(name));
    for (const [place, box] of this.kindsShown.querySelectorAll("input").entries()) box.checked = !quiet[place];
    this.chosen = [];
    for (let place = 0; place < this.at.length; place += 1) {
      if (quiet[this.kind[place]] || (this.words && !this.sentences[place].toLowerCase().includes(this.words)))
        continue;
      this.chosen.push(place);
    }
    this.times = Float64Array.from(this.chosen, (place) => this.at[place]);
    this.show(this.pageOfCursor());
  }

  /** Place among those chosen of the last one that is over at the cursor. */
  current() {
    return lower(this.times, this.state.t + 1e-9) - 1;
  }

  pageOfCursor() {
    return Math.max(Math.floor(this.current() / PAGE), 0);
  }

  follow() {
    const page = this.pageOfCursor();
    if (page !== this.page) this.show(page);
    else this.mark();
  }

  turn(by) {
    const pages = Math.max(Math.ceil(this.chosen.length / PAGE), 1);
    this.show(Math.min(Math.max(this.page + by, 0), pages - 1));
    this.list.scrollTop = 0;
  }

  show(page) {
    this.page = page;
    const begin = page * PAGE;
    this.list.replaceChildren(
      ...this.chosen.slice(begin, begin + PAGE).map((place) => {
        const kind = this.kind[place];
        return h(
          "li",
          {},
          h(
            "button",
            { type: "button", onclick: () => this.state.go(this.at[place]) },
            h("time", {}, clock(this.at[place], 0.001)),
            h(
              "span",
              {},
              h("i", { className: `mark k${kind % 6}` }),
              h("b", {}, this.told.kinds[kind].name),
              " ",
              this.sentences[place],
            ),
          ),
        );
      }),
    );
    const end = Math.min(begin + PAGE, this.chosen.length);
    const [first, last, all] = [begin + 1, end, this.chosen.length].map((count) => count.toLocaleString("en"));
    this.where.textContent = this.chosen.length ? `${first} to ${last} of ${all}` : "none";
    this.before.disabled = page === 0;
    this.after.disabled = end >= this.chosen.length;
    this.mark();
  }

  mark() {
    const now = this.current() - this.page * PAGE;
    [...this.list.children].forEach((item, place) => {
      const button_ = item.firstChild;
      if (place === now) {
        button_.setAttribute("aria-current", "true");
        const { offsetTop, offsetHeight } = item;
        const box = this.list;
        if (offsetTop < box.scrollTop || offsetTop + offsetHeight > box.scrollTop + box.clientHeight)
          box.scrollTop = offsetTop - box.clientHeight / 3;
      } else button_.removeAttribute("aria-current");
    });
  }

  step(by) {
    let to = this.current();
    if (by > 0) to += 1;
    else while (to >= 0 && this.times[to] >= this.state.t - 1e-9) to -= 1;
    if (to >= 0 && to < this.times.length) this.state.go(this.times[to]);
  }
}

// A chart: lines or points of one column of a table, on the common cursor and in the common window of time.

import uPlot from "uplot";
import { dark, line, paint } from "./colours.js";
import { lower } from "./data.js";
import { button, h } from "./dom.js";
import { clock, named, number, scaled } from "./format.js";
import { Points, bars } from "./marks.js";
import { csv, png } from "./save.js";
import { drawn, range } from "./thin.js";

const TALL = 176;
const GUTTER = 64;
const MARGIN = 26;
const SHOWN = 6;
const STEPS = [
  1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10,
  15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 8640000,
  86400000,
];
const before = uPlot.paths.stepped({ align: -1 });
const after = uPlot.paths.stepped({ align: 1 });
const straight = uPlot.paths.linear();

export class Chart {
  constructor(state, blocks, table, chosen, remove) {
    Object.assign(this, { state, blocks, table, chosen });
    this.place = table.columns.indexOf(chosen.column);
    this.words = named(chosen.column);
    this.title = table.title ?? table.name.replaceAll("_", " ");
    this.lines = [];
    this.draws = 0;
    this.stale = true;
    this.isInterval = table.at === "end_s";
    this.shown = new Set(chosen.lines ?? table.lines.slice(0, SHOWN).map((_, place) => place));
    this.unit = h("span", { className: "unit" });
    this.plot = h("div", {
      className: "plot",
      tabIndex: 0,
      role: "group",
      "aria-label": `Chart of ${this.words.words}, ${this.title}. Arrow keys move the cursor, plus and minus zoom.`,
      onkeydown: (event) => this.key(event),
    });
    this.legend = h("ul", { className: "legend" });
    this.element = h(
      "article",
      { className: "card chart" },
      h(
        "header",
        {},
        h("h3", {}, this.words.words, " ", this.unit),
        h("span", { className: "of" }, this.title),
        h(
          "span",
          { className: "tools" },
          button("PNG", `Save chart of ${this.words.words} as PNG`, () => this.png()),
          button("CSV", `Save chart of ${this.words.words} as CSV`, () => this.csv()),
          button("×", `Remove chart of ${this.words.words}, ${this.title}`, remove),
        ),
      ),
      this.plot,
      this.legend,
      this.chooser(),
    );
    this.quiet = [state.on(["from", "to"], () => this.draw()), state.on(["t"], () => this.point())];
    this.theme = () => this.rebuild();
    dark.addEventListener("change", this.theme);
    this.sight = new IntersectionObserver(
      ([entry]) => {
        this.isSeen = entry.isIntersecting;
        if (this.isSeen) this.draw();
      },
      { rootMargin: "120px" },
    );
    this.sight.observe(this.element);
    this.size = new ResizeObserver(() => {
      this.wide = this.plot.clientWidth;
      if (this.uplot && this.wide && this.wide !== this.uplot.width) {
        this.uplot.setSize({ width: this.wide, height: TALL });
        this.draw();
      }
    });
    this.size.observe(this.plot);
  }

  end() {
    this.quiet.forEach((stop) => stop());
    dark.removeEventListener("change", this.theme);
    this.sight.disconnect();
    this.size.disconnect();
    this.uplot?.destroy();
    this.uplot = null;
  }

  chooser() {
    const { lines } = this.table;
    if (lines.length < 2) return null;
    const count = h("summary", {});
    const list = h("div", { className: "choices" });
    const tell = () => {
      count.textContent = `Lines: ${this.shown.size} of ${lines.length}`;
    };
    const fill = (wanted) => {
      const found = lines
        .map((one, place) => ({ ...one, place }))
        .filter(({ label }) => label.toLowerCase().includes(wanted));
      list.replaceChildren(
        ...found.slice(0, 100).map(({ label, place }) =>
          h(
            "label",
            {},
            h("input", {
              type: "checkbox",
              checked: this.shown.has(place),
              onchange: (event) => {
                if (event.target.checked) this.shown.add(place);
                else this.shown.delete(place);
                this.chosen.lines = [...this.shown].sort((a, b) => a - b);
                this.state.set({ charts: this.state.charts });
                tell();
                this.load();
              },
            }),
            label,
          ),
        ),
      );
      if (found.length > 100) list.append(h("p", {}, `${found.length - 100} more: type a part of the name.`));
    };
    tell();
    const search = h("input", {
      type: "search",
      placeholder: "Part of a name",
      "aria-label": "Find a line by a part of its name",
      oninput: (event) => fill(event.target.value.toLowerCase()),
    });
    const details = h(
      "details",
      { ontoggle: () => details.open && fill(search.value.toLowerCase()) },
      count,
      lines.length > 12 ? search : null,
      list,
    );
    return details;
  }

  async load() {
    const [at, values] = await Promise.all([
      this.blocks.column(this.table.name, "at"),
      this.blocks.column(this.table.name, `c${this.place}`),
    ]);
    this.lines = [...this.shown]
      .filter((place) => place < this.table.lines.length)
      .sort((a, b) => a - b)
      .map((place) => {
        const one = this.table.lines[place];
        return {
          place,
          label: one.label,
          at: at.subarray(one.from, one.to),
          values: values.subarray(one.from, one.to),
        };
      });
    this.rebuild();
  }

  rebuild() {
    if (!this.isLoaded && !this.lines.length) return;
    this.uplot?.destroy();
    this.uplot = null;
    this.legend.replaceChildren(
      ...this.lines.map((one) => {
        one.told = h("output", {});
        const swatch = h("span", { className: this.table.points ? "swatch dot" : "swatch" });
        swatch.style.setProperty("--colour", line(one.place).colour);
        if (line(one.place).dash.length) swatch.classList.add("dashed");
        return h("li", {}, swatch, h("span", {}, one.label), one.told);
      }),
    );
    this.stale = true;
    this.draw();
  }

  draw() {
    if (!this.isSeen) {
      this.stale = true;
      return;
    }
    if (!this.isLoaded) {
      this.isLoaded = true;
      this.load();
      return;
    }
    // It is measured when it changes: asked for at each drawing, the page would be laid out for each chart.
    const wide = (this.wide ||= this.plot.clientWidth);
    if (!wide || !this.lines) return;
    const { from, to } = this.state;
    const pixels = Math.max(Math.floor(wide - GUTTER), 50);
    const { dense, data } = this.table.points
      ? { dense: [], data: [[from, to], ...this.lines.map(() => [null, null])] }
      : drawn(this.lines, from, to, pixels, this.table.held);
    this.dense = dense;
    this.bounds = range(this.lines, from, to, this.table.points ? 0 : 1);
    this.told = scaled(this.words.unit, Math.max(Math.abs(this.bounds[0]), Math.abs(this.bounds[1])));
    this.unit.textContent = this.told.unit;
    if (!this.uplot) {
      const u = new uPlot(this.options(wide), data, this.plot);
      this.uplot = u;
      this.needle = h("div", { className: "needle" });
      u.over.append(this.needle);
      u.over.addEventListener("click", (event) => {
        this.state.go(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"));
      });
    } else {
      this.uplot.setData(data, false);
      this.uplot.setScale("x", { min: from, max: to });
    }
    this.stale = false;
    this.point();
  }

  options(width) {
    const ink = paint("muted"),
      grid = paint("grid");
    const axis = {
      stroke: ink,
      font: "12px system-ui, sans-serif",
      grid: { stroke: grid, width: 1 },
      ticks: { show: false },
    };
    return {
      width,
      height: TALL,
      padding: [10, MARGIN, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => this.state.look(...this.state.span) },
      },
      scales: { x: { time: false, range: () => [this.state.from, this.state.to] }, y: { range: () => this.bounds } },
      axes: [
        {
          ...axis,
          size: 26,
          gap: 4,
          space: 70,
          incrs: STEPS,
          values: (_, ticks, __, ___, step) => ticks.map((tick) => clock(tick, step)),
        },
        {
          ...axis,
          size: GUTTER,
          gap: 6,
          space: 32,
          values: (_, ticks) => ticks.map((tick) => number(tick / this.told.factor, 6)),
        },
      ],
      series: [
        {},
        ...this.lines.map(({ place }) => {
          const { colour, dash } = line(place);
          return {
            stroke: colour,
            dash,
            width: 1.6,
            points: { show: false },
            paths: (...of) => this.joins()(...of),
          };
        }),
      ],
      hooks: {
        draw: [(u) => this.mark(u)],
        setSelect: [
          (u) => {
            if (u.select.width < 4) return;
            const from = u.posToVal(u.select.left, "x"),
              to = u.posToVal(u.select.left + u.select.width, "x");
            u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            this.state.look(from, to);
          },
        ],
      },
    };
  }

  /** Tells how values are joined: held over their interval or until the next one, straight, or not at all. */
  joins() {
    if (this.table.points) return () => null;
    if (this.table.held) return after;
    return this.isInterval ? before : straight;
  }

  /** Draws what is no line of uPlot's: points, and lines with many rows a pixel. Tells how many marks that took. */
  mark(u) {
    const pen = u.ctx;
    const [left, top, width, height] = ["left", "top", "width", "height"].map((side) => Math.round(u.bbox[side]));
    const ratio = devicePixelRatio || 1;
    const window_ = { from: this.state.from, to: this.state.to, bounds: this.bounds };
    let marks = 0;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    if (this.table.points) {
      const points = (this.points ??= new Points());
      points.begin(width, height);
      for (const one of this.lines) {
        const dot = Math.round((this.table.lines[one.place].large ? 5 : 2.5) * ratio);
        marks += points.put(one, { ...window_, dot, colour: line(one.place).colour });
      }
      points.draw(pen, left, top);
    }
    for (const [place, part] of this.dense.entries()) {
      if (!part) continue;
      const look = { ...line(this.lines[place].place), thick: 1.6 * ratio, isHeld: this.table.held };
      marks += bars(pen, part, { ...window_, ...look, box: { left, top, width, height } });
    }
    pen.restore();
    if (!performance.getEntriesByName("first chart").length) performance.mark("first chart");
    this.draws += 1;
    Object.assign(this.plot.dataset, { draws: this.draws, marks });
  }

  /** Moves the needle to the cursor, and tells the values there. */
  point() {
    if (!this.uplot || !this.isSeen) return;
    const { t, from, to } = this.state;
    this.needle.hidden = t < from || t > to;
    this.needle.style.transform = `translateX(${((t - from) / (to - from)) * (this.uplot.width - GUTTER - MARGIN)}px)`;
    for (const one of this.lines) {
      const after = lower(one.at, t);
      const row = one.at[after] === t || (this.isInterval && after < one.at.length) ? after : after - 1;
      one.told.textContent = row < 0 ? "–" : number(one.values[row] / this.told.factor);
    }
  }

  key(event) {
    const { state } = this;
    const step = (state.to - state.from) / 100;
    const act = {
      ArrowLeft: () => (event.shiftKey ? state.panBy(-0.25) : state.go(state.t - step)),
      ArrowRight: () => (event.shiftKey ? state.panBy(0.25) : state.go(state.t + step)),
      Home: () => state.go(state.from),
      End: () => state.go(state.to),
      "+": () => state.zoomBy(0.5),
      "=": () => state.zoomBy(0.5),
      "-": () => state.zoomBy(2),
      0: () => state.look(...state.span),
    }[event.key];
    if (!act || event.target !== this.plot || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  fileName(ending) {
    return `${this.state.told.title}-${this.table.name}-${this.chosen.column}.${ending}`;
  }

  png() {
    if (!this.uplot) return;
    const labels = this.lines.map(({ label, place }) => ({ text: label, place }));
    const unit = this.told.unit ? ` (${this.told.unit})` : "";
    png(this.uplot.ctx.canvas, `${this.words.words}${unit}, ${this.title}`, labels, this.fileName("png"));
  }

  csv() {
    const rows = [];
    for (const { label, at, values } of this.lines) {
      const last = lower(at, this.state.to);
      for (let row = lower(at, this.state.from); row <= last && row < at.length; row += 1)
        rows.push([label, at[row], values[row]]);
    }
    csv(["line", this.table.at, this.chosen.column], rows, this.fileName("csv"));
  }
}

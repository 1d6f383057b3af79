// What is shown: one cursor, one window of time, a view of the Earth, charts. The address keeps it.

import { settled } from "./dom.js";

const finite = (value, otherwise) =>
  value != null && value !== "" && Number.isFinite(Number(value)) ? Number(value) : otherwise;

export class State {
  constructor(told) {
    this.told = told;
    this.span = told.span;
    this.heard = new Set();
    this.changed = new Set();
    this.frame = 0;
    this.keep = settled(() => this.write(), 200);
    this.written = null;
    this.read();
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.written) return;
      this.read();
      this.tell(new Set(["all"]));
    });
  }

  /** Takes what the address says; what it does not say is as it was in the beginning. */
  read() {
    const said = new URLSearchParams(location.hash.slice(1));
    const [from, to] = this.span;
    const within = (value) => Math.min(Math.max(value, from), to);
    this.t = within(finite(said.get("t"), from));
    this.from = within(finite(said.get("from"), from));
    this.to = within(finite(said.get("to"), to));
    if (!(this.to > this.from)) [this.from, this.to] = [from, to];
    this.flat = said.get("view") === "map";
    const turned = (said.get("turn") ?? "").split(",");
    this.lon = finite(turned[0], null);
    this.lat = Math.max(-90, Math.min(90, finite(turned[1], 20)));
    this.zoom = Math.max(0.5, Math.min(20, finite(said.get("zoom"), 1)));
    this.hidden = new Set((said.get("without") ?? "").split(",").filter(Boolean));
    this.kinds = new Set((said.get("quiet") ?? "").split(",").filter(Boolean));
    this.node = said.get("node") ?? "";
    this.charts = said.has("charts") ? charts(said.get("charts")) : null;
  }

  write() {
    const [from, to] = this.span;
    const said = new URLSearchParams();
    said.set("t", String(Number(this.t.toFixed(6))));
    if (this.from > from || this.to < to) {
      said.set("from", String(Number(this.from.toFixed(6))));
      said.set("to", String(Number(this.to.toFixed(6))));
    }
    if (this.flat) said.set("view", "map");
    if (this.lon != null) said.set("turn", `${this.lon.toFixed(1)},${this.lat.toFixed(1)}`);
    if (this.zoom !== 1) said.set("zoom", this.zoom.toFixed(2));
    if (this.hidden.size) said.set("without", [...this.hidden].join(","));
    if (this.kinds.size) said.set("quiet", [...this.kinds].join(","));
    if (this.node) said.set("node", this.node);
    if (this.charts) {
      said.set(
        "charts",
        this.charts.map((one) => [one.table, one.column, ...(one.lines ?? ["-"])].join("~")).join("*"),
      );
    }
    this.written = said.toString();
    history.replaceState(null, "", `#${this.written}`);
  }

  set(patch) {
    Object.assign(this, patch);
    for (const key of Object.keys(patch)) this.changed.add(key);
    this.keep();
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      const changed = this.changed;
      this.changed = new Set();
      this.tell(changed);
    });
  }

  tell(changed) {
    for (const hear of this.heard) hear(changed);
  }

  /** Hears of changes of those keys. */
  on(keys, hear) {
    const listen = (changed) => {
      if (changed.has("all") || keys.some((key) => changed.has(key))) hear(changed);
    };
    this.heard.add(listen);
    return () => this.heard.delete(listen);
  }

  go(t) {
    const [from, to] = this.span;
    const at = Math.min(Math.max(t, from), to);
    const width = this.to - this.from;
    if (at < this.from || at > this.to) {
      const begin = Math.min(Math.max(at - width / 2, from), to - width);
      this.set({ t: at, from: begin, to: begin + width });
    } else {
      this.set({ t: at });
    }
  }

  /** Shows another window of time, as far as there is one. */
  look(from, to) {
    const [first, last] = this.span;
    const width = Math.min(Math.max(to - from, 1e-6), last - first);
    const begin = Math.min(Math.max(from, first), last - width);
    this.set({ from: begin, to: begin + width });
  }

  zoomBy(factor, about = this.t) {
    const centre = about >= this.from && about <= this.to ? about : (this.from + this.to) / 2;
    this.look(centre - (centre - this.from) * factor, centre + (this.to - centre) * factor);
  }

  panBy(share) {
    const by = (this.to - this.from) * share;
    this.look(this.from + by, this.to + by);
  }
}

function charts(said) {
  return said
    .split("*")
    .filter(Boolean)
    .map((one) => {
      const [table, column, ...lines] = one.split("~");
      return {
        table,
        column,
        lines: lines[0] === "-" || !lines.length ? null : lines.map(Number).filter(Number.isInteger),
      };
    });
}

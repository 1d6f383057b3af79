// Where nodes are at an instant, which contacts hold, and which way each path takes.

import { lower } from "./data.js";

/** Time for which a handover is shown. */
const RECENT_S = 10;
const RADIANS = Math.PI / 180;

export class Places {
  constructor(told, data) {
    Object.assign(this, { told, ...data });
    this.count = told.nodes.length;
    this.lon = new Float64Array(this.count).fill(NaN);
    this.lat = new Float64Array(this.count).fill(NaN);
    this.alt = new Float64Array(this.count).fill(0);
    told.nodes.forEach((node, place) => {
      if (node.place) [this.lat[place], this.lon[place], this.alt[place]] = node.place;
    });
    this.ways = told.paths.map(() => []);
    if (this.legs) for (let leg = 0; leg < this.legs.path.length; leg += 1) this.ways[this.legs.path[leg]].push(leg);
  }

  at(t) {
    this.told.nodes.forEach((node, place) => {
      if (node.rows) this.between(this.positions, node.rows, t, place);
      else if (node.way) this.between(this.journeys, node.way, t, place);
    });
  }

  /** Goes between two instants along the great circle, near enough for those that lie a minute apart. */
  between(table, [from, to], t, place) {
    const { at, latitude_deg: lats, longitude_deg: lons, altitude_km: alts } = table;
    const after = Math.min(Math.max(lower(at, t, from, to), from), to - 1);
    const before = Math.max(after - 1, from);
    const apart = at[after] - at[before];
    const share = apart > 0 ? Math.min(Math.max((t - at[before]) / apart, 0), 1) : 0;
    const [a, b] = [lats[before] * RADIANS, lats[after] * RADIANS];
    const [c, d] = [lons[before] * RADIANS, lons[after] * RADIANS];
    const x = Math.cos(a) * Math.cos(c) * (1 - share) + Math.cos(b) * Math.cos(d) * share;
    const y = Math.cos(a) * Math.sin(c) * (1 - share) + Math.cos(b) * Math.sin(d) * share;
    const z = Math.sin(a) * (1 - share) + Math.sin(b) * share;
    this.lat[place] = Math.atan2(z, Math.hypot(x, y)) / RADIANS;
    this.lon[place] = Math.atan2(y, x) / RADIANS;
    this.alt[place] = alts[before] * (1 - share) + alts[after] * share;
  }

  /** Calls back with both ends and the kind of each contact that holds. */
  links(t, each) {
    if (!this.contacts) return;
    const { a, b, start, end, kind } = this.contacts;
    for (let row = 0; row < a.length; row += 1) if (start[row] <= t && t < end[row]) each(a[row], b[row], kind[row]);
  }

  /** Handovers of the last seconds before an instant, once each. */
  switched(t) {
    if (!this.switches) return [];
    const { at, site, from, to } = this.switches;
    const found = new Map();
    for (let row = lower(at, t - RECENT_S); row < at.length && at[row] <= t; row += 1) {
      const one = { at: at[row], site: site[row], from: from[row], to: to[row] };
      found.set(`${one.site} ${one.from} ${one.to}`, one);
    }
    return [...found.values()];
  }

  /** Nodes of a path at an instant, and its delay; nothing in a gap. */
  way(path, t) {
    if (!this.legs) return null;
    const leg =
      this.ways[path].find((row) => this.legs.start[row] <= t && t < this.legs.end[row]) ??
      this.ways[path].findLast((row) => this.legs.end[row] === t);
    if (leg == null || this.legs.first[leg] === this.legs.last[leg]) return null;
    const nodes = [this.hops.from[this.legs.first[leg]]];
    for (let hop = this.legs.first[leg]; hop < this.legs.last[leg]; hop += 1) nodes.push(this.hops.to[hop]);
    return { nodes, delay: this.legs.delay[leg] };
  }
}

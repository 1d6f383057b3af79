// The Earth as a globe and as a flat map, drawn on a canvas, with what flies over it.

import { geoEqualEarth, geoGraticule10, geoOrthographic, geoPath } from "d3-geo";
import { feature } from "topojson-client";
import world from "world-atlas/land-110m.json";
import { line, paint } from "./colours.js";

const RADIANS = Math.PI / 180;
const EARTH_KM = 6371;
const TRUE_TO = 0.35;
const land = feature(world, world.objects.land);
const graticule = geoGraticule10();

/** Distance from the centre in radii; beyond 2,200 km heights are drawn lower, so that GEO fits beside LEO. */
export function radius(altitude) {
  const height = Math.max(altitude, 0) / EARTH_KM;
  return height <= TRUE_TO ? 1 + height : 1 + TRUE_TO + 0.13 * Math.log(height / TRUE_TO);
}

export class Globe {
  constructor(canvas, state, places) {
    Object.assign(this, { canvas, state, places });
    this.pen = canvas.getContext("2d");
    const heights = places.told.nodes.map(
      (node, place) => node.place?.[2] ?? (node.rows ? places.positions.altitude_km[node.rows[0]] : places.alt[place]),
    );
    this.farthest = heights.reduce((far, height) => Math.max(far, radius(height ?? 0)), 1.05);
    this.spots = [];
  }

  /** Makes the canvas as large as it is shown. */
  fit() {
    const ratio = devicePixelRatio || 1;
    const wide = this.canvas.clientWidth,
      tall = this.canvas.clientHeight;
    if (this.canvas.width !== Math.round(wide * ratio) || this.canvas.height !== Math.round(tall * ratio)) {
      this.canvas.width = Math.round(wide * ratio);
      this.canvas.height = Math.round(tall * ratio);
    }
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    Object.assign(this, { wide, tall });
  }

  draw() {
    this.fit();
    if (!this.wide) return;
    const { state, pen } = this;
    this.inks = Object.fromEntries(
      ["card", "sea", "land", "grid", "muted", "ink", "sat", "isl", "halo", "k1"].map((name) => [name, paint(name)]),
    );
    this.places.at(state.t);
    pen.fillStyle = this.inks.card;
    pen.fillRect(0, 0, this.wide, this.tall);
    const lon = state.lon ?? 0,
      lat = state.lat;
    if (state.flat) {
      this.projection = geoEqualEarth()
        .rotate([-lon, 0])
        .fitExtent(
          [
            [8, 8],
            [this.wide - 8, this.tall - 8],
          ],
          { type: "Sphere" },
        );
      if (state.zoom !== 1)
        this.projection.scale(this.projection.scale() * state.zoom).translate([this.wide / 2, this.tall / 2]);
    } else {
      this.radius = ((Math.min(this.wide, this.tall) / 2 - 8) / this.farthest) * state.zoom;
      this.projection = geoOrthographic()
        .rotate([-lon, -lat])
        .scale(this.radius)
        .translate([this.wide / 2, this.tall / 2])
        .clipAngle(90);
    }
    this.sin0 = Math.sin(lat * RADIANS);
    this.cos0 = Math.cos(lat * RADIANS);
    this.lon0 = lon * RADIANS;
    this.path = geoPath(this.projection, pen);
    this.earth();
    this.project();
    if (!state.hidden.has("links")) this.links();
    if (!state.hidden.has("paths")) this.ways();
    if (!state.hidden.has("handovers")) this.handovers();
    this.nodes();
  }

  earth() {
    const { pen, path, inks } = this;
    pen.beginPath();
    path({ type: "Sphere" });
    pen.fillStyle = inks.sea;
    pen.fill();
    pen.beginPath();
    path(land);
    pen.fillStyle = inks.land;
    pen.fill();
    pen.beginPath();
    path(graticule);
    pen.strokeStyle = inks.grid;
    pen.lineWidth = 0.6;
    pen.stroke();
  }

  /** Finds out where on the canvas every node is, and which of them are seen. */
  project() {
    const { places } = this;
    this.x ??= new Float64Array(places.count);
    this.y ??= new Float64Array(places.count);
    this.deep ??= new Float64Array(places.count);
    for (let node = 0; node < places.count; node += 1) {
      if (this.state.flat) {
        const spot = Number.isFinite(places.lon[node]) ? this.projection([places.lon[node], places.lat[node]]) : null;
        [this.x[node], this.y[node]] = spot ?? [NaN, NaN];
        this.deep[node] = 1;
      } else {
        const phi = places.lat[node] * RADIANS,
          by = places.lon[node] * RADIANS - this.lon0;
        const far = radius(places.alt[node]) * this.radius;
        const across = Math.cos(phi) * Math.sin(by),
          near = Math.cos(phi) * Math.cos(by),
          up = Math.sin(phi);
        this.x[node] = this.wide / 2 + far * across;
        this.y[node] = this.tall / 2 - far * (up * this.cos0 - near * this.sin0);
        this.deep[node] = far * (near * this.cos0 + up * this.sin0);
      }
    }
  }

  /** Tells if the Earth hides a point of the globe. */
  hides(x, y, deep) {
    return deep < 0 && Math.hypot(x - this.wide / 2, y - this.tall / 2) < this.radius;
  }

  isSeen(node) {
    return this.state.flat ? Number.isFinite(this.x[node]) : !this.hides(this.x[node], this.y[node], this.deep[node]);
  }

  /** Adds the way between two nodes to the pen's path: straight on the globe, the great circle on the map. */
  join(a, b, collected) {
    if (this.state.flat) {
      const { lon, lat } = this.places;
      if (Number.isFinite(lon[a]) && Number.isFinite(lon[b]))
        collected.push([
          [lon[a], lat[a]],
          [lon[b], lat[b]],
        ]);
      return;
    }
    const { pen, x, y, deep } = this;
    if (this.isSeen(a) && this.isSeen(b) && (deep[a] >= 0 || deep[b] >= 0)) {
      pen.moveTo(x[a], y[a]);
      pen.lineTo(x[b], y[b]);
      return;
    }
    const pieces = 8;
    let was = false;
    for (let piece = 0; piece <= pieces; piece += 1) {
      const share = piece / pieces;
      const px = x[a] + (x[b] - x[a]) * share,
        py = y[a] + (y[b] - y[a]) * share;
      const seen = !this.hides(px, py, deep[a] + (deep[b] - deep[a]) * share);
      if (seen && was) pen.lineTo(px, py);
      else if (seen) pen.moveTo(px, py);
      was = seen;
    }
  }

  stroke(pairs, colour, width, dash = []) {
    const { pen } = this;
    const collected = [];
    pen.beginPath();
    for (const [a, b] of pairs) this.join(a, b, collected);
    if (collected.length) this.path({ type: "MultiLineString", coordinates: collected });
    pen.setLineDash(dash);
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.lineJoin = pen.lineCap = "round";
    pen.stroke();
    pen.setLineDash([]);
  }

  links() {
    const between = [],
      ground = [];
    this.places.links(this.state.t, (a, b, kind) => (kind === 1 ? between : ground).push([a, b]));
    this.stroke(between, this.inks.isl, between.length > 600 ? 0.5 : 0.9);
    this.stroke(ground, this.inks.muted, 1, [3, 3]);
  }

  ways() {
    this.onPath = new Set();
    this.places.told.paths.forEach((_, path) => {
      const way = this.places.way(path, this.state.t);
      if (!way) return;
      way.nodes.forEach((node) => this.onPath.add(node));
      const pairs = way.nodes.slice(1).map((node, place) => [way.nodes[place], node]);
      const { colour, dash } = line(path);
      this.stroke(pairs, this.inks.halo, 5);
      this.stroke(pairs, colour, 2.6, dash);
    });
  }

  /** Draws what a site has just left dashed, and rings what serves it now. */
  handovers() {
    const { pen } = this;
    const changed = this.places.switched(this.state.t);
    const left = changed.filter(({ from }) => from >= 0).map(({ site, from }) => [site, from]);
    this.stroke(left, this.inks.k1, 1.8, [2, 5]);
    for (const { to } of changed) {
      if (to < 0 || !this.isSeen(to)) continue;
      pen.beginPath();
      pen.arc(this.x[to], this.y[to], 9, 0, 7);
      pen.strokeStyle = this.inks.k1;
      pen.lineWidth = 2;
      pen.stroke();
    }
  }

  nodes() {
    const { pen, places, inks, state } = this;
    const many = places.count > 400;
    const on = state.hidden.has("paths") ? new Set() : (this.onPath ?? new Set());
    const labels = [];
    for (let node = 0; node < places.count; node += 1) {
      const { kind, name } = places.told.nodes[node];
      if (!Number.isFinite(this.x[node]) || !this.isSeen(node)) continue;
      const chosen = state.node === name;
      if (kind === "site") {
        pen.beginPath();
        pen.rect(this.x[node] - 4, this.y[node] - 4, 8, 8);
        pen.fillStyle = inks.ink;
        pen.fill();
        pen.strokeStyle = inks.halo;
        pen.lineWidth = 1.5;
        pen.stroke();
        labels.push([node, name, "600"]);
      } else if (!state.hidden.has("satellites") || on.has(node) || chosen) {
        pen.beginPath();
        pen.arc(this.x[node], this.y[node], on.has(node) || chosen ? 4 : many ? 1.5 : 2.6, 0, 7);
        pen.fillStyle = on.has(node) || chosen ? inks.ink : inks.sat;
        pen.globalAlpha = !state.flat && this.deep[node] < 0 ? 0.35 : 1;
        pen.fill();
        pen.globalAlpha = 1;
        if (chosen || (on.has(node) && on.size <= 16) || (!many && places.count <= 40))
          labels.push([node, name, "400"]);
      }
      if (chosen) {
        pen.beginPath();
        pen.arc(this.x[node], this.y[node], 9, 0, 7);
        pen.strokeStyle = inks.ink;
        pen.lineWidth = 1.5;
        pen.stroke();
      }
    }
    if (state.hidden.has("names")) return;
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    const taken = [];
    for (const [node, name, weight] of labels.sort((a, b) => b[2] - a[2])) {
      const text = name.length > 24 ? `${name.slice(0, 23)}…` : name;
      pen.font = `${weight} 12px system-ui, sans-serif`;
      const wide = pen.measureText(text).width;
      const left = this.x[node] + 8 + wide > this.wide ? this.x[node] - 8 - wide : this.x[node] + 8,
        top = this.y[node];
      if (taken.some(([x, y, w]) => Math.abs(y - top) < 13 && x < left + wide && left < x + w)) continue;
      taken.push([left, top, wide]);
      pen.strokeStyle = inks.halo;
      pen.lineWidth = 3;
      pen.strokeText(text, left, top);
      pen.fillStyle = inks.ink;
      pen.fillText(text, left, top);
    }
  }

  /** Gives the node nearest to a place on the canvas, within a few pixels. */
  near(x, y) {
    let found = -1,
      least = 12;
    for (let node = 0; node < this.places.count; node += 1) {
      const apart = Math.hypot(this.x[node] - x, this.y[node] - y);
      if (apart < least && this.isSeen(node)) [found, least] = [node, apart];
    }
    return found;
  }
}

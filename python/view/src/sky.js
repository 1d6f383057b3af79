// The panel of the sky: the Earth, what is drawn of it, and the paths in words.

import { dark, line } from "./colours.js";
import { button, h, settled } from "./dom.js";
import { number } from "./format.js";
import { Globe } from "./globe.js";
import { Places } from "./places.js";
import { png } from "./save.js";

const LAYERS = ["satellites", "links", "paths", "handovers", "names"];

export function sky(state, told, data) {
  const places = new Places(told, data);
  places.at(state.t);
  const first = () => {
    const sites = told.nodes
      .map((node, place) => [node, place])
      .filter(([node]) => node.kind === "site")
      .map(([, place]) => place);
    if (!sites.length) return 0;
    const [x, y] = sites.reduce(
      ([x, y], place) => {
        const lon = (places.lon[place] * Math.PI) / 180;
        return [x + Math.cos(lon), y + Math.sin(lon)];
      },
      [0, 0],
    );
    return (Math.atan2(y, x) * 180) / Math.PI;
  };
  state.lon ??= first();
  const canvas = h("canvas", {
    tabIndex: 0,
    role: "img",
    "aria-label": "The Earth with satellites, links and paths. Arrow keys turn it, plus and minus zoom.",
  });
  const globe = new Globe(canvas, state, places);
  const about = h("p", { className: "about" });
  const ways = h("ul", { className: "ways" });

  const kinds = h("div", { className: "switch", role: "group", "aria-label": "Projection" });
  const projection = (text, flat) => h("button", { type: "button", onclick: () => state.set({ flat }) }, text);
  const [round, flat] = [projection("Globe", false), projection("Map", true)];
  kinds.append(round, flat);
  const boxes = LAYERS.map((name) =>
    h("input", {
      type: "checkbox",
      onchange: (event) => {
        const hidden = new Set(state.hidden);
        if (event.target.checked) hidden.delete(name);
        else hidden.add(name);
        state.set({ hidden });
      },
    }),
  );
  const layers = h(
    "div",
    { className: "row layers", role: "group", "aria-label": "What is drawn" },
    ...LAYERS.map((name, place) => h("label", { className: "chip" }, boxes[place], name)),
  );
  const names = h("datalist", { id: "nodes" }, ...told.nodes.map(({ name }) => h("option", { value: name })));
  const find = h("input", {
    type: "search",
    list: "nodes",
    placeholder: "Find a node",
    "aria-label": "Find a satellite or site by its name",
    oninput: () => {
      const node = told.nodes.findIndex(({ name }) => name === find.value);
      if (node >= 0) choose(node);
      else if (!find.value) state.set({ node: "" });
    },
  });

  function choose(node) {
    state.set({
      node: told.nodes[node].name,
      lon: places.lon[node],
      lat: Math.max(-80, Math.min(80, places.lat[node])),
    });
  }

  function tell() {
    const isFlat = state.flat;
    canvas.classList.toggle("flat", isFlat);
    round.setAttribute("aria-pressed", String(!isFlat));
    flat.setAttribute("aria-pressed", String(isFlat));
    LAYERS.forEach((name, place) => {
      boxes[place].checked = !state.hidden.has(name);
    });
  }

  let draws = 0;

  function draw() {
    globe.draw();
    canvas.dataset.draws = String((draws += 1));
    words();
  }

  function words() {
    const found = told.nodes.findIndex(({ name }) => name === state.node);
    const changed = changes();
    const said = [];
    if (found >= 0) {
      const [lat, lon, alt] = [places.lat, places.lon, places.alt].map((of) => number(of[found], 5));
      said.push(`${state.node}: latitude ${lat}°, longitude ${lon}°, height ${alt} km.`);
    }
    if (changed) said.push(`Handover: ${changed}.`);
    if (globe.farthest > 1.36 && !said.length) said.push("Heights above 2,200 km are drawn lower than they are.");
    about.textContent = said.join(" ");
    told.paths.slice(0, 12).forEach((path, place) => {
      ways.children[place] ?? ways.append(way(place, path.name));
      ways.children[place].lastChild.textContent = going(place);
    });
  }

  function going(path) {
    const now = places.way(path, state.t);
    if (!now) return "no path now";
    const names = now.nodes.map((node) => told.nodes[node].name).join(" › ");
    return `${number(now.delay * 1000)} ms, ${now.nodes.length - 1} hops: ${names}`;
  }

  function changes() {
    const name = (node) => told.nodes[node]?.name ?? "no satellite";
    return places
      .switched(state.t)
      .slice(-3)
      .map(
        ({ at, site, from, to }) => `${name(site)} from ${name(from)} to ${name(to)}, ${number(state.t - at, 2)} s ago`,
      )
      .join("; ");
  }

  function way(place, name) {
    const swatch = h("span", { className: "swatch" });
    swatch.style.setProperty("--colour", line(place).colour);
    return h("li", {}, swatch, h("b", {}, name), h("span", {}));
  }

  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, lon: state.lon, lat: state.lat, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
    if (Math.hypot(dx, dy) < 4 && !held.moved) return;
    held.moved = true;
    const degrees = state.flat ? 360 / (canvas.clientWidth * state.zoom) : 60 / globe.radius;
    turn(held.lon - dx * degrees, state.flat ? held.lat : held.lat + dy * degrees);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (held && !held.moved) {
      const box = canvas.getBoundingClientRect();
      const node = globe.near(event.clientX - box.left, event.clientY - box.top);
      state.set({ node: node >= 0 ? told.nodes[node].name : "" });
    }
    held = null;
  });
  canvas.addEventListener("pointercancel", () => {
    held = null;
  });
  canvas.addEventListener("keydown", (event) => {
    const act = {
      ArrowLeft: () => turn(state.lon - 10 / state.zoom, state.lat),
      ArrowRight: () => turn(state.lon + 10 / state.zoom, state.lat),
      ArrowUp: () => turn(state.lon, state.lat + 10),
      ArrowDown: () => turn(state.lon, state.lat - 10),
      "+": () => zoom(1.25),
      "=": () => zoom(1.25),
      "-": () => zoom(0.8),
      0: () => state.set({ zoom: 1 }),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });

  function turn(lon, lat) {
    state.set({ lon: ((((lon + 180) % 360) + 360) % 360) - 180, lat: Math.max(-90, Math.min(90, lat)) });
  }

  function zoom(factor) {
    state.set({ zoom: Math.max(0.5, Math.min(20, state.zoom * factor)) });
  }

  state.on(["t", "flat", "lon", "lat", "zoom", "hidden", "node"], (changed) => {
    if (changed.has("all")) state.lon ??= first();
    tell();
    draw();
  });
  dark.addEventListener("change", () => {
    ways.replaceChildren();
    draw();
  });
  new ResizeObserver(settled(draw, 50)).observe(canvas);
  tell();
  const save = () =>
    png(
      canvas,
      `${state.told.title} at ${number(state.t, 8)} s`,
      told.paths.slice(0, 12).map(({ name }, place) => ({ text: name, place })),
      `${state.told.title}-sky.png`,
    );
  return {
    draw,
    element: h(
      "section",
      { className: "card sky", "aria-label": "Sky" },
      h(
        "header",
        { className: "row" },
        kinds,
        layers,
        h(
          "span",
          { className: "row tools" },
          find,
          names,
          button("−", "Zoom the Earth out", () => zoom(0.8)),
          button("+", "Zoom the Earth in", () => zoom(1.25)),
          button("PNG", "Save the sky as PNG", save),
        ),
      ),
      canvas,
      about,
      ways,
    ),
  };
}

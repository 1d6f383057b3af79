// The page: reads what it holds, and puts time, sky, charts and events beside each other.

import "uplot/dist/uPlot.min.css";
import "./view.css";
import { charts } from "./charts.js";
import { Blocks } from "./data.js";
import { h } from "./dom.js";
import { EventList } from "./events.js";
import { sky } from "./sky.js";
import { State } from "./state.js";
import { timebar } from "./timebar.js";

const PLACES = ["latitude_deg", "longitude_deg", "altitude_km"];

async function start() {
  const told = JSON.parse(document.getElementById("told").textContent);
  const state = new State(told);
  const blocks = new Blocks();
  const root = document.getElementById("view");

  const events = told.events ? await listed(state, told.events, blocks) : null;
  const above = told.sky ? sky(state, told.sky, await flown(told.sky, blocks)) : null;
  const notes = told.notes.length
    ? h(
        "details",
        { className: "notes", open: told.notes.some((note) => note.includes("thinned")) || !told.tables.length },
        h("summary", {}, told.notes.length === 1 ? "1 remark" : `${told.notes.length} remarks`),
        h("ul", {}, ...told.notes.map((note) => h("li", {}, note))),
      )
    : null;
  const head = h("header", { className: "top" }, h("h1", {}, told.title), h("p", {}, told.about.join(" · ")), notes);
  const left = h("div", { className: "left" }, above?.element, charts(state, blocks, told));
  const main = h("main", { className: events ? "both" : "" }, left, events?.element);
  root.replaceChildren(head, timebar(state, told, events), main);
  above?.draw();
  events?.mark();
  root.dataset.ready = String(Math.round(performance.now()));
}

async function listed(state, told, blocks) {
  const { at, kind, words } = await blocks.all("events", ["at", "kind", "words"]);
  return new EventList(state, told, { at, kind, sentences: words });
}

async function flown(told, blocks) {
  const read = async (name, columns, there) => (there ? blocks.all(name, columns) : null);
  const [positions, journeys, contacts, legs, hops, switches] = await Promise.all([
    read("positions", ["at", ...PLACES], told.moving),
    read(
      "journeys",
      ["at", ...PLACES],
      told.nodes.some((node) => node.way),
    ),
    read("contacts", ["a", "b", "start", "end", "kind"], told.contacts > 0),
    read("legs", ["path", "start", "end", "first", "last", "delay"], told.paths.length > 0),
    read("hops", ["from", "to"], told.paths.length > 0),
    read("switches", ["at", "site", "from", "to"], told.switches > 0),
  ]);
  return { positions, journeys, contacts, legs, hops, switches };
}

start();

// The charts of the page, and the choice of others.

import { Chart } from "./chart.js";
import { button, h } from "./dom.js";
import { named } from "./format.js";

export function charts(state, blocks, told) {
  if (!told.tables.length) return null;
  const table = (name) => told.tables.find((one) => one.name === name);
  const list = h("div", { className: "list" });
  const choice = h(
    "select",
    { "aria-label": "Chart to add" },
    ...told.tables.map((one) =>
      h(
        "optgroup",
        { label: one.title ?? one.name.replaceAll("_", " ") },
        ...one.columns.map((column) => {
          const { words, unit } = named(column);
          return h("option", { value: `${one.name}~${column}` }, unit ? `${words} (${unit})` : words);
        }),
      ),
    ),
  );
  let shown = [];

  function fill() {
    state.charts ??= told.tables.map((one) => ({ table: one.name, column: one.first, lines: null }));
    state.charts = state.charts.filter((one) => table(one.table)?.columns.includes(one.column));
    shown.forEach((chart) => chart.end());
    shown = state.charts.map(make);
    list.replaceChildren(...shown.map((chart) => chart.element));
  }

  function make(one) {
    const chart = new Chart(state, blocks, table(one.table), one, () => {
      chart.end();
      const next = chart.element.nextElementSibling ?? chart.element.previousElementSibling;
      chart.element.remove();
      shown = shown.filter((other) => other !== chart);
      (next?.querySelector(".plot") ?? choice).focus();
      state.set({ charts: state.charts.filter((other) => other !== one) });
    });
    return chart;
  }

  function add() {
    const [name, column] = choice.value.split("~");
    const one = { table: name, column, lines: null };
    const chart = make(one);
    shown.push(chart);
    list.append(chart.element);
    state.set({ charts: [...state.charts, one] });
    chart.element.scrollIntoView({ block: "nearest" });
    chart.plot.focus();
  }

  fill();
  state.on(["all"], fill);
  return h(
    "section",
    { className: "charts", "aria-label": "Charts" },
    list,
    h("div", { className: "row adding" }, choice, button("Add chart", "Add chart", add)),
  );
}

// The cursor of time: slider, player, and the window that charts show.

import { button, h } from "./dom.js";
import { clock, date } from "./format.js";

const SPEEDS = [1, 10, 60, 300, 1000, 3600];

/** Step with which instants are told in a window of so many seconds. */
function fineness(window) {
  return window >= 600 ? 0.1 : window >= 60 ? 0.01 : window >= 1 ? 0.001 : 0.000001;
}

export function timebar(state, told, events) {
  const [from, to] = state.span;
  const step = (to - from) / 10_000;
  const slider = h("input", {
    type: "range",
    min: String(from),
    max: String(to),
    step: "any",
    "aria-label": "Instant",
    oninput: () => state.go(Number(slider.value)),
    onkeydown: (event) => {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
      if (!by) return;
      event.preventDefault();
      state.go(state.t + by * Math.max((state.to - state.from) / 200, step / 100));
    },
  });
  const now = h("output", { className: "now" });
  const when = h("span", { className: "when" });
  const play = button("Play", "Play", toggle);
  const speed = h(
    "select",
    { "aria-label": "Speed" },
    ...SPEEDS.map((factor) => h("option", { value: String(factor) }, `× ${factor.toLocaleString("en")}`)),
  );
  speed.value = String(SPEEDS.find((factor) => (to - from) / factor <= 120) ?? SPEEDS.at(-1));
  let playing = 0,
    last = 0;

  function toggle() {
    if (playing) {
      cancelAnimationFrame(playing);
      playing = 0;
    } else {
      if (state.t >= to) state.go(from);
      last = performance.now();
      playing = requestAnimationFrame(run);
    }
    play.textContent = playing ? "Pause" : "Play";
    play.setAttribute("aria-label", play.textContent);
    play.title = play.textContent;
  }

  function run(at) {
    state.go(state.t + (Math.max(at - last, 0) / 1000) * Number(speed.value));
    last = at;
    if (state.t >= to) toggle();
    else playing = requestAnimationFrame(run);
  }

  function show() {
    slider.value = String(state.t);
    const fine = fineness(state.to - state.from);
    now.textContent = clock(state.t, fine);
    when.textContent = date(told.epoch, state.t);
    slider.setAttribute("aria-valuetext", `${now.textContent} ${when.textContent}`.trim());
    const whole = state.from <= from && state.to >= to;
    span.textContent = `${clock(state.from, fine)} – ${clock(state.to, fine)}`;
    all.disabled = out.disabled = whole;
  }

  const span = h("span", { className: "span" });
  const all = button("All", "All of the time", () => state.look(from, to));
  const out = button("−", "Show a longer time", () => state.zoomBy(2));
  const row = h(
    "div",
    { className: "row" },
    h(
      "div",
      { className: "row group" },
      events ? button("‹", "To the event before", () => events.step(-1)) : null,
      play,
      events ? button("›", "To the next event", () => events.step(1)) : null,
      speed,
    ),
    h("div", { className: "row group told" }, now, when),
    h(
      "div",
      { className: "row group window" },
      span,
      button("◂", "Show what was before", () => state.panBy(-0.5)),
      out,
      button("+", "Show a shorter time", () => state.zoomBy(0.5)),
      button("▸", "Show what comes after", () => state.panBy(0.5)),
      all,
    ),
  );
  state.on(["t", "from", "to"], show);
  show();
  return h("section", { className: "timebar", "aria-label": "Time" }, slider, row);
}

// Lines thinned to pixels: of each pixel's width the least and the greatest value, in the order in which they come.

import { lower } from "./data.js";

/** Gives an x for all lines and a y for each, as uPlot wants them: null is a gap, undefined nothing. */
export function drawn(lines, from, to, pixels, isHeld) {
  const parts = lines.map(({ at, values }) => {
    const first = Math.max(lower(at, from) - 1, 0);
    const last = Math.min(lower(at, to) + 1, at.length);
    return isHeld && last > first ? held(at, values, first, last, to) : { at, values, first, last };
  });
  const dense = parts.some(({ first, last }) => last - first > 2 * pixels);
  return { dense, data: dense ? gridded(parts, from, to, pixels) : joined(parts) };
}

/** What holds until the next value holds until the end of the window, too. */
function held(at, values, first, last, to) {
  if (last - first > 100_000 || at[last - 1] >= to) return { at, values, first, last };
  return {
    at: Float64Array.from([...at.subarray(first, last), to]),
    values: Float64Array.from([...values.subarray(first, last), values[last - 1]]),
    first: 0,
    last: last - first + 1,
  };
}

function gridded(parts, from, to, pixels) {
  const width = (to - from) / pixels;
  const xs = new Float64Array(2 * pixels + 4);
  for (let place = 0; place < xs.length; place += 1)
    xs[place] = from + (Math.floor(place / 2) - 1 + 0.25 + (place % 2) / 2) * width;
  const ys = parts.map(({ at, values, first, last }) => {
    const y = new Array(xs.length);
    let bucket = -1;
    let least = 0,
      greatest = 0,
      leastAt = 0,
      greatestAt = 0;
    const put = () => {
      if (bucket < 0) return;
      y[2 * bucket] = leastAt <= greatestAt ? least : greatest;
      y[2 * bucket + 1] = leastAt <= greatestAt ? greatest : least;
    };
    for (let place = first; place < last; place += 1) {
      const value = values[place];
      if (value !== value) continue;
      const now = Math.min(Math.max(Math.floor((at[place] - from) / width) + 1, 0), pixels + 1);
      if (now !== bucket) {
        put();
        bucket = now;
        least = greatest = value;
        leastAt = greatestAt = place;
      } else if (value < least) {
        least = value;
        leastAt = place;
      } else if (value > greatest) {
        greatest = value;
        greatestAt = place;
      }
    }
    put();
    return y;
  });
  return [xs, ...ys];
}

function joined(parts) {
  const all = [];
  for (const { at, first, last } of parts) for (let place = first; place < last; place += 1) all.push(at[place]);
  all.sort((a, b) => a - b);
  const xs = all.filter((value, place) => !place || value !== all[place - 1]);
  const ys = parts.map(({ at, values, first, last }) => {
    const y = new Array(xs.length);
    let place = 0;
    for (let row = first; row < last; row += 1) {
      while (xs[place] < at[row]) place += 1;
      y[place] = Number.isNaN(values[row]) ? null : values[row];
    }
    return y;
  });
  return [xs, ...ys];
}

/** Least and greatest value within a window; zero is in sight where all values lie above it. */
export function range(lines, from, to, pad = 1) {
  let least = Infinity,
    greatest = -Infinity;
  for (const { at, values } of lines) {
    const first = Math.max(lower(at, from) - pad, 0),
      last = Math.min(lower(at, to) + pad, at.length);
    for (let place = first; place < last; place += 1) {
      const value = values[place];
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
  }
  if (!(least <= greatest)) return [0, 1];
  if (least >= 0 && least < greatest * 0.6) least = 0;
  if (least === greatest) return least === 0 ? [0, 1] : [Math.min(0, least * 1.2), Math.max(0, greatest * 1.2)];
  const room = (greatest - least) * 0.06;
  return [least === 0 ? 0 : least - room, greatest + room];
}

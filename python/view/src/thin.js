// Lines thinned to pixels: of each pixel's width the least and the greatest value.

import { lower } from "./data.js";

/**
 * Gives an x for all lines and a y for each, as uPlot wants them: null is a gap, undefined nothing. A line with more
 * rows than two a pixel has none: its rows are given as a part, which `columns` thins.
 */
export function drawn(lines, from, to, pixels, isHeld) {
  const parts = lines.map((one) => {
    const { first, last } = within(one, from, to);
    return { at: one.at, values: one.values, first, last };
  });
  const dense = parts.map((part) => (part.last - part.first > 2 * pixels ? part : null));
  const plain = parts.map((part, place) => {
    if (dense[place]) return { ...part, last: part.first };
    return isHeld && part.last > part.first ? held(part, to) : part;
  });
  const data = joined(plain);
  // uPlot wants an x, whatever there is to be drawn.
  return { dense, data: data[0].length ? data : [[from, to], ...lines.map(() => [null, null])] };
}

/** Rows within a window, with one more at each side, which lead into it and out of it. */
function within({ at }, from, to) {
  return { first: Math.max(lower(at, from) - 1, 0), last: Math.min(lower(at, to) + 1, at.length) };
}

/** What holds until the next value holds until the end of the window, too. */
function held({ at, values, first, last }, to) {
  if (at[last - 1] >= to) return { at, values, first, last };
  return {
    at: Float64Array.from([...at.subarray(first, last), to]),
    values: Float64Array.from([...values.subarray(first, last), values[last - 1]]),
    first: 0,
    last: last - first + 1,
  };
}

/** Least and greatest value of every few rows, so that a pan need not read each of a million. */
const summaries = new WeakMap();
const FEW = 64;

function summary(values) {
  if (!summaries.has(values)) {
    const count = Math.ceil(values.length / FEW);
    const least = new Float64Array(count).fill(Infinity);
    const greatest = new Float64Array(count).fill(-Infinity);
    for (let row = 0; row < values.length; row += 1) {
      const block = (row / FEW) | 0;
      if (values[row] < least[block]) least[block] = values[row];
      if (values[row] > greatest[block]) greatest[block] = values[row];
    }
    summaries.set(values, { least, greatest });
  }
  return summaries.get(values);
}

/**
 * Calls back with the least and the greatest value of rows, and with the places of the first and the last one: whole
 * blocks at once where they lie in one pixel.
 */
function walk({ values, first, last }, pixelOf, each) {
  const { least, greatest } = summary(values);
  let row = first;
  while (row < last) {
    const pixel = pixelOf(row);
    if (row % FEW === 0 && row + FEW <= last && pixelOf(row + FEW - 1) === pixel) {
      const block = row / FEW;
      if (least[block] <= greatest[block]) each(pixel, least[block], greatest[block], row, row + FEW - 1);
      row += FEW;
    } else {
      if (values[row] === values[row]) each(pixel, values[row], values[row], row, row);
      row += 1;
    }
  }
}

/**
 * Gives of each pixel's width the least and the greatest value of a part, and its first and last one, the pixels left
 * and right of the window among them. A pixel without a value has NaN.
 */
export function columns(part, from, to, pixels) {
  const { at, values } = part;
  const [least, greatest, enters, leaves] = Array.from({ length: 4 }, () => new Float64Array(pixels + 2).fill(NaN));
  const across = pixels / (to - from);
  const pixelOf = (row) => Math.min(Math.max(Math.floor((at[row] - from) * across) + 1, 0), pixels + 1);
  walk(part, pixelOf, (pixel, low, high, first, last) => {
    if (!(least[pixel] <= low)) least[pixel] = low;
    if (!(greatest[pixel] >= high)) greatest[pixel] = high;
    if (Number.isNaN(enters[pixel])) enters[pixel] = finite(values, first, 1);
    leaves[pixel] = finite(values, last, -1);
  });
  return { least, greatest, enters, leaves };
}

/** The first value from a row on that is one. */
function finite(values, row, step) {
  let at = row;
  while (Number.isNaN(values[at])) at += step;
  return values[at];
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
  let low = Infinity;
  let high = -Infinity;
  for (const { at, values } of lines) {
    const first = Math.max(lower(at, from) - pad, 0);
    const last = Math.min(lower(at, to) + pad, at.length);
    walk(
      { values, first, last },
      () => 0,
      (_, least, greatest) => {
        low = Math.min(low, least);
        high = Math.max(high, greatest);
      },
    );
  }
  if (!(low <= high)) return [0, 1];
  if (low >= 0 && low < high * 0.6) low = 0;
  if (low === high) return low === 0 ? [0, 1] : [Math.min(0, low * 1.2), Math.max(0, high * 1.2)];
  const room = (high - low) * 0.06;
  return [low === 0 ? 0 : low - room, high + room];
}

// Many rows drawn as the pixels that they cover: columns of lines, and points, of which no pixel has a second one.

import { lower } from "./data.js";
import { columns } from "./thin.js";

/** Draws a line with many rows a pixel: a bar in each column, from its least to its greatest value. Counts them. */
export function bars(pen, part, { from, to, box, bounds, colour, dash, thick, isHeld }) {
  const { left, top, width, height } = box;
  const [low, high] = bounds;
  const up = height / (high - low);
  const y = (value) => top + (high - value) * up;
  const { least, greatest, enters, leaves } = columns(part, from, to, width);
  const period = dash.reduce((sum, length) => sum + length, 0);
  const isGap = (x) => period && isOff(dash, x % period);
  const joins = new Path2D();
  let before = -1;
  let count = 0;
  pen.fillStyle = colour;
  for (let x = 0; x < least.length; x += 1) {
    if (Number.isNaN(least[x])) continue;
    let [under, over] = [least[x], greatest[x]];
    if (before === x - 1 && before >= 0) {
      // The column reaches as far as the last value before it.
      under = Math.min(under, leaves[before]);
      over = Math.max(over, leaves[before]);
    } else if (before >= 0) {
      joins.moveTo(left + before - 0.5, y(leaves[before]));
      if (isHeld) joins.lineTo(left + x - 0.5, y(leaves[before]));
      joins.lineTo(left + x - 0.5, y(enters[x]));
    }
    if (!isGap(x)) {
      const begin = y(over) - thick / 2;
      pen.fillRect(left + x - 1, begin, 1, y(under) + thick / 2 - begin);
      count += 1;
    }
    before = x;
  }
  if (isHeld && before >= 0 && before < least.length - 1) {
    joins.moveTo(left + before - 0.5, y(leaves[before]));
    joins.lineTo(left + width, y(leaves[before]));
  }
  pen.strokeStyle = colour;
  pen.lineWidth = thick;
  pen.setLineDash(dash);
  pen.stroke(joins);
  pen.setLineDash([]);
  return count;
}

/** Tells if a place in a pattern of dashes lies in one of its gaps. */
function isOff(dash, place) {
  let behind = 0;
  for (const [number, length] of dash.entries()) {
    behind += length;
    if (place < behind) return number % 2 === 1;
  }
  return false;
}

/** A picture of points, as large as what it is drawn on. */
export class Points {
  constructor() {
    this.canvas = document.createElement("canvas");
  }

  begin(width, height) {
    if (this.canvas.width !== width || this.canvas.height !== height) {
      Object.assign(this.canvas, { width, height });
      this.pen = this.canvas.getContext("2d");
      this.image = this.pen.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.taken = new Uint8Array(width * height);
    }
    this.pixels.fill(0);
  }

  /** Puts the points of a line into it, and gives their number: a second one at a place would not be seen. */
  put({ at, values }, { from, to, bounds, colour, dot }) {
    const { width, height } = this.canvas;
    const { taken } = this;
    const [low, high] = bounds;
    const across = width / (to - from),
      up = height / (high - low);
    const last = Math.min(lower(at, to) + 1, at.length);
    const word = this.word(colour);
    let count = 0;
    taken.fill(0);
    for (let row = lower(at, from); row < last; row += 1) {
      const x = ((at[row] - from) * across) | 0;
      const down = (high - values[row]) * up;
      if (!(down >= 0 && down <= height) || x >= width) continue;
      const place = Math.min(down | 0, height - 1) * width + x;
      if (taken[place]) continue;
      taken[place] = 1;
      count += 1;
      this.square(x, (place / width) | 0, dot, word);
    }
    return count;
  }

  square(x, y, dot, word) {
    const { width, height } = this.canvas;
    const half = dot >> 1;
    const [begin, end] = [Math.max(x - half, 0), Math.min(x - half + dot, width)];
    const bottom = Math.min(y - half + dot, height);
    for (let row = Math.max(y - half, 0); row < bottom; row += 1)
      for (let place = row * width + begin; place < row * width + end; place += 1) this.pixels[place] = word;
  }

  /** A colour as the word that a picture has. */
  word(colour) {
    this.pen.clearRect(0, 0, 1, 1);
    this.pen.fillStyle = colour;
    this.pen.fillRect(0, 0, 1, 1);
    return new Uint32Array(this.pen.getImageData(0, 0, 1, 1).data.buffer)[0];
  }

  draw(pen, left, top) {
    this.pen.putImageData(this.image, 0, 0);
    pen.drawImage(this.canvas, left, top);
  }
}

// Blocks of Parquet that the page holds, decoded column by column when they are asked for.

import { parquetMetadataAsync, parquetScan } from "hyparquet";

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Bytes of base64 as a file, of which only those are decoded that somebody reads. */
function file(base64) {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  const byteLength = (base64.length / 4) * 3 - padding;
  return {
    byteLength,
    slice(start, end = byteLength) {
      const first = Math.floor(start / 3);
      const bytes = bytesOf(base64.slice(4 * first, 4 * Math.ceil(end / 3)));
      return bytes.buffer.slice(start - 3 * first, end - 3 * first);
    },
  };
}

export class Blocks {
  constructor() {
    this.scans = new Map();
    this.columns = new Map();
  }

  scan(name) {
    if (!this.scans.has(name)) {
      const holder = document.querySelector(`script[data-block="${CSS.escape(name)}"]`);
      const held = file(holder.textContent);
      holder.remove();
      this.scans.set(name, opened(held));
    }
    return this.scans.get(name);
  }

  column(name, column) {
    const key = `${name}\n${column}`;
    if (!this.columns.has(key)) this.columns.set(key, this.read(name, column));
    return this.columns.get(key);
  }

  async read(name, column) {
    const scan = await this.scan(name);
    const rowEnd = Number(scan.metadata.num_rows);
    const values = rowEnd ? await scan.readColumn({ column, rowStart: 0, rowEnd }) : new Float64Array();
    // Numbers with a dictionary come one by one.
    return Array.isArray(values) && typeof values[0] === "number" ? Float64Array.from(values) : values;
  }

  async all(name, columns) {
    const read = await Promise.all(columns.map((column) => this.column(name, column)));
    return Object.fromEntries(columns.map((column, place) => [column, read[place]]));
  }
}

async function opened(held) {
  return parquetScan({ file: held, metadata: await parquetMetadataAsync(held) });
}

/** First place whose value is not below the one that is looked for. */
export function lower(values, value, from = 0, to = values.length) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle] < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

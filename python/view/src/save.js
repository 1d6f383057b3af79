// Files that the browser keeps: pictures and tables.

import { line, paint } from "./colours.js";

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w.-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Draws a canvas under its title and the names of its lines, and keeps it as PNG. */
export function png(canvas, title, labels, name) {
  const ratio = devicePixelRatio || 1;
  const wide = canvas.width;
  const out = document.createElement("canvas");
  const pen = out.getContext("2d");
  const rows = [[]];
  pen.font = `${13 * ratio}px system-ui, sans-serif`;
  let x = 0;
  for (const { text, place } of labels) {
    const width = pen.measureText(text).width + 34 * ratio;
    if (x + width > wide - 24 * ratio && rows.at(-1).length) {
      rows.push([]);
      x = 0;
    }
    rows.at(-1).push({ text, place, x });
    x += width;
  }
  const head = (38 + (labels.length ? rows.length * 20 + 6 : 0)) * ratio;
  out.width = wide;
  out.height = canvas.height + head;
  pen.fillStyle = paint("card");
  pen.fillRect(0, 0, out.width, out.height);
  pen.fillStyle = paint("ink");
  pen.textBaseline = "middle";
  pen.font = `600 ${15 * ratio}px system-ui, sans-serif`;
  pen.fillText(title, 12 * ratio, 20 * ratio);
  pen.font = `${13 * ratio}px system-ui, sans-serif`;
  rows.forEach((row, down) => {
    for (const { text, place, x: left } of row) {
      const y = (46 + down * 20) * ratio;
      const { colour, dash } = line(place);
      pen.strokeStyle = colour;
      pen.lineWidth = 2.5 * ratio;
      pen.setLineDash(dash.map((length) => length * ratio * 0.7));
      pen.beginPath();
      pen.moveTo(left + 12 * ratio, y);
      pen.lineTo(left + 28 * ratio, y);
      pen.stroke();
      pen.fillText(text, left + 34 * ratio, y);
    }
  });
  pen.setLineDash([]);
  pen.drawImage(canvas, 0, head);
  out.toBlob((blob) => download(blob, name), "image/png");
}

/** A cell of CSV. One that a spreadsheet would take for a formula stays a string. */
export function cell(value) {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(head, rows, name) {
  const lines = [head, ...rows].map((row) => row.map(cell).join(","));
  download(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }), name);
}

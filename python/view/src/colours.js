// Colours of lines, told apart by those who see red and green alike too, and those of the page.

const COLOURS = 6;
const DASHES = [[], [6, 3], [2, 3], [10, 3, 2, 3]];
export const dark = matchMedia("(prefers-color-scheme: dark)");

export function line(place) {
  return { colour: paint(`k${place % COLOURS}`), dash: DASHES[Math.floor(place / COLOURS) % DASHES.length] };
}

/** Colours that were asked for: the style is worked out anew for each that is not here. */
const known = new Map();
dark.addEventListener("change", () => known.clear());

/** A colour of the style sheet, as it is now: light or dark. */
export function paint(name) {
  if (!known.has(name)) {
    known.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return known.get(name);
}

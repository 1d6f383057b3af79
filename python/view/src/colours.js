// Colours of lines, told apart by those who see red and green alike too, and those of the page.

const COLOURS = 6;
const DASHES = [[], [6, 3], [2, 3], [10, 3, 2, 3]];
export const dark = matchMedia("(prefers-color-scheme: dark)");

export function line(place) {
  return { colour: paint(`k${place % COLOURS}`), dash: DASHES[Math.floor(place / COLOURS) % DASHES.length] };
}

/** A colour of the style sheet, as it is now: light or dark. */
export function paint(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

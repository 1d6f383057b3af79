// Colours of lines, told apart by those who see red and green alike too, and those of the page.

const LIGHT = ["#0b62a4", "#c2410c", "#0f766e", "#9d2f7d", "#8a6400", "#5b4bc4"];
const DARK = ["#6db3f2", "#f4946a", "#4fd1b8", "#e79bd0", "#e3c14f", "#b3a9ff"];
const DASHES = [[], [6, 3], [2, 3], [10, 3, 2, 3]];
export const dark = matchMedia("(prefers-color-scheme: dark)");

export function line(place) {
  const set = dark.matches ? DARK : LIGHT;
  return { colour: set[place % set.length], dash: DASHES[Math.floor(place / set.length) % DASHES.length] };
}

/** A colour of the style sheet. */
export function paint(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

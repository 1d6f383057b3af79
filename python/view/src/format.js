// Times, units and numbers as people read them.

const UNITS = [
  [/_bit_per_s$/, "bit/s"],
  [/_bytes$/, "B"],
  [/_packets$/, "packets"],
  [/_messages$/, "messages"],
  [/_ratio$/, ""],
  [/_km$/, "km"],
  [/_s$/, "s"],
];
const SCALED = new Set(["bit/s", "B", "s"]);
const PREFIXES = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
];

/** Name of a column in words, and its unit. */
export function named(column) {
  const found = UNITS.find(([ends]) => ends.test(column));
  const words = (found ? column.replace(found[0], "") : column).replaceAll("_", " ");
  const text =
    {
      tsn: "TSN",
      window: "congestion window and flight",
      timer: "round trip and RTO",
      cwnd: "congestion window",
      srtt: "smoothed round trip",
    }[words.toLowerCase()] ?? words;
  return { words: text, unit: found ? found[1] : "" };
}

/** Factor and unit by which values up to a greatest one are told. */
export function scaled(unit, greatest) {
  if (!SCALED.has(unit) || !(greatest > 0)) return { factor: 1, unit };
  const usable = PREFIXES.filter(([factor]) => unit !== "s" || factor <= 1);
  const [factor, prefix] = usable.find(([at]) => greatest >= at) ?? usable.at(-1);
  return { factor, unit: prefix + unit };
}

export function number(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  const rounded = Math.abs(value) < 1e-9 ? 0 : Number(value.toPrecision(digits));
  return Math.abs(rounded) >= 1e15
    ? rounded.toExponential()
    : rounded.toLocaleString("en", { maximumFractionDigits: 9 });
}

const two = (value) => String(value).padStart(2, "0");

/** Time from the start: 1:02:03.25, with decimals as a step asks for. */
export function clock(at, step = 1) {
  const decimals = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9));
  const unit = 10 ** decimals;
  const whole = Math.round(Math.abs(at) * unit);
  const seconds = Math.floor(whole / unit);
  const rest = decimals ? "." + String(whole % unit).padStart(decimals, "0") : "";
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const told = parts[0] ? `${parts[0]}:${two(parts[1])}:${two(parts[2])}` : `${parts[1]}:${two(parts[2])}`;
  return (at < 0 && whole ? "−" : "") + told + rest;
}

export function date(epoch, at) {
  if (!epoch) return "";
  const begin = Date.parse(epoch.date);
  if (Number.isNaN(begin)) return "";
  const when = new Date(begin + (at - epoch.at_s) * 1000);
  return Number.isNaN(when.getTime()) ? "" : when.toISOString().slice(0, 19).replace("T", " ") + " UTC";
}

/** Numbers, units and times as they are written. */

const SMALLEST_FIXED = 1e-4;
const LARGEST_FIXED = 1e6;

/** So many significant digits, without trailing zeros. */
export function digits(value: number, significant = 4): string {
  if (!Number.isFinite(value)) return unusual(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < SMALLEST_FIXED || size >= LARGEST_FIXED) {
    return minus(value.toExponential(significant - 1).replace(/\.?0+e/, "e").replace("e+", "e"));
  }
  return minus(String(Number(value.toPrecision(significant))));
}

/**
 * A format for the values of a column of which `largest` is the largest absolute value. The number of decimals is the
 * same for all of them, so that digits stay where they are while time runs.
 */
export function steadyFormat(largest: number, significant = 5): (value: number) => string {
  if (!(largest >= SMALLEST_FIXED && largest < LARGEST_FIXED)) {
    return (value) => (value === 0 ? "0" : exponential(value, significant - 2));
  }
  const decimals = Math.max(0, Math.min(6, significant - 1 - Math.floor(Math.log10(largest))));
  const zero = minus((0).toFixed(decimals));
  return (value) => {
    if (!Number.isFinite(value)) return unusual(value);
    const text = minus(value.toFixed(decimals));
    return text === `\u2212${zero}` ? zero : text;
  };
}

function exponential(value: number, decimals: number): string {
  return Number.isFinite(value) ? minus(value.toExponential(decimals).replace("e+", "e")) : unusual(value);
}

function unusual(value: number): string {
  return Number.isNaN(value) ? "\u2013" : value > 0 ? "\u221e" : "\u2212\u221e";
}

function minus(text: string): string {
  return text.replace(/-/g, "\u2212");
}

const SUPERSCRIPTS: Record<string, string> = { "2": "\u00b2", "3": "\u00b3", "4": "\u2074" };

/** "N.m/rad2" as "N·m/rad²"; the unit of a pure number is empty. */
export function unitText(unit: string): string {
  if (unit === "1") return "";
  return unit.replace(/\./g, "\u00b7").replace(/([A-Za-z])([234])(?!\d)/g, (_, letter, power) => letter + SUPERSCRIPTS[power]);
}

/** A number with its unit, apart by a narrow space that does not break. */
export function withUnit(number: string, unit: string): string {
  const text = unitText(unit);
  return text ? `${number}\u202f${text}` : number;
}

/** Units that have an everyday companion: the factor and the name. */
const COMPANIONS: Record<string, [number, string]> = {
  rad: [180 / Math.PI, "\u00b0"],
  "rad/s": [30 / Math.PI, "\u202frpm"],
};

/** An angle in degrees, a speed of rotation in revolutions per minute; null for all others. */
export function companion(value: number, unit: string): string | null {
  const found = COMPANIONS[unit];
  if (!found || !Number.isFinite(value)) return null;
  return `${minus((value * found[0]).toFixed(2))}${found[1]}`;
}

/** Decimals with which times of a span tell rows apart. */
export function timeDecimals(span: number): number {
  if (!(span > 0)) return 3;
  return Math.max(0, Math.min(9, Math.floor(4 - Math.log10(span) + 1e-9)));
}

/** Steps 1, 2, 5 times a power of ten of which about `count` fit into a span. */
export function niceStep(span: number, count: number): number {
  if (!(span > 0)) return 1;
  const raw = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5, 10].find((one) => one * power >= raw * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** The largest of 1, 2 or 5 times a power of ten that is at most a positive value. */
export function niceBelow(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [5, 2].find((one) => one * power <= value * (1 + 1e-9)) ?? 1;
  return factor * power;
}

/** The nearest 1, 2 or 5 times a power of ten. */
export function niceNear(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const candidates = [1, 2, 5, 10].map((factor) => factor * power);
  return candidates.reduce((best, one) => (Math.abs(Math.log(one / value)) < Math.abs(Math.log(best / value)) ? one : best));
}

/** A whole number with thin spaces between thousands. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** The smallest length that is written in a unit, m; the unit; and how many metres it has. */
const LENGTHS: [number, string, number][] = [
  [1e3, "km", 1e3],
  [0.1, "m", 1],
  [1e-3, "mm", 1e-3],
  [1e-6, "\u00b5m", 1e-6],
  [0, "nm", 1e-9],
];

/** 0.02 m as "20 mm", 0.1 m as it is, 2000 m as "2 km". */
export function lengthText(metres: number): string {
  const [, unit, factor] = LENGTHS.find(([least]) => metres >= least * 0.9999)!;
  return `${digits(metres / factor, 3)}\u202f${unit}`;
}

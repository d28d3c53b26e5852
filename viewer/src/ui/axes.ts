/** Axes of plots. */

import type uPlot from "uplot";
import { digits, unitText } from "./numbers";

export const TICKS_WIDTH = 50;
export const LABEL_WIDTH = 18;
const LABEL_FONT = "600 12px system-ui, sans-serif";

/** A colour of the style sheet, as it is where an element stands. */
export function colourIn(root: HTMLElement, name: string): () => string {
  return () => getComputedStyle(root).getPropertyValue(name).trim();
}

export function axisIn(root: HTMLElement): uPlot.Axis {
  return {
    stroke: colourIn(root, "--muted"),
    grid: { stroke: colourIn(root, "--grid"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
    values: (_plot, ticks) => ticks.map((tick) => (tick === null ? "" : digits(tick, 5))),
  };
}

/** An axis at the left, with a label. */
export function ordinateIn(root: HTMLElement, label: string): uPlot.Axis {
  return { ...axisIn(root), size: TICKS_WIDTH, gap: 4, space: 20, label, labelSize: LABEL_WIDTH, labelGap: 0, labelFont: LABEL_FONT };
}

/** An axis below. */
export function abscissaIn(root: HTMLElement, label?: string): uPlot.Axis {
  const axis = { ...axisIn(root), size: 22, gap: 3, space: 60 };
  return label === undefined ? axis : { ...axis, label, labelSize: LABEL_WIDTH, labelGap: 0, labelFont: LABEL_FONT };
}

/** "A.q, rad". */
export function labelOf(name: string, unit: string): string {
  const text = unitText(unit);
  return text ? `${name}, ${text}` : name;
}

/** A range that does not blow up rounding errors of a constant. */
export function yRange(low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (size < 1e-14) return [-1, 1];
  const middle = (low + high) / 2;
  const half = Math.max((high - low) * 0.54, size * 1e-6);
  return [middle - half, middle + half];
}

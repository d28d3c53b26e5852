/** Colours of curves: apart also for colour-blind eyes, as in the pictures that Linkwork draws. */

import type { Theme } from "../stage/looks";

export type { Theme };

const CURVES: Record<Theme, string[]> = {
  light: ["#2f6da8", "#c8553d", "#3f8f5b", "#8a5aa8", "#b98a1d", "#2b8f96", "#a84a78", "#6b7280"],
  dark: ["#6aa9e6", "#f08a70", "#6fc38c", "#bf94dc", "#e0b34c", "#58c3ca", "#dd85b0", "#a3abb8"],
};

/** Of several runs the first is drawn through, the others are dashed. */
const DASHES: number[][] = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

export function curveColour(index: number, theme: Theme): string {
  const colours = CURVES[theme];
  return colours[index % colours.length]!;
}

export function dashes(run: number): number[] {
  return DASHES[run % DASHES.length]!;
}

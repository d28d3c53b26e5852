/** Smallest and largest values of columns. */

import type { Column, Motion } from "../motion";

export interface Range {
  smallest: number;
  largest: number;
}

const kept = new WeakMap<Motion, Map<string, Range>>();

/** Over all rows that are finite; [Infinity, -Infinity] where none is. */
export function rangeOf(motion: Motion, column: string): Range {
  let ranges = kept.get(motion);
  if (!ranges) kept.set(motion, (ranges = new Map()));
  let range = ranges.get(column);
  if (!range) ranges.set(column, (range = finiteRange(motion.column(column))));
  return range;
}

/** The rows of a run changed. */
export function forgetRanges(motion: Motion): void {
  kept.delete(motion);
}

/** The largest absolute value; 0 where there is none. */
export function largestOf(motion: Motion, column: string): number {
  const { smallest, largest } = rangeOf(motion, column);
  return largest >= smallest ? Math.max(Math.abs(smallest), Math.abs(largest)) : 0;
}

function finiteRange(values: Column): Range {
  let [smallest, largest] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < smallest && value > -Infinity) smallest = value;
    if (value > largest && value < Infinity) largest = value;
  }
  return { smallest, largest };
}

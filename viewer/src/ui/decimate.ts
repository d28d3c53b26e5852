/** Long columns for drawing: the extremes of each pixel. */

import type { Column } from "../motion";

/** Of several columns over one axis of time; null is a gap. */
export type Curves = [times: number[], ...values: (number | null)[][]];

/**
 * The rows between two times, and one more on each side. Where there are more than `buckets` * 2 of them, the smallest
 * and the largest value of each of `buckets` equal spans, in their order: no peak is lost.
 */
export function decimate(times: Column, columns: Column[], rows: number, from: number, to: number, buckets: number): Curves {
  const first = Math.max(0, firstAfter(times, rows, from) - 1);
  const last = Math.min(rows, firstAfter(times, rows, to) + 1);
  if (last - first <= 2 * buckets) return slice(times, columns, first, last);
  const starts = bucketStarts(times, first, last, from, (to - from) / buckets);
  const axis: number[] = [];
  starts.forEach((start, k) => {
    const end = starts[k + 1] ?? last;
    axis.push(times[start]!);
    if (end - start > 1) axis.push(times[end - 1]!);
  });
  return [axis, ...columns.map((column) => extremes(column, starts, last))];
}

function slice(times: Column, columns: Column[], first: number, last: number): Curves {
  const cut = (column: Column): (number | null)[] => Array.from(column.subarray(first, last), finiteOrNull);
  return [Array.from(times.subarray(first, last)), ...columns.map(cut)];
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** The first row of each span that has rows. */
function bucketStarts(times: Column, first: number, last: number, from: number, width: number): number[] {
  const starts: number[] = [];
  let current = NaN;
  for (let row = first; row < last; row++) {
    const bucket = Math.floor((times[row]! - from) / width);
    if (bucket !== current) starts.push(row);
    current = bucket;
  }
  return starts;
}

function extremes(column: Column, starts: number[], last: number): (number | null)[] {
  const values: (number | null)[] = [];
  for (let k = 0; k < starts.length; k++) {
    const [start, end] = [starts[k]!, starts[k + 1] ?? last];
    let [low, high] = [start, start];
    for (let row = start + 1; row < end; row++) {
      if (column[row]! < column[low]! || Number.isNaN(column[low]!)) low = row;
      if (column[row]! > column[high]! || Number.isNaN(column[high]!)) high = row;
    }
    values.push(finiteOrNull(column[Math.min(low, high)]!));
    if (end - start > 1) values.push(finiteOrNull(column[Math.max(low, high)]!));
  }
  return values;
}

/** The first row after a time; `rows` where there is none. */
function firstAfter(times: Column, rows: number, t: number): number {
  let [low, high] = [0, rows];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! > t) high = middle;
    else low = middle + 1;
  }
  return low;
}

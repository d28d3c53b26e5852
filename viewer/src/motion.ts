/** The values of a run at a time. */

import type { Quaternion, RecordedRun, RunEvent, Scene, Vector } from "./payload";
import { unpackColumns } from "./unpack";

export type Column = Float32Array | Float64Array;

export interface Motion {
  readonly label: string;
  readonly scene: Scene;
  readonly rows: number;
  readonly begin: number; // s
  readonly end: number; // s
  readonly events: RunEvent[];
  /** Packed bytes of its model, for formulas of forces; "": the page has none. */
  readonly model: string;
  /** Parameters that differ from those of the model, by offset. */
  readonly parameters: readonly [offset: number, value: number][];
  columns(): string[];
  has(name: string): boolean;
  /** `rows` values; throws where there is no such column. */
  column(name: string): Column;
  /** The last row at or before a time; the first row before the beginning. */
  rowAt(t: number): number;
  /** Linear between rows, not across an event; NaN where there is no such column. */
  at(name: string, t: number): number;
}

/** A time between two rows: `row` + `fraction`, with 0 <= fraction < 1. */
export interface Instant {
  row: number;
  fraction: number;
  /** Weights of the rows from `first` on, of which smooth values are the sum; null: the two rows are all there is. */
  nodes?: { first: number; weights: number[] } | null;
}

/** What recorded and growing runs have in common: `column` and `events` suffice for the rest. */
export abstract class Samples implements Motion {
  abstract readonly label: string;
  abstract readonly scene: Scene;
  abstract readonly rows: number;
  abstract readonly events: RunEvent[];
  readonly model: string = "";
  readonly parameters: readonly [offset: number, value: number][] = [];
  abstract columns(): string[];
  abstract has(name: string): boolean;
  abstract column(name: string): Column;

  get begin(): number {
    return this.rows > 0 ? this.column("time")[0]! : 0;
  }

  get end(): number {
    return this.rows > 0 ? this.column("time")[this.rows - 1]! : 0;
  }

  rowAt(t: number): number {
    const times = this.column("time");
    let low = 0;
    let high = this.rows; // the row is in [low, high)
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle]! <= t) low = middle;
      else high = middle;
    }
    return low;
  }

  at(name: string, t: number): number {
    if (!this.has(name) || this.rows === 0) return NaN;
    const values = this.column(name);
    const { row, fraction } = instantOf(this, t);
    return fraction === 0 ? values[row]! : values[row]! + fraction * (values[row + 1]! - values[row]!);
  }
}

/** A run that is known from its beginning to its end. */
export class Recording extends Samples {
  readonly label: string;
  readonly rows: number;
  readonly events: RunEvent[];
  override readonly model: string;
  private readonly byName: Map<string, Column>;

  /** Columns in the order of `run.columns`. */
  constructor(
    readonly run: RecordedRun,
    readonly scene: Scene,
    values: Column[],
  ) {
    super();
    this.label = run.label;
    this.rows = run.rows;
    this.events = run.events;
    this.model = scene.model;
    this.byName = new Map(run.columns.map((name, k) => [name, values[k]!]));
  }

  static async unpack(run: RecordedRun, scenes: Scene[]): Promise<Recording> {
    return new Recording(run, scenes[run.scene]!, await unpackColumns(run.values, run.rows));
  }

  columns(): string[] {
    return this.run.columns;
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  column(name: string): Column {
    const values = this.byName.get(name);
    if (!values) throw new Error(`the run "${this.label}" has no column "${name}"`);
    return values;
  }
}

/**
 * Where a time is between the rows. Where an event is between two rows the first one holds until the event, the second
 * one from then on: velocities and forces jump there, and a value in between never occurred.
 */
export function instantOf(motion: Motion, t: number): Instant {
  const row = motion.rowAt(t);
  if (row + 1 >= motion.rows) return { row, fraction: 0 };
  const times = motion.column("time");
  const [before, after] = [times[row]!, times[row + 1]!];
  if (!(t > before) || !(after > before)) return { row, fraction: 0 };
  const event = eventBetween(motion.events, before, after);
  if (event !== null) return { row: t < event ? row : row + 1, fraction: 0 };
  const fraction = (t - before) / (after - before);
  return fraction >= 1 ? { row: row + 1, fraction: 0 } : { row, fraction, nodes: nodesAround(motion, row, t) };
}

const MOST_NODES = 3; // on either side

/**
 * The weights of Lagrange's polynomial through the rows around a time. Straight lines between poses would open loops
 * and shorten bars between rows; the polynomial keeps them within the precision of the columns.
 */
function nodesAround(motion: Motion, row: number, t: number): { first: number; weights: number[] } | null {
  const times = motion.column("time");
  const usual = times[row + 1]! - times[row]!;
  const joins = (k: number): boolean => {
    const step = times[k + 1]! - times[k]!;
    return step > 0.3 * usual && step < 3 * usual && eventBetween(motion.events, times[k]!, times[k + 1]!) === null;
  };
  let [first, last] = [row, row + 1];
  while (row - first < MOST_NODES - 1 && first > 0 && !isEvent(motion.events, times[first]!) && joins(first - 1)) first--;
  while (last - row < MOST_NODES && last + 1 < motion.rows && !isEvent(motion.events, times[last]!) && joins(last)) last++;
  if (last - first < 2) return null;
  const weights: number[] = [];
  for (let i = first; i <= last; i++) {
    let weight = 1;
    for (let k = first; k <= last; k++) if (k !== i) weight *= (t - times[k]!) / (times[i]! - times[k]!);
    weights.push(weight);
  }
  return { first, weights };
}

/** Whether an event is at a row: velocities differ before and after it. */
function isEvent(events: RunEvent[], time: number): boolean {
  return events.some(({ t }) => t === time || Math.fround(t) === time);
}

/** The time of the first event strictly between two rows, as rows store it; null: there is none. */
function eventBetween(events: RunEvent[], before: number, after: number): number | null {
  for (const { t } of events) {
    const stored = Math.fround(t); // one that is at a row in float32 separates nothing
    if (stored > before && stored < after && t > before && t < after) return t;
  }
  return null;
}

/** The columns of a pose: of the position (three) and of the quaternion (four). */
export interface PoseColumns {
  r: string[];
  Q: string[];
}

export interface Pose {
  r: Vector;
  Q: Quaternion;
}

/** The pose of a body at a time, written to `pose`; false where the run lacks it or it is not finite. */
export function poseAt(motion: Motion, body: PoseColumns, t: number, pose: Pose): boolean {
  return motion.rows > 0 && poseOf(motion, body, instantOf(motion, t), pose);
}

/** The same where the instant is known: one search serves all bodies. */
export function poseOf(motion: Motion, body: PoseColumns, instant: Instant, pose: Pose): boolean {
  if (body.r.length !== 3 || body.Q.length !== 4) return false;
  for (const name of [...body.r, ...body.Q]) if (!motion.has(name)) return false;
  const { row, fraction } = instant;
  let [chord, bend, sum] = [0, 0, 0];
  for (let k = 0; k < 3; k++) {
    const values = motion.column(body.r[k]!);
    const value = values[row]!;
    const step = fraction === 0 ? 0 : values[row + 1]! - value;
    pose.r[k] = value + fraction * step;
    sum += pose.r[k]!;
    if (!instant.nodes) continue;
    smooth[k] = weighted(values, instant.nodes);
    chord += step * step;
    bend += (smooth[k]! - pose.r[k]!) ** 2;
  }
  let cosine = 0;
  for (let k = 0; k < 4; k++) {
    const values = motion.column(body.Q[k]!);
    first[k] = values[row]!;
    second[k] = fraction === 0 ? first[k]! : values[row + 1]!;
    cosine += first[k]! * second[k]!;
  }
  // a curve far from the chord, or a large turn, says that rows are too far apart to be joined smoothly
  const smoothly = instant.nodes && bend <= 0.04 * chord + 1e-24 && Math.abs(cosine) > 0.95;
  if (smoothly) {
    for (let k = 0; k < 3; k++) pose.r[k] = smooth[k]!;
    turnSmoothly(motion, body.Q, instant.nodes!, pose.Q);
  } else slerp(first, second, cosine, fraction, pose.Q);
  for (const element of pose.Q) sum += element;
  return Number.isFinite(sum);
}

function weighted(values: Column, { first, weights }: { first: number; weights: number[] }): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += weights[i]! * values[first + i]!;
  return sum;
}

/** The weighted sum of quaternions of one sign, normalised. */
function turnSmoothly(motion: Motion, names: string[], nodes: { first: number; weights: number[] }, result: Quaternion): void {
  const columns = names.map((name) => motion.column(name));
  result.fill(0);
  for (let i = 0; i < nodes.weights.length; i++) {
    const row = nodes.first + i;
    let cosine = 0;
    for (let k = 0; k < 4; k++) cosine += columns[k]![row]! * first[k]!;
    const weight = cosine < 0 ? -nodes.weights[i]! : nodes.weights[i]!;
    for (let k = 0; k < 4; k++) result[k] = result[k]! + weight * columns[k]![row]!;
  }
  const length = Math.hypot(...result);
  for (let k = 0; k < 4; k++) result[k] = result[k]! / length;
}

const smooth: Vector = [0, 0, 0];
const first: Quaternion = [1, 0, 0, 0];
const second: Quaternion = [1, 0, 0, 0];

/** Q and -Q are the same orientation: the one nearer to the first is taken, so that a body never turns the long way. */
function slerp(a: Quaternion, b: Quaternion, cosine: number, fraction: number, result: Quaternion): void {
  const sign = cosine < 0 ? -1 : 1;
  let [x, y] = [1 - fraction, sign * fraction];
  const angle = Math.acos(Math.min(Math.abs(cosine), 1));
  if (angle > 1e-3) {
    x = Math.sin((1 - fraction) * angle) / Math.sin(angle);
    y = (sign * Math.sin(fraction * angle)) / Math.sin(angle);
  }
  let square = 0;
  for (let k = 0; k < 4; k++) {
    result[k] = fraction === 0 ? a[k]! : x * a[k]! + y * b[k]!;
    square += result[k]! ** 2;
  }
  const length = Math.sqrt(square);
  for (let k = 0; k < 4; k++) result[k] = result[k]! / length;
}

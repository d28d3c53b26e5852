/** What the page and its worker tell each other. */

import type { RunEvent, Vector } from "../payload";

/** Numbers of the block by offset. */
export type Values = [offset: number, value: number][];

/** What a run is made of besides the model. */
export interface RunRequest {
  parameters: Values; // and start values, that differ from those of the model
  inputs: Values;
  t_end: number; // s
  rtol: number;
  atol: number;
  rowsPerSecond: number;
}

export interface PoseRequest {
  parameters: Values; // without start values of coordinates
  inputs: Values;
  guesses: Values; // start values of coordinates
  /** Those that assembly is to keep, joint by joint, the first ones longest. */
  kept: Values[];
}

export interface Setup {
  module: ArrayBuffer;
  model: ArrayBuffer;
  /** Offsets of the columns of a row; -1 is the time of the row. */
  offsets: number[];
  /** Offsets of the force that drags each body, by name. */
  drag: Record<string, { point: number; force: number }>;
}

/** Every request but `setup` has a number, which its answers bear. */
export type Request =
  | { type: "setup"; setup: Setup }
  | { type: "run"; id: number; run: RunRequest }
  | { type: "pose"; id: number; pose: PoseRequest }
  | { type: "grab"; id: number; body: string; point: Vector; target: Vector; t: number }
  | { type: "move"; target: Vector }
  | { type: "release"; id: number }
  | { type: "stop" };

export type Answer =
  | { type: "ready"; version: string }
  /** Keep so many rows of those sent; others follow. */
  | { type: "truncate"; id: number; rows: number }
  | { type: "rows"; id: number; rows: Float64Array<ArrayBuffer>; events: RunEvent[] }
  | { type: "done"; id: number; message: string }
  | { type: "pose"; id: number; row: Float64Array<ArrayBuffer>; starts: Values }
  | { type: "failed"; id: number; name: string; message: string };

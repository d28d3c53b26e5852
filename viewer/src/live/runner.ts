/** The simulation in the worker: runs, poses and dragging, in parts so short that messages get through. */

import { LinkworkError, MechanismError } from "../core/errors";
import type { Core } from "../core/memory";
import { Model, Stage } from "../core/model";
import { OutputReader } from "../core/outputs";
import {
  assembled,
  AUTOMATIC_GAIN,
  inputsOf,
  type Row,
  Simulation,
  type SimulationEvent,
  type Start,
  startOf,
} from "../core/simulation";
import { State } from "../core/state";
import type { RunEvent, Vector } from "../payload";
import { Drag, SAMPLE } from "./drag";
import type { Answer, PoseRequest, RunRequest, Setup, Values } from "./messages";

const AHEAD = 60; // s of the run that a drag may last until its rows are allotted anew
const LONGEST_LAG = 0.1; // s: a page that slept is not caught up with
const MOST_VALUES = 2e7; // numbers of all rows: 160 MB

/** Where a run stands: what another part of it needs to go on. */
interface Progress {
  request: RunRequest;
  model: Model;
  simulation: Simulation;
  reader: OutputReader;
  inputs: Float64Array;
  /** All rows that were sent. */
  rows: Row[];
  sentEvents: number;
  pending: number; // rows of the simulation that are sent
}

export class Runner {
  private readonly described: Model;
  private progress: Progress | null = null;
  private drag: { held: Drag; since: number; from: number } | null = null;
  private id = 0;

  constructor(
    core: Core,
    private readonly setup: Setup,
    private readonly send: (answer: Answer, transfer?: Transferable[]) => void,
    private readonly clock: () => number, // s
  ) {
    this.described = new Model(core, new Uint8Array(setup.model));
  }

  /** Whether `work` has something to do. */
  get busy(): boolean {
    return this.progress !== null && (this.drag !== null || !this.progress.simulation.done);
  }

  /** Whether a body is dragged, so that the simulation keeps to real time. */
  get dragging(): boolean {
    return this.drag !== null;
  }

  /** Begin a run from the start values. */
  run(id: number, request: RunRequest): void {
    this.end();
    this.id = id;
    this.attempt(() => {
      const times = new Float64Array([0, ...timesBetween(0, request.t_end, request.rowsPerSecond)]);
      this.limit(times.length);
      this.progress = this.started(request, times);
      this.send({ type: "truncate", id, rows: 0 });
    });
  }

  /** Assemble a pose; the run that there is stays. */
  pose(id: number, request: PoseRequest): void {
    let model: Model | null = null;
    let state: State | null = null;
    try {
      model = this.described.withParameters(new Map(request.parameters));
      const inputs = this.inputs(model, request.inputs);
      state = new State(model);
      state.reals.set(inputs, model.inputs.first);
      this.keep(state, request);
      state.putMotion(0, state.at("motion_in").slice());
      state.assemble();
      const start = startOf(state);
      const values = [...start.y.subarray(0, model.sizes.nq), ...start.revolutions];
      const first = model.field("q_start").first;
      const row = this.poseRow(model, start, state);
      this.send({ type: "pose", id, row, starts: values.map((value, i) => [first + i, value]) }, [row.buffer]);
    } catch (error) {
      this.fail(id, error);
    } finally {
      state?.free();
      model?.free();
    }
  }

  /** Pull a body from a time of the run on; the rows after it are given up. */
  grab(id: number, body: string, point: Vector, target: Vector, t: number): void {
    const { progress } = this;
    const offsets = this.setup.drag[body];
    if (!offsets) return;
    this.id = id;
    this.attempt(() => {
      if (!progress) throw new MechanismError(`there is no run in which to pull ${body}: correct the settings, or run again`);
      const masses = progress.simulation.state.at("body_mass").slice();
      const held = new Drag(progress.model, body, offsets, point, target, masses);
      this.continueAt(t, AHEAD);
      this.drag = { held, since: this.clock(), from: progress.simulation.t };
    });
  }

  move(target: Vector): void {
    if (this.drag) this.drag.held.target = target;
  }

  /** Let go; the run goes on to its end. */
  release(id: number): void {
    const { progress } = this;
    this.id = id;
    if (!this.drag || !progress) return this.send({ type: "done", id, message: "" }); // it has ended before
    this.drag = null;
    this.attempt(() => {
      const { simulation } = progress;
      this.flush(true);
      this.replace(simulation.startAt(), Math.max(progress.request.t_end, simulation.t));
    });
  }

  /** Give up what is being simulated; the rows so far stay. */
  stop(): void {
    this.drag = null;
    if (this.progress) this.progress.simulation.done = true;
  }

  /** Simulate for some milliseconds, or as far as a drag has real time, and send rows. */
  work(milliseconds: number): void {
    const { progress } = this;
    if (!progress) return;
    const { simulation } = progress;
    const until = this.clock() + milliseconds / 1000;
    this.attempt(() => {
      if (this.drag) this.follow(until);
      else while (!simulation.done && this.clock() < until) simulation.advance();
      this.flush(simulation.done);
      if (this.drag && simulation.done) this.continueAt(simulation.t, AHEAD);
      else if (simulation.done) this.send({ type: "done", id: this.id, message: simulation.message });
    });
  }

  // ---- dragging ----

  /** Keep up with the clock, sample by sample. */
  private follow(until: number): void {
    const drag = this.drag!;
    const { simulation, inputs } = this.progress!;
    const now = this.clock();
    const due = drag.from + now - drag.since;
    if (due - simulation.t > LONGEST_LAG) drag.since += due - simulation.t - LONGEST_LAG;
    while (!simulation.done && simulation.t + SAMPLE <= drag.from + now - drag.since && this.clock() < until) {
      simulation.enter(simulation.t, simulation.y);
      simulation.setInputs(drag.held.apply(simulation.state, inputs));
      simulation.advanceTo(simulation.t + SAMPLE);
    }
  }

  /** Go on from the last row at or before a time, for at least so many seconds. */
  private continueAt(t: number, ahead: number): void {
    const progress = this.progress!;
    this.flush(true);
    let kept = progress.rows.length;
    while (kept > 1 && progress.rows[kept - 1]!.t > t) kept--;
    const row = progress.rows[kept - 1];
    if (!row) return;
    const { simulation } = progress;
    const start = row.t === simulation.t ? simulation.startAt() : simulation.startAt(row);
    progress.rows.length = kept;
    this.send({ type: "truncate", id: this.id, rows: kept });
    this.replace(start, Math.max(progress.request.t_end, start.t + ahead));
  }

  /** Take a new simulation from a start on. */
  private replace(start: Start, t_end: number): void {
    const progress = this.progress!;
    const times = Float64Array.from(timesBetween(start.t, t_end, progress.request.rowsPerSecond));
    this.limit(progress.rows.length + times.length);
    const simulation = this.simulation(progress.model, start, { ...progress.request, t_end }, progress.inputs, times);
    progress.simulation.free();
    Object.assign(progress, { simulation, sentEvents: 0, pending: 0 });
  }

  // ---- rows ----

  /** Send rows; the last one may change as long as the run is not done. */
  private flush(all: boolean): void {
    const { simulation, reader, rows, pending, sentEvents } = this.progress!;
    const upTo = all ? simulation.rows.length : simulation.rows.length - 1;
    if (upTo <= pending) return;
    const width = this.setup.offsets.length;
    const fresh = simulation.rows.slice(pending, upTo);
    const values = new Float64Array(fresh.length * width);
    fresh.forEach((row, i) => this.read(reader, row, values.subarray(i * width, (i + 1) * width)));
    rows.push(...fresh);
    const events = simulation.events.slice(sentEvents).map(eventOf);
    Object.assign(this.progress!, { pending: upTo, sentEvents: simulation.events.length });
    this.send({ type: "rows", id: this.id, rows: values, events }, [values.buffer]);
  }

  private read(reader: OutputReader, row: Row, values: Float64Array): void {
    reader.read(row, values);
    this.setup.offsets.forEach((offset, k) => {
      if (offset < 0) values[k] = row.t;
    });
  }

  private limit(rows: number): void {
    if (rows * this.setup.offsets.length <= MOST_VALUES) return;
    throw new MechanismError(`${rows} rows take too much memory: shorten the run or ask for fewer rows per second`);
  }

  // ---- parts ----

  /** A run at its start; where it cannot start, its memory is free again. */
  private started(request: RunRequest, times: Float64Array): Progress {
    const model = this.described.withParameters(new Map(request.parameters));
    try {
      const inputs = this.inputs(model, request.inputs);
      const simulation = this.simulation(model, assembled(model, inputs), request, inputs, times);
      return { request, model, simulation, reader: this.reader(model), inputs, rows: [], sentEvents: 0, pending: 0 };
    } catch (error) {
      model.free();
      throw error;
    }
  }

  private reader(model: Model): OutputReader {
    return new OutputReader(model, this.setup.offsets.map((offset) => Math.max(offset, 0)));
  }

  private simulation(model: Model, start: Start, run: RunRequest, inputs: Float64Array, times: Float64Array): Simulation {
    const { t_end, rtol, atol } = run;
    return new Simulation(model, start, { t_end, rtol, ...(atol === rtol ? {} : { atol }), t_eval: times, inputs, eventRows: true });
  }

  private inputs(model: Model, given: Values): Float64Array {
    const state = new State(model);
    try {
      if (given.length > 0) state.set(new Map(given));
      return inputsOf(state);
    } finally {
      state.free();
    }
  }

  /** Write guesses, and start values that assembly keeps before those of the description. */
  private keep(state: State, { guesses, kept }: PoseRequest): void {
    const [start, priority] = [state.model.field("q_start").first, state.model.field("q_priority").first];
    for (const [offset, value] of guesses) state.reals[offset] = value;
    kept.forEach((values, k) => {
      for (const [offset, value] of values) {
        state.reals[offset] = value;
        state.reals[offset - start + priority] = (k + 1) / (k + 2); // as Model.assemble(q=...) of Python does
      }
    });
    state.changed(Stage.NONE);
  }

  private poseRow(model: Model, start: Start, state: State): Float64Array<ArrayBuffer> {
    const reader = this.reader(model);
    try {
      const values = new Float64Array(this.setup.offsets.length);
      this.read(reader, { ...start, discrete: null, inputs: inputsOf(state), gain: AUTOMATIC_GAIN }, values);
      return values;
    } finally {
      reader.free();
    }
  }

  private end(): void {
    this.drag = null;
    this.progress?.simulation.free();
    this.progress?.reader.free();
    this.progress?.model.free();
    this.progress = null;
  }

  /** Do something; where it fails, send what there is and the reason. */
  private attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.stop();
      if (this.progress) this.flush(true);
      this.fail(this.id, error);
    }
  }

  private fail(id: number, error: unknown): void {
    const { name, message } = error instanceof LinkworkError ? error : overflow(error);
    this.send({ type: "failed", id, name, message });
  }
}

/** A trap of WebAssembly in words. */
function overflow(error: unknown): { name: string; message: string } {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (!(error instanceof WebAssembly.RuntimeError)) return { name, message };
  return { name, message: `the simulator's core stopped: ${message}; reload the page` };
}

function eventOf({ t, transitions }: SimulationEvent): RunEvent {
  return { t, text: transitions.join(", ") };
}

/** Times of the rows after a time: multiples of their spacing, and the end. */
export function timesBetween(begin: number, t_end: number, rowsPerSecond: number): number[] {
  if (!(rowsPerSecond > 0 && Number.isFinite(rowsPerSecond))) {
    throw new MechanismError(`rows per second must be a positive number, not ${rowsPerSecond}`);
  }
  if (!(Number.isFinite(t_end) && t_end >= begin)) throw new MechanismError(`the duration must be a number of seconds from ${begin} on, not ${t_end}`);
  if ((t_end - begin) * rowsPerSecond > MOST_VALUES) throw new MechanismError("shorten the run or ask for fewer rows");
  const times: number[] = [];
  for (let k = Math.floor(begin * rowsPerSecond); k / rowsPerSecond < t_end; k++) {
    if (k / rowsPerSecond > begin) times.push(k / rowsPerSecond);
  }
  if (t_end > begin) times.push(t_end);
  return times;
}

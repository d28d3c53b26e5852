/** A simulation of the core: its runs in TypeScript's arrays. */

import { errorOf } from "./errors";
import type { Model } from "./model";
import { State } from "./state";

export const AUTOMATIC_GAIN = -1; // of the feedback that keeps loops closed
const AUTO = 2; // LW_ODE_AUTO
const OPTIONS = 104; // bytes of lw_run_options
const STRUCT = 32; // of the largest of the others
const COLUMNS = 4; // addresses in a list of the core, at least
const MESSAGE = 1600;
const Outcome = { GOES_ON: 0, DONE: 1, FAILED: 2 } as const;

/** What the step size control remembers: the next step, the last error, the choice of method. */
export type StepControl = Float64Array;

/** Where a run begins: states [q; u; those of elements], revolutions of the cut joints, and what transitions have changed. */
export interface Start {
  t: number;
  y: Float64Array;
  revolutions: Float64Array;
  discrete: Float64Array;
  control: StepControl | null;
}

/** States and all that their outputs depend on. */
export interface Row {
  t: number;
  y: Float64Array;
  revolutions: Float64Array;
  discrete: Float64Array | null; // null without transitions
  inputs: Float64Array;
  gain: number; // of the feedback that keeps loops closed
}

export interface SimulationEvent {
  t: number;
  transitions: string[];
}

export interface SimulationOptions {
  t_end: number;
  rtol?: number;
  /** By default `rtol`, by the sizes of the mechanism. */
  atol?: number;
  /** Times of the rows; null: the end of every step, and the states after events. */
  t_eval?: Float64Array | null;
  /** All inputs, in the order of the block; by default those of the model. */
  inputs?: Float64Array | null;
  /** Rows before and after every event although times are given. */
  eventRows?: boolean;
}

/** The state that assembly finds from the start values of a model. */
export function assembled(model: Model, inputs: Float64Array | null = null): Start {
  const state = new State(model);
  try {
    const { first, count } = model.field("motion_in");
    const motion = (inputs ?? inputsOf(state)).subarray(first - model.inputs.first).subarray(0, count);
    state.putMotion(0, motion);
    state.assemble();
    return startOf(state);
  } finally {
    state.free();
  }
}

/** The state in which a block is. */
export function startOf(state: State): Start {
  const revolutions = state.get("q_cut");
  const y = new Float64Array([...state.at("q"), ...state.at("u"), ...state.at("element_state")]);
  return { t: state.at("time")[0]!, y, revolutions, discrete: state.discrete, control: null };
}

/** All inputs of a block. */
export function inputsOf(state: State): Float64Array {
  const { first, count } = state.model.inputs;
  return state.reals.slice(first, first + count);
}

export class Simulation {
  /** In which the run computes. */
  readonly state: State;
  /** In the order of time; the last one may change until the run is done. */
  readonly rows: Row[] = [];
  readonly events: SimulationEvent[] = [];
  done = false;
  message = "";
  private readonly handle: number;
  private readonly phases: Pick<Row, "discrete" | "inputs">[] = [];
  private readonly transitions: string[];
  private readonly gain: number;

  constructor(
    readonly model: Model,
    start: Start,
    private readonly options: SimulationOptions,
  ) {
    this.handle = this.created(start);
    this.state = new State(model, this.call.lw_run_state(this.handle));
    this.transitions = model.names("transition");
    this.gain = this.state.at("correction_gain")[0]!;
    this.take();
  }

  free(): void {
    this.call.lw_run_free(this.handle);
    this.state.free();
  }

  get t_end(): number {
    return this.options.t_end;
  }

  /** Time and states that are reached, after the last event. */
  get t(): number {
    return this.reached.t;
  }

  get y(): Float64Array {
    return this.reached.y;
  }

  /** Take some steps; return whether the run is done. */
  advance(tries = 0): boolean {
    this.step(Infinity, tries);
    return this.done;
  }

  /** Integrate exactly to a time, at which inputs may change. */
  advanceTo(t: number): void {
    while (!this.done && this.t < t) this.step(t, 0);
  }

  /** Inputs from here on; between two segments only, as after `advanceTo`. */
  setInputs(inputs: Float64Array): void {
    this.model.core.withDoubles(inputs, (address) => this.call.lw_run_set_inputs(this.handle, address));
    this.take();
  }

  /** Where another run can continue this one at a row, or at what is reached. */
  startAt(row: Row | null = null): Start {
    if (row === null) return this.reached;
    return { ...row, discrete: row.discrete ?? this.state.discrete, control: null };
  }

  /** Bring the block to a time and states. */
  enter(t: number, y: Float64Array): void {
    this.state.enter(y, this.phases.at(-1)!.inputs, t);
  }

  private step(until: number, tries: number): void {
    if (this.done) return;
    this.call.lw_run_advance(this.handle, until, BigInt(tries));
    this.take();
  }

  // ---- structs of the core ----

  private created(start: Start): number {
    const { core, inputs: given } = this.model;
    const { t_end, rtol = 1e-8, atol = 0, t_eval = null, eventRows = false } = this.options;
    const inputs = this.options.inputs ?? null;
    const numbers = [start.y, start.revolutions, start.discrete, start.control ?? [], inputs ?? new Float64Array(given.count), t_eval ?? []];
    const flat = numbers.flatMap((list) => [...list]);
    return core.withDoubles(flat, (first) =>
      core.with(OPTIONS + STRUCT + 8 + MESSAGE, (options) => {
        const addresses: number[] = [];
        numbers.reduce((at, list) => (addresses.push(at), at + 8 * list.length), first);
        const [y, revolutions, discrete, control, loads, times] = addresses as [number, number, number, number, number, number];
        const [point, handle, message] = [options + OPTIONS, options + OPTIONS + STRUCT, options + OPTIONS + STRUCT + 8];
        core.doubles(options, OPTIONS / 8).set([t_end, rtol, atol, 0, 0, AUTOMATIC_GAIN, AUTOMATIC_GAIN, 0, 0, 0, 0, 0, 0]);
        core.integers(options + 72, 2).set([AUTO, Number(eventRows)]);
        core.data.setBigInt64(options + 80, BigInt(t_eval?.length ?? 0), true);
        core.integers(options + 88, 1)[0] = t_eval ? times : 0;
        core.doubles(point, 1)[0] = start.t;
        core.integers(point + 8, 4).set([y, revolutions, discrete, start.control ? control : 0]);
        const call = core.call.lw_run_create;
        const status = call(this.model.handle, options, inputs ? loads : 0, point, handle, message, MESSAGE);
        if (status) throw errorOf(status, core.text(message));
        return core.data.getUint32(handle, true);
      }),
    );
  }

  private get reached(): Start {
    const { core, sizes, discrete: changing } = this.model;
    return core.with(STRUCT, (point) => {
      this.call.lw_run_reached(point, this.handle);
      const [y, revolutions, discrete, control] = core.integers(point + 8, 4) as unknown as [number, number, number, number];
      return {
        t: core.doubles(point, 1)[0]!,
        y: core.doubles(y, sizes.states).slice(),
        revolutions: core.doubles(revolutions, sizes.nq_cut).slice(),
        discrete: core.doubles(discrete, changing.count).slice(),
        control: control ? core.doubles(control, 3).slice() : null,
      };
    });
  }

  /** Take over what the run has recorded; throw where it has failed. */
  private take(): void {
    const { states, nq_cut, transitions } = this.model.sizes;
    const core = this.model.core;
    const changing = transitions ? this.model.discrete.count : 0;
    this.list("lw_run_get_phases", [this.model.inputs.count, 1], this.phases.length, ([inputs, row], columns) => {
      const discrete = transitions ? core.doubles(columns[3]! + 8 * changing * row![0]!, changing).slice() : null;
      this.phases.push({ inputs: inputs!, discrete });
    });
    this.list("lw_run_get_events", [1, transitions], this.events.length, ([t, fired]) => {
      this.events.push({ t: t![0]!, transitions: this.transitions.filter((_, k) => fired![k] !== 0) });
    });
    this.rows.length = Math.max(this.rows.length - 1, 0);
    this.list("lw_run_get_rows", [1, states, nq_cut, 1], this.rows.length, ([t, y, revolutions, phase]) => {
      this.rows.push({ t: t![0]!, y: y!, revolutions: revolutions!, ...this.phases[phase![0]!]!, gain: this.gain });
    });
    const outcome = this.call.lw_run_get_outcome(this.handle);
    this.done ||= outcome !== Outcome.GOES_ON;
    if (this.done) this.message = this.model.core.text(this.call.lw_run_message(this.handle));
    if (outcome === Outcome.FAILED) throw errorOf(this.call.lw_run_status(this.handle), this.message);
  }

  /** Rows of equal length from one on, in the columns of a list of the core. */
  private list(name: "lw_run_get_rows" | "lw_run_get_phases" | "lw_run_get_events", widths: number[], from: number, use: (row: Float64Array[], columns: number[]) => void): void {
    const { core } = this.model;
    core.with(STRUCT, (struct) => {
      this.call[name](struct, this.handle);
      const count = Number(core.data.getBigInt64(struct, true));
      const columns = [...core.integers(struct + 8, COLUMNS)];
      for (let k = from; k < count; k++) {
        use(widths.map((width, i) => core.doubles(columns[i]! + 8 * k * width, width).slice()), columns);
      }
    });
  }

  private get call() {
    return this.model.core.call;
  }
}

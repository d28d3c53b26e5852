/**
 * One simulation with the explicit integrator of the core and inputs that are constant between samples: segments
 * between time events, from one discrete state to the next. It takes the same steps as `simulate` in Python, so that
 * all numbers are the same to the bit.
 */

import { ChatteringGuard } from "./chattering";
import { LinkworkError, MechanismError } from "./errors";
import { explained } from "./explanation";
import { Integrator, MAX_SAMPLES, Output, type StepControl, stopped, TOO_MANY_STEPS } from "./integrator";
import { type Model, type Sizes, Stage } from "./model";
import { general } from "./numbers";
import { State } from "./state";

export const AUTOMATIC_GAIN = -1; // of the feedback that keeps loops closed
const STEP_SHARE = 0.1; // of the accuracy asked for: the errors of the steps add up
const SMALLEST_RTOL = 100 * Number.EPSILON;
const MAX_STEPS = 10_000_000;
const MOST_BYTES = 64 * 2 ** 20; // of the rows in the memory of the core
const STEPS_AT_ONCE = 256;
const ROWS_AT_ONCE = STEPS_AT_ONCE + MAX_SAMPLES; // unless times are given
const FULL_GAIN_UNTIL = 10; // s, of the end; after it the least gain of the feedback decreases
const FIRST_ERROR = 1e-4; // the norm of the last error that a start assumes

/** Where a run begins: states [q; u], revolutions of the cut joints, and what transitions have changed. */
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
  const y = new Float64Array([...state.at("q"), ...state.at("u")]);
  return { t: state.at("time")[0]!, y, revolutions, discrete: state.discrete, control: null };
}

/** All inputs of a block. */
export function inputsOf(state: State): Float64Array {
  const { first, count } = state.model.inputs;
  return state.reals.slice(first, first + count);
}

export class Simulation {
  readonly state: State;
  /** In the order of time; the last one may change until the run is done. */
  readonly rows: Row[] = [];
  readonly events: SimulationEvent[] = [];
  /** Time and states that are reached, after the last event. */
  t: number;
  y: Float64Array;
  done = false;
  message = "";

  private readonly options: Required<SimulationOptions>;
  private readonly output: Output;
  private readonly latest: number; // address of the coordinates of the cut joints at the last step
  private readonly guard: ChatteringGuard;
  private readonly counting: boolean;
  private readonly watching: boolean; // constraints are compared with the tolerances
  private readonly gain: number;
  private readonly transitions: string[];
  private inputs: Float64Array;
  private discrete: Float64Array | null;
  private integrator: Integrator | null = null;
  private until = NaN; // end of the segment
  private control: StepControl | null; // with which the next segment begins
  private taken = 0; // rows of the output that are in `rows`
  private readonly scaled: boolean; // absolute tolerances follow the sizes of the mechanism
  private tolerances: Float64Array | null = null;
  private pastSteps = 0; // of the segments that have ended

  constructor(
    readonly model: Model,
    start: Start,
    options: SimulationOptions,
  ) {
    this.options = { rtol: 1e-8, atol: options.rtol ?? 1e-8, t_eval: null, inputs: null, eventRows: false, ...options };
    this.scaled = options.atol === undefined;
    const { sizes } = model;
    checkOptions(start.t, this.options);
    checkRows(sizes, this.options);
    this.t = start.t;
    this.state = new State(model);
    this.inputs = this.options.inputs ?? inputsOf(this.state);
    this.latest = model.core.allocateDoubles(sizes.nq_cut);
    this.output = new Output(this.state, this.options.t_eval?.length ?? ROWS_AT_ONCE, this.options.t_eval !== null);
    if (this.options.t_eval) this.output.all.set(this.options.t_eval);
    this.control = start.control;
    this.guard = new ChatteringGuard();
    this.counting = this.mustCountRevolutions();
    this.watching = sizes.loops > 0 || sizes.couplings > 0 || sizes.transitions > 0;
    const longest = Math.max(Math.abs(this.options.t_end), this.options.t_end - this.t);
    this.gain = AUTOMATIC_GAIN * (longest ? Math.min(1, FULL_GAIN_UNTIL / longest) : 1);
    this.transitions = model.names("transition");
    this.y = start.y.slice();
    this.discrete = null;
    try {
      this.begin(start);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  free(): void {
    this.integrator?.free();
    this.output.free();
    this.model.core.call.free(this.latest);
    this.state.free();
  }

  get t_end(): number {
    return this.options.t_end;
  }

  /** Take some steps; return whether the run is done. */
  advance(tries = STEPS_AT_ONCE): boolean {
    this.attempt(() => this.step(Infinity, tries));
    return this.done;
  }

  /** Integrate exactly to a time, at which inputs may change. */
  advanceTo(t: number): void {
    while (!this.done && this.t < t) this.attempt(() => this.step(t, STEPS_AT_ONCE));
  }

  /** Inputs from here on; between two segments only, as after `advanceTo`. */
  setInputs(inputs: Float64Array): void {
    this.attempt(() => {
      const before = this.signs();
      this.inputs = inputs.slice();
      const after = this.signs();
      // a jump of loads makes transitions due: parts that rest on a stop are lifted off
      if (after.some((positive, i) => positive !== before[i])) this.handleDue();
    });
  }

  /** Where another run can continue this one at a row, or at what is reached. */
  startAt(row: Row | null = null): Start {
    const { y, revolutions, discrete, t } = row ?? { ...this, revolutions: this.revolutions.slice() };
    const control = row === null ? this.control : null;
    return { t, y, revolutions, discrete: discrete ?? this.state.discrete, control };
  }

  // ---- segments ----

  private step(sample: number, tries: number): void {
    const integrator = this.integrator ?? this.beginSegment(sample);
    if (integrator.t !== this.until) {
      const left = MAX_STEPS - this.pastSteps - this.attempts(integrator);
      if (left <= 0) throw stopped(this.t, this.y, TOO_MANY_STEPS);
      const event = this.runIntegrator(integrator, Math.min(tries, left));
      if (event) this.handleEvent(integrator);
    }
    if (integrator.t === this.until) this.endSegment(integrator);
  }

  private begin(start: Start): void {
    const { state } = this;
    if (this.model.sizes.transitions) state.putDiscrete(start.discrete);
    state.countRevolutions(start.revolutions);
    state.put("correction_gain", [this.gain, this.gain], Stage.NONE);
    this.enter(start.t, start.y);
    this.revolutions.set(start.revolutions);
    if (!this.model.sizes.transitions) return;
    state.disableEventLimit(); // the guard has one
    if (!this.carryOut(() => state.startEvents())) this.discrete = state.discrete;
  }

  private beginSegment(sample: number): Integrator {
    this.until = Math.min(this.options.t_end, this.nextEventTime, sample);
    if (this.discrete) this.state.putDiscrete(this.discrete);
    const rtol = Math.max(this.options.rtol * STEP_SHARE, SMALLEST_RTOL);
    const atol = this.options.atol * STEP_SHARE || this.options.atol;
    const { counting, watching, latest: address } = this;
    this.integrator = new Integrator(this.state, rtol, atol, { counting, watching, address });
    this.setTolerances(atol);
    this.watch();
    this.guard.begin(this.t);
    this.limitRows();
    this.addStartRow();
    this.integrator.start(this.t, this.y, this.control);
    this.control = null;
    return this.integrator;
  }

  /** Begin to compare the residuals of constraints with the tolerances. */
  private watch(): void {
    if (!this.watching) return;
    this.enter(this.t, this.y);
    this.state.watchConstraints(this.options.rtol, this.options.atol);
  }

  /** By the sizes of the mechanism at the start, unless they are given; later segments go on with what has grown. */
  private setTolerances(atol: number): void {
    if (!this.scaled) return;
    const { core } = this.model;
    if (this.tolerances === null) {
      const { t_end } = this.options;
      const duration = Math.max(Math.abs(t_end), t_end - this.t);
      this.enter(this.t, this.y);
      core.withDoubles(this.y, (address) => {
        core.call.lw_absolute_tolerances(this.state.handle, duration, atol, address);
        this.tolerances = core.doubles(address, this.y.length).slice();
      });
    }
    core.withDoubles(this.tolerances!, (address) => this.integrator!.setTolerances(address));
  }

  private endSegment(integrator: Integrator): void {
    const { until } = this;
    const reached = this.y;
    this.pastSteps += this.attempts(integrator);
    this.control = integrator.stepControl;
    const { choice } = this.control;
    this.tolerances = integrator.tolerances;
    integrator.free();
    this.integrator = null;
    const due = this.model.sizes.transitions > 0 && this.state.nextEventTime <= until;
    if (due) {
      this.enter(until, reached);
      // the states may have jumped; the method is kept
      this.control = { nextStep: 0, previousError: FIRST_ERROR, choice };
      this.handleDue();
    }
    if (this.model.sizes.transitions) this.discrete = this.state.discrete;
    if (until !== this.options.t_end) return;
    if (!same(this.y, reached)) this.addLastRow();
    this.done = true;
    this.message = `reached t = ${general(until, 15)}`;
  }

  private get nextEventTime(): number {
    return this.model.sizes.transitions ? this.state.nextEventTime : Infinity;
  }

  private attempts(integrator: Integrator): number {
    const { steps, rejected } = integrator.statistics;
    return steps + rejected;
  }

  private attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.done = true;
      const cause = error instanceof LinkworkError ? explained(error, this) : error;
      this.message = String((cause as Error).message ?? cause);
      throw cause;
    }
  }

  // ---- events ----

  private handleEvent(integrator: Integrator): void {
    this.guard.checkNumber(this.t);
    const before = this.y;
    this.enter(this.t, before);
    this.addEventRow(before);
    const changed = this.carryOut(() => this.state.handleEvents());
    if (changed) this.countRevolutions();
    this.guard.record(this.t, integrator.crossings);
    if (changed && !this.options.t_eval) this.addRow(this.t, this.y);
    this.addEventRow(this.y);
    this.guard.check(this.t);
    if (this.t === this.until) return;
    integrator.start(this.t, this.y);
  }

  /** Carry out the transitions that are due between two segments. */
  private handleDue(): void {
    this.addEventRow(this.y);
    if (this.carryOut(() => this.state.handleEvents())) this.countRevolutions();
    this.addEventRow(this.y);
  }

  /** Which event indicators are positive; brings the block to the present states. */
  private signs(): boolean[] {
    this.enter(this.t, this.y);
    return this.model.sizes.event_indicators ? Array.from(this.state.eventIndicators(), (value) => value > 0) : [];
  }

  /** Carry out transitions that are due; the states after them are those of the run. Return whether there were any. */
  private carryOut(action: () => void): boolean {
    const { state } = this;
    const before = state.at("event_count")[0]!;
    action();
    if (state.at("event_count")[0] === before) return false;
    this.y = new Float64Array([...state.at("q"), ...state.at("u")]);
    this.discrete = state.discrete;
    const memory = state.at("transition_memory").slice();
    const width = memory.length / this.model.sizes.transitions;
    const fired = this.transitions.filter((_, k) => memory[(k + 1) * width - 1]! > before);
    this.events.push({ t: this.t, transitions: fired });
    return true;
  }

  // ---- rows ----

  /** Let the integrator take steps and fill rows; return whether it stopped at an event. */
  private runIntegrator(integrator: Integrator, tries: number): boolean {
    if (!this.output.timesGiven) this.output.count = this.taken = 0;
    let event: boolean;
    try {
      event = integrator.run(this.until, tries, this.output);
    } finally {
      this.takeRows();
      this.t = integrator.t;
      this.y = integrator.y;
    }
    return event;
  }

  private takeRows(): void {
    for (; this.taken < this.output.count; this.taken++) {
      this.rows.push({ ...this.output.row(this.taken), ...this.constants });
    }
  }

  private addRow(t: number, y: Float64Array): void {
    this.rows.push({ t, y, revolutions: this.revolutions.slice(), ...this.constants });
  }

  /** What rows have in common until the next event. */
  private get constants(): Pick<Row, "discrete" | "inputs" | "gain"> {
    return { discrete: this.discrete, inputs: this.inputs, gain: this.gain };
  }

  /** A row on either side of an event, for those who draw. */
  private addEventRow(y: Float64Array): void {
    const last = this.rows.at(-1);
    if (!this.options.eventRows || !this.options.t_eval || (last && last.t === this.t && same(last.y, y))) return;
    this.addRow(this.t, y);
  }

  /** At the start of a segment, if a row is wanted there. */
  private addStartRow(): void {
    if (!this.options.t_eval) return this.addRow(this.t, this.y);
    if (this.output.complete || this.output.all[this.output.count] !== this.t) return;
    this.addRow(this.t, this.y);
    this.output.count = ++this.taken;
  }

  /** Leave the times from the end of the segment on to the next one. */
  private limitRows(): void {
    if (!this.options.t_eval) return;
    const times = this.options.t_eval;
    let limit = times.length;
    if (this.until !== this.options.t_end) while (limit > 0 && times[limit - 1]! >= this.until) limit--;
    this.output.limit = limit;
  }

  /** A jump at the end of the run: a further row, or in the row of that time if times are given. */
  private addLastRow(): void {
    if (!this.options.t_eval) return this.addRow(this.t, this.y);
    const last = this.rows.at(-1);
    if (last && last.t === this.t) Object.assign(last, { y: this.y, discrete: this.discrete });
  }

  // ---- the block ----

  enter(t: number, y: Float64Array): void {
    this.state.enter(y, this.inputs, t);
  }

  /** The coordinates of the cut joints where they were last counted, in the memory of the core. */
  private get revolutions(): Float64Array {
    return this.model.core.doubles(this.latest, this.model.sizes.nq_cut);
  }

  private countRevolutions(): void {
    const counted = this.state.stepAccepted();
    this.revolutions.set(counted);
  }

  /** They matter for springs and couplings, and where the spacing of rows exceeds the steps. */
  private mustCountRevolutions(): boolean {
    const { nu, nq_cut, couplings } = this.model.sizes;
    const springs = this.state.at("stiffness").subarray(nu);
    return nq_cut > 0 && (this.options.t_eval !== null || couplings > 0 || springs.some((k) => k !== 0));
  }
}

function checkOptions(t: number, { t_end, rtol, atol, t_eval }: Required<SimulationOptions>): void {
  if (!(Number.isFinite(t_end) && t_end >= t)) throw new MechanismError(`t_end must be a time from ${t} s on`);
  if (!(rtol >= SMALLEST_RTOL && rtol < Infinity)) {
    throw new MechanismError(`rtol = ${rtol} cannot be kept in double precision; give at least 2.2e-14`);
  }
  if (!(atol > 0 && atol < Infinity)) throw new MechanismError(`atol = ${atol}; give a positive number`);
  if (t_eval?.some((time, i) => !(time >= t && time <= t_end) || (i > 0 && !(time > t_eval[i - 1]!)))) {
    throw new MechanismError("the times of the rows must increase strictly within the run");
  }
}

function checkRows({ nq, nu, nq_cut }: Sizes, { t_eval }: Required<SimulationOptions>): void {
  const rows = t_eval?.length ?? ROWS_AT_ONCE;
  if (8 * rows * (1 + nq + nu + nq_cut) <= MOST_BYTES) return;
  throw new MechanismError(`${rows} rows take too much memory; ask for a shorter run or for fewer rows per second`);
}

function same(a: Float64Array, b: Float64Array): boolean {
  return a.every((value, i) => value === b[i]);
}

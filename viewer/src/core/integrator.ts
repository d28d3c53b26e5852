/** The integrator of the core, whose method is chosen by need, with event location and dense output. */

import { MemoryError, SolverError } from "./errors";
import { general } from "./numbers";
import type { State } from "./state";

const EVENT_RESOLUTION = 5e-16; // LW_EVENT_RESOLUTION
const OPTIONS = 48; // bytes of lw_ode_options
const OUTPUT = 48; // bytes of lw_ode_output
const STATISTICS = 56;
const CONTROL = 24; // bytes of lw_ode_step_control

export const MAX_SAMPLES = 256; // LW_ODE_MAX_SAMPLES, of rows within one step

/** lw_ode_outcome. */
const Outcome = { STEP: 0, EVENT: 1, STOPPED: 2, STEP_TOO_SMALL: 3, TOO_MANY_STEPS: 4, NOT_FINITE: 5 } as const;

export const TOO_MANY_STEPS =
  "max_steps is used up; raise it, relax rtol and atol, or try a stiff solver such as 'rodas5p'";
const FAILURES: Record<number, string> = {
  [Outcome.STOPPED]: "the compiled derivative or event function asked to stop; see its own message",
  [Outcome.STEP_TOO_SMALL]:
    "the error or the domain of the derivative cannot be met with any step; the solution may grow without bound " +
    "there, or be discontinuous (give it as an event); else relax rtol and atol",
  [Outcome.TOO_MANY_STEPS]: TOO_MANY_STEPS,
  [Outcome.NOT_FINITE]:
    "the state, its derivative or an event indicator is not finite there; check the start values and parameters",
};

/** What the step size control remembers. */
export interface StepControl {
  nextStep: number;
  previousError: number;
  choice: number; // of the method
}

export interface Statistics {
  steps: number;
  rejected: number;
  evaluations: number;
}

/** Rows in the memory of the core: at the times given, or at the end of every step and where something turns in it. */
export class Output {
  readonly times: number;
  readonly states: number;
  readonly revolutions: number;
  private readonly struct: number;
  /** Rows that the integrator may fill. */
  limit: number;

  constructor(
    private readonly state: State,
    readonly capacity: number,
    readonly timesGiven: boolean,
  ) {
    const { core, sizes } = state.model;
    this.limit = capacity;
    this.times = core.allocateDoubles(capacity);
    this.states = core.allocateDoubles(capacity * (sizes.nq + sizes.nu));
    this.revolutions = core.allocateDoubles(capacity * sizes.nq_cut);
    this.struct = core.allocate(OUTPUT);
    const struct = core.integers(this.struct, OUTPUT / 4);
    struct.fill(0);
    struct[0] = timesGiven ? 1 : 0;
    struct.set([this.times, this.states, this.revolutions, 0, timesGiven ? 0 : 1], 6);
  }

  free(): void {
    for (const address of [this.times, this.states, this.revolutions, this.struct]) this.state.model.core.call.free(address);
  }

  get count(): number {
    return Number(this.state.model.core.data.getBigInt64(this.struct + 16, true));
  }

  set count(value: number) {
    this.state.model.core.data.setBigInt64(this.struct + 16, BigInt(value), true);
  }

  /** Whether all rows that are wanted are filled. */
  get complete(): boolean {
    return this.timesGiven && this.count === this.limit;
  }

  get all(): Float64Array {
    return this.state.model.core.doubles(this.times, this.capacity);
  }

  row(i: number): { t: number; y: Float64Array; revolutions: Float64Array } {
    const { core, sizes } = this.state.model;
    const n = sizes.nq + sizes.nu;
    return {
      t: core.doubles(this.times + 8 * i, 1)[0]!,
      y: core.doubles(this.states + 8 * i * n, n).slice(),
      revolutions: core.doubles(this.revolutions + 8 * i * sizes.nq_cut, sizes.nq_cut).slice(),
    };
  }

  /** The address of the struct with its limit up to date, for C. */
  prepared(): number {
    this.state.model.core.data.setBigInt64(this.struct + 8, BigInt(this.limit), true);
    return this.struct;
  }
}

export class Integrator {
  private readonly handle: number;
  private readonly n: number;

  /**
   * `onStep`: whether to count the coordinates of the cut joints, which are kept at an address in the memory of the
   * core, and whether to check constraints.
   */
  constructor(
    private readonly state: State,
    rtol: number,
    atol: number,
    onStep: { counting: boolean; watching: boolean; address: number },
  ) {
    const { core, sizes } = state.model;
    this.n = sizes.nq + sizes.nu;
    this.handle = core.with(OPTIONS, (options) => {
      const view = core.data;
      [rtol, atol, 0, 0].forEach((value, i) => view.setFloat64(options + 8 * i, value, true));
      view.setBigInt64(options + 32, -1n, true); // the caller counts the steps
      view.setFloat64(options + 40, EVENT_RESOLUTION, true);
      return core.call.lw_web_ode_create(state.handle, this.n, sizes.event_indicators, options);
    });
    if (this.handle === 0) throw new MemoryError(`no memory for an integrator of ${this.n} states`);
    const { counting, watching, address } = onStep;
    core.call.lw_web_ode_set_on_step(this.handle, Number(counting), Number(watching), sizes.nq_cut, address);
  }

  free(): void {
    this.core.call.lw_ode_free(this.handle);
  }

  start(t: number, y: ArrayLike<number>, control: StepControl | null = null): void {
    this.core.withDoubles(y, (address) => this.checked(this.core.call.lw_ode_start(this.handle, t, address)));
    if (control === null) return;
    this.core.withDoubles([control.nextStep, control.previousError, control.choice], (address) =>
      this.core.call.lw_ode_set_step_control(this.handle, address),
    );
  }

  /** Absolute tolerances of the states, at an address; they grow with the states. */
  setTolerances(address: number): void {
    this.core.call.lw_ode_set_absolute_tolerances(this.handle, address);
  }

  get tolerances(): Float64Array {
    return this.core.doubles(this.core.call.lw_ode_absolute_tolerances(this.handle), this.n).slice();
  }

  /** Step towards `bound` and fill rows; return whether the last step ended at an event. */
  run(bound: number, tries: number, output: Output): boolean {
    const rows = output.complete ? 0 : output.prepared();
    return this.checked(this.core.call.lw_ode_run(this.handle, bound, BigInt(tries), rows)) === Outcome.EVENT;
  }

  get t(): number {
    return this.core.call.lw_ode_time(this.handle);
  }

  get y(): Float64Array {
    return this.core.doubles(this.core.call.lw_ode_y(this.handle), this.n).slice();
  }

  /** Numbers of the indicators that changed their signs. */
  get crossings(): number[] {
    const found = this.core.integers(this.core.call.lw_ode_crossings(this.handle), this.state.model.sizes.event_indicators);
    return [...found.keys()].filter((i) => found[i] !== 0);
  }

  get stepControl(): StepControl {
    return this.core.with(CONTROL, (address) => {
      this.core.call.lw_ode_get_step_control(address, this.handle);
      const [nextStep, previousError, choice] = this.core.doubles(address, 3);
      return { nextStep: nextStep!, previousError: previousError!, choice: choice! };
    });
  }

  get statistics(): Statistics {
    return this.core.with(STATISTICS, (address) => {
      this.core.call.lw_ode_get_statistics(address, this.handle);
      const view = this.core.data;
      const [steps, rejected, evaluations] = [0, 8, 16].map((at) => Number(view.getBigInt64(address + at, true)));
      return { steps: steps!, rejected: rejected!, evaluations: evaluations! };
    });
  }

  private get core() {
    return this.state.model.core;
  }

  private checked(outcome: number): number {
    if (outcome === Outcome.STOPPED) this.state.checkConstraints();
    const reason = FAILURES[outcome];
    if (reason !== undefined) throw stopped(this.t, this.y, reason);
    return outcome;
  }
}

/** The error that states where the run stopped, why, and the remedy. */
export function stopped(t: number, y: Float64Array, reason: string): SolverError {
  const size = general(Math.hypot(...y), 6);
  return new SolverError(`auto stopped at t = ${general(t, 17)}, where the norm of the state is ${size}: ${reason}`);
}

/** One instance of a model: the block of all its numbers. */

import { errorOf } from "./errors";
import { type Model, Stage } from "./model";

export const ASSEMBLY_TOLERANCE = 1e-8; // m, as of Model.assemble in Python

export class State {
  readonly handle: number;
  private readonly address: number; // of the block
  private readonly scratch: number; // for single numbers
  private readonly borrowed: boolean;
  private view: Float64Array;

  /** A new state, or one that something else owns. */
  constructor(
    readonly model: Model,
    owned: number | null = null,
  ) {
    const { core } = model;
    this.scratch = core.allocate(8);
    this.borrowed = owned !== null;
    const status = owned ?? core.call.lw_state_create(model.handle, this.scratch);
    if (!this.borrowed && status) throw errorOf(status, "the state could not be created");
    this.handle = owned ?? core.data.getUint32(this.scratch, true);
    this.address = core.call.lw_state_reals(this.handle);
    this.view = core.doubles(this.address, model.sizes.reals);
  }

  free(): void {
    if (!this.borrowed) this.model.core.call.lw_state_free(this.handle);
    this.model.core.call.free(this.scratch);
  }

  /** All numbers, in the memory of the core. After writing states or inputs call `changed`. */
  get reals(): Float64Array {
    if (this.view.length === 0) this.view = this.model.core.doubles(this.address, this.model.sizes.reals);
    return this.view; // a view that the growth of the memory has detached has no length
  }

  /** A field as it is; shares memory. */
  at(name: string): Float64Array {
    const { first, count } = this.model.field(name);
    return this.reals.subarray(first, first + count);
  }

  /** A copy of a field, computed as far as needed. */
  get(name: string): Float64Array {
    this.evaluate(this.model.field(name).stage);
    return this.at(name).slice();
  }

  /** Write a field; `valid` is the highest stage that does not depend on it. */
  put(name: string, values: ArrayLike<number>, valid: number = Stage.CONSTANTS): void {
    this.at(name).set(values);
    this.call.lw_state_changed(this.handle, valid);
  }

  /** Set numbers by offset, all or none; MechanismError where one may not be set or has no valid value. */
  set(values: ReadonlyMap<number, number>): void {
    const { core } = this.model;
    core.withDoubles([...values.values()], (numbers) =>
      core.with(4 * values.size, (offsets) => {
        core.integers(offsets, values.size).set([...values.keys()]);
        this.check(this.call.lw_set_reals(this.handle, offsets, values.size, numbers));
      }),
    );
  }

  changed(valid: number = Stage.CONSTANTS): void {
    this.call.lw_state_changed(this.handle, valid);
  }

  /** Write states [q; u; those of elements] and all inputs, which hold at the time given. */
  enter(y: ArrayLike<number>, inputs: ArrayLike<number>, time: number): void {
    const { reals, model } = this;
    reals.set(y, model.field("q").first); // u follows q, and those of elements follow u
    reals.set(inputs, model.inputs.first);
    reals[model.field("time").first] = reals[model.field("motion_time").first] = time;
    this.changed();
  }

  /** Write the time and the inputs of motions that hold then. */
  putMotion(time: number, motion: ArrayLike<number>): void {
    this.at("time")[0] = this.at("motion_time")[0] = time;
    this.put("motion_in", motion);
  }

  /** Take the coordinates of the cut joints, known but for full revolutions, next to `reference`. */
  countRevolutions(reference: ArrayLike<number>): void {
    this.put("cut_reference", reference);
  }

  /** Count revolutions from the present coordinates of the cut joints; return these. */
  stepAccepted(): Float64Array {
    this.call.lw_step_accepted(this.handle);
    return this.at("cut_reference").slice();
  }

  evaluate(stage: number): void {
    this.check(this.call.lw_evaluate(this.handle, stage));
  }

  /** Find states that close the loops from the start guesses. */
  assemble(tolerance = ASSEMBLY_TOLERANCE): void {
    this.check(this.call.lw_assemble(this.handle, tolerance));
  }

  // ---- transitions ----

  get discrete(): Float64Array {
    const { first, count } = this.model.discrete;
    return this.reals.slice(first, first + count);
  }

  putDiscrete(values: ArrayLike<number>): void {
    this.reals.set(values, this.model.discrete.first);
    this.check(this.call.lw_discrete_state_changed(this.handle));
  }

  eventIndicators(): Float64Array {
    const { core, sizes } = this.model;
    return core.with(8 * sizes.event_indicators, (address) => {
      this.check(this.call.lw_event_indicators(this.handle, address));
      return core.doubles(address, sizes.event_indicators).slice();
    });
  }

  private get call() {
    return this.model.core.call;
  }

  private check(status: number): void {
    if (!status) return;
    throw errorOf(status, this.model.core.text(this.call.lw_state_message(this.handle)));
  }
}

/** A compiled mechanism, which does not change. */

import { errorOf, MechanismError } from "./errors";
import type { Core } from "./memory";
import { State } from "./state";

/** lw_stage: how far a block has been computed. */
export const Stage = { NONE: 0, CONSTANTS: 1, ACCELERATIONS: 2, DERIVATIVES: 3, OUTPUTS: 4 } as const;

/** A field of the block: `rows` x `columns` numbers from offset `first`, readable from `stage` on. */
export interface Field {
  readonly first: number;
  readonly count: number;
  readonly stage: number;
}

const SIZES = [
  "bodies", "joints", "loops", "couplings", "terms", "distances", "locks", "held_sums", "forces", "gears", "line_points",
  "formulas", "formula_numbers", "formula_inputs", "formula_quantities", "formula_values",
  "lookup_tables", "lookup_values", "lookup_slopes", "lookup_regions", "coupling_formulas", "coupling_numbers", "coupling_values",
  "transitions", "points", "measures", "formula_outputs", "formula_states",
  "nq", "nu", "states", "nq_cut", "nu_cut", "event_indicators", "kinks", "reals",
] as const; // prettier-ignore
export type Sizes = Record<(typeof SIZES)[number], number>;

/** lw_kind, as far as the names of a serialised model go. */
const KINDS = [
  "body", "joint", "coupling", "force", "transition", "point", "measure", "output", "state", "table", "quantity",
] as const; // prettier-ignore
export type Kind = (typeof KINDS)[number];

const MESSAGE = 256;
const FIELD = 32; // bytes of lw_field

export class Model {
  readonly handle: number;
  readonly sizes: Sizes;
  readonly fields: ReadonlyMap<string, Field>;
  /** Offsets of all inputs, and of what transitions change. */
  readonly inputs: Field;
  readonly discrete: Field;

  constructor(
    readonly core: Core,
    readonly bytes: Uint8Array,
  ) {
    this.handle = load(core, bytes);
    this.sizes = core.with(4 * SIZES.length, (address) => {
      core.call.lw_model_sizes(address, this.handle);
      const values = core.integers(address, SIZES.length);
      return Object.fromEntries(SIZES.map((name, i) => [name, values[i]])) as Sizes;
    });
    this.fields = fieldsOf(core, this.handle);
    this.inputs = this.between("tau", "impulse");
    this.discrete = this.upTo("joint_closed", "acceleration");
  }

  /** The same mechanism with other values of parameters and start values, by offset; nothing is compiled again. */
  withParameters(values: ReadonlyMap<number, number>): Model {
    if (values.size === 0) return new Model(this.core, this.bytes);
    const state = new State(this);
    try {
      state.set(values);
      return new Model(this.core, this.patched(state.reals.slice(0, this.field("time").first)));
    } finally {
      state.free();
    }
  }

  free(): void {
    this.core.call.lw_model_free(this.handle);
  }

  field(name: string): Field {
    const field = this.fields.get(name);
    if (!field) throw new MechanismError(`the simulator's core has no field ${name}`);
    return field;
  }

  names(kind: Kind): string[] {
    const { call } = this.core;
    const number = KINDS.indexOf(kind);
    return Array.from({ length: call.lw_model_count(this.handle, number) }, (_, i) =>
      this.core.text(call.lw_model_name(this.handle, number, i)),
    );
  }

  private between(first: string, last: string): Field {
    const from = this.field(first).first;
    const to = this.field(last);
    return { first: from, count: to.first + to.count - from, stage: Stage.NONE };
  }

  private upTo(first: string, next: string): Field {
    const from = this.field(first).first;
    return { first: from, count: this.field(next).first - from, stage: Stage.NONE };
  }

  /** The serialised model with other values of its parameter and start fields, all of them in their order. */
  private patched(values: Float64Array): Uint8Array {
    const { core, bytes } = this;
    return core.withDoubles(values, (numbers) =>
      core.with(bytes.length, (address) => {
        core.bytes(address, bytes.length).set(bytes);
        const status = core.call.lw_model_put_parameters(this.handle, numbers, address, bytes.length);
        if (status) throw errorOf(status, "the bytes are those of another model");
        return core.bytes(address, bytes.length).slice();
      }),
    );
  }
}

function load(core: Core, bytes: Uint8Array): number {
  return core.with(4 + MESSAGE + bytes.length, (address) => {
    const [handle, message, data] = [address, address + 4, address + 4 + MESSAGE];
    core.bytes(data, bytes.length).set(bytes);
    const status = core.call.lw_model_load(data, bytes.length, handle, message, MESSAGE);
    if (status) throw errorOf(status, core.text(message));
    return core.data.getUint32(handle, true);
  });
}

function fieldsOf(core: Core, model: number): Map<string, Field> {
  const fields = new Map<string, Field>();
  core.with(FIELD, (address) => {
    for (let i = 0; i < core.call.lw_field_count(); i++) {
      core.call.lw_model_field(model, i, address);
      const [name, , first, rows, columns, , stage] = core.integers(address, FIELD / 4);
      fields.set(core.text(name!), { first: first!, count: rows! * columns!, stage: stage! });
    }
  });
  return fields;
}

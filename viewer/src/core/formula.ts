/** The formula of a force as a function of what it reads. */

import { errorOf, MechanismError } from "./errors";
import type { State } from "./state";

const BYTES = 8; // of a double

/** Row by row: results, and of each table the first argument. */
export interface FormulaValues {
  results: Float64Array;
  tables: Float64Array;
}

export class Formula {
  readonly quantities: number;
  readonly results: number;
  readonly tables: number;
  private readonly force: number;

  constructor(
    private readonly state: State,
    force: string,
  ) {
    const { model } = state;
    const { call } = model.core;
    this.force = model.names("force").indexOf(force);
    this.quantities = call.lw_formula_quantities(model.handle, this.force, 0);
    if (this.quantities < 0) throw new MechanismError(`the model has no formula of a force "${force}"`);
    this.results = call.lw_formula_results(model.handle, this.force);
    this.tables = call.lw_formula_tables(model.handle, this.force);
  }

  /** At rows of values of all that it reads. */
  at(rows: Float64Array): FormulaValues {
    const { core } = this.state.model;
    const count = rows.length / this.quantities;
    return core.withDoubles(rows, (given) =>
      core.with(BYTES * count * (this.results + this.tables), (values) => {
        const tables = values + BYTES * count * this.results;
        const status = core.call.lw_formula_values(this.state.handle, this.force, count, given, values, tables);
        if (status) throw errorOf(status, core.text(core.call.lw_state_message(this.state.handle)));
        return {
          results: core.doubles(values, count * this.results).slice(),
          tables: core.doubles(tables, count * this.tables).slice(),
        };
      }),
    );
  }
}

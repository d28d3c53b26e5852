/** Quantities at the rows of a run. */

import { LinkworkError } from "./errors";
import { type Model, Stage } from "./model";
import type { Row } from "./simulation";
import { State } from "./state";

/** Evaluates rows in their order, in a block of its own; what does not exist is NaN. */
export class OutputReader {
  private readonly state: State;
  private discrete: Float64Array | null = null;
  private revolutions: Float64Array | null = null;
  private gain = NaN;
  private readonly computed: number; // offset from which on numbers are computed

  /** `offsets`: of the numbers to read. */
  constructor(
    model: Model,
    private readonly offsets: readonly number[],
  ) {
    this.state = new State(model);
    this.computed = model.field("qdot").first;
  }

  free(): void {
    this.state.free();
  }

  /** Write the numbers of a row to `values`. */
  read(row: Row, values: Float64Array): void {
    const { state } = this;
    if (row.discrete && row.discrete !== this.discrete) state.putDiscrete((this.discrete = row.discrete));
    if (!this.revolutions || row.revolutions.some((turn, i) => turn !== this.revolutions![i])) {
      state.countRevolutions((this.revolutions = row.revolutions));
    }
    if (row.gain !== this.gain) state.put("correction_gain", [(this.gain = row.gain), row.gain], Stage.NONE);
    state.enter(row.y, row.inputs, row.t);
    state.stepAccepted();
    const exists = this.evaluate();
    const { reals } = state;
    this.offsets.forEach((offset, i) => (values[i] = exists || this.isGiven(offset) ? reals[offset]! : NaN));
  }

  private evaluate(): boolean {
    try {
      this.state.evaluate(Stage.OUTPUTS);
      return true;
    } catch (error) {
      if (error instanceof LinkworkError) return false;
      throw error;
    }
  }

  private isGiven(offset: number): boolean {
    const { first, count } = this.state.model.discrete;
    return offset < this.computed || (offset >= first && offset < first + count);
  }
}

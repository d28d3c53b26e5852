/** Formulas of forces by the core, in the page itself, for the models of its motions. */

import { Formula } from "./core/formula";
import { Core } from "./core/memory";
import { Model } from "./core/model";
import { State } from "./core/state";
import type { Motion } from "./motion";
import { unpackBytes } from "./unpack";

interface Loaded {
  parameters: Motion["parameters"];
  state: State;
  formulas: Map<string, Formula>;
}

export class Formulas {
  private core: Promise<Core> | null = null;
  private readonly loading = new Map<string, Promise<void>>();
  private readonly models = new Map<string, Model>(); // by their packed bytes
  private readonly loaded = new Map<Motion, Loaded>();

  constructor(private readonly module: Uint8Array<ArrayBuffer>) {}

  /** Load the model of a motion, which has one. */
  load({ model }: Motion): Promise<void> {
    let found = this.loading.get(model);
    if (!found) this.loading.set(model, (found = this.loadModel(model)));
    return found;
  }

  /** Of a force, with the parameters of the motion; null until its model is loaded. */
  of(motion: Motion, force: string): Formula | null {
    const model = this.models.get(motion.model);
    if (!model) return null;
    const { state, formulas } = this.stateOf(motion, model);
    let found = formulas.get(force);
    if (!found) formulas.set(force, (found = new Formula(state, force)));
    return found;
  }

  private async loadModel(packed: string): Promise<void> {
    this.core ??= Core.load(this.module);
    const [core, bytes] = await Promise.all([this.core, unpackBytes(packed)]);
    this.models.set(packed, new Model(core, bytes));
  }

  private stateOf(motion: Motion, model: Model): Loaded {
    const { parameters } = motion;
    const before = this.loaded.get(motion);
    if (before?.parameters === parameters) return before;
    const state = new State(model);
    const made = { parameters, state, formulas: new Map<string, Formula>() };
    try {
      if (parameters.length) state.set(new Map(parameters));
    } catch (error) {
      state.free();
      throw error;
    }
    before?.state.free();
    this.loaded.set(motion, made);
    return made;
  }
}

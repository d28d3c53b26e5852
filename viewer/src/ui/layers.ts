/** What the stage shows besides the bodies. */

import type { Layers } from "../stage/stage";
import { Value } from "./value";

export interface Layer {
  name: keyof Layers;
  label: string;
  key: string;
  on: boolean; // at the beginning
}

export const LAYERS: Layer[] = [
  { name: "joints", label: "Joints", key: "j", on: true },
  { name: "names", label: "Names", key: "n", on: false },
  { name: "frames", label: "Body frames", key: "b", on: false },
  { name: "reactions", label: "Reaction forces", key: "r", on: false },
  { name: "springs", label: "Spring forces", key: "s", on: false },
  { name: "loads", label: "Loads", key: "w", on: true },
  { name: "gravity", label: "Gravity", key: "g", on: false },
  { name: "traces", label: "Paths of points", key: "t", on: true },
  { name: "ghosts", label: "Ghost poses", key: "o", on: false },
  { name: "shadows", label: "Shadows", key: "d", on: true },
];

/** The state of each layer. */
export class LayerStates {
  private readonly states = new Map(LAYERS.map(({ name, on }) => [name, new Value(on)]));

  of(name: keyof Layers): Value<boolean> {
    return this.states.get(name)!;
  }

  toggle(name: keyof Layers): void {
    const state = this.of(name);
    state.set(!state.get());
  }

  all(): Layers {
    return Object.fromEntries([...this.states].map(([name, state]) => [name, state.get()])) as unknown as Layers;
  }

  onChange(observer: (layers: Layers) => void): void {
    for (const state of this.states.values()) state.onChange(() => observer(this.all()));
  }
}

/** A run that grows while it is simulated. */

import { Samples } from "../motion";
import type { LiveModel, RunEvent, Scene } from "../payload";
import type { Values } from "./messages";

const FIRST_CAPACITY = 256; // rows

/** Columns of a live model, "time" first, in the order in which the worker sends them. */
export function columnsOf(live: LiveModel): string[] {
  return ["time", ...Object.keys(live.columns).filter((name) => name !== "time")];
}

export class LiveRecording extends Samples {
  readonly label = "simulation";
  events: RunEvent[] = [];
  /** Of the run that fills it. */
  override parameters: Values = [];
  private count = 0;
  private capacity = 0;
  private readonly values: Float64Array[];
  private readonly places: Map<string, number>;

  constructor(
    readonly scene: Scene,
    private readonly names: string[],
    override readonly model: string,
  ) {
    super();
    this.places = new Map(names.map((name, k) => [name, k]));
    this.values = names.map(() => new Float64Array(0));
  }

  get rows(): number {
    return this.count;
  }

  columns(): string[] {
    return this.names;
  }

  has(name: string): boolean {
    return this.places.has(name);
  }

  column(name: string): Float64Array {
    const place = this.places.get(name);
    if (place === undefined) throw new Error(`the simulation has no column "${name}"`);
    return this.values[place]!.subarray(0, this.count);
  }

  /** Add rows, each with a value for every column. */
  append(rows: Float64Array, events: RunEvent[]): void {
    const width = this.names.length;
    const added = rows.length / width;
    this.reserve(this.count + added);
    this.values.forEach((column, k) => {
      for (let i = 0; i < added; i++) column[this.count + i] = rows[i * width + k]!;
    });
    this.count += added;
    this.events.push(...events);
  }

  /** Keep the first rows, and the events until then. */
  truncate(rows: number): void {
    this.count = Math.min(rows, this.count);
    this.events = this.count > 0 ? this.events.filter(({ t }) => t <= this.end) : [];
  }

  private reserve(rows: number): void {
    if (rows <= this.capacity) return;
    this.capacity = Math.max(rows, 2 * this.capacity, FIRST_CAPACITY);
    this.values.forEach((column, k) => {
      const grown = new Float64Array(this.capacity);
      grown.set(column.subarray(0, this.count));
      this.values[k] = grown;
    });
  }
}

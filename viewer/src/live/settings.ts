/** The numbers that the panel changes: parameters, start values and inputs. */

import type { LiveModel, Setting } from "../payload";
import type { Values } from "./messages";

export type SettingKind = "parameter" | "input" | "start";

export interface Entry {
  readonly setting: Setting;
  readonly kind: SettingKind;
  /** "crank" and "m" of "crank.m". */
  readonly owner: string;
  readonly quantity: string;
}

const UNLIMITED = 1e300; // larger numbers stand for no limit

export class Settings {
  readonly entries: readonly Entry[];
  private readonly changedValues = new Map<Entry, number>();
  private readonly observers: ((entries: Entry[]) => void)[] = [];

  constructor(live: LiveModel) {
    const lists: [SettingKind, Setting[]][] = [
      ["input", live.inputs],
      ["parameter", live.parameters],
      ["start", live.start],
    ];
    this.entries = lists.flatMap(([kind, settings]) => settings.map((setting) => ({ setting, kind, ...partsOf(setting.name) })));
  }

  value(entry: Entry): number {
    return this.changedValues.get(entry) ?? entry.setting.value;
  }

  isChanged(entry: Entry): boolean {
    return this.changedValues.has(entry);
  }

  get changed(): Entry[] {
    return this.entries.filter((entry) => this.isChanged(entry));
  }

  set(values: Iterable<readonly [Entry, number]>): void {
    const touched: Entry[] = [];
    for (const [entry, value] of values) {
      if (Object.is(value, this.value(entry))) continue;
      if (value === entry.setting.value) this.changedValues.delete(entry);
      else this.changedValues.set(entry, value);
      touched.push(entry);
    }
    if (touched.length > 0) for (const observer of this.observers) observer(touched);
  }

  reset(entries: readonly Entry[] = this.changed): void {
    this.set(entries.map((entry) => [entry, entry.setting.value] as const));
  }

  /** Numbers by offset that differ from those of the model. */
  values(...kinds: SettingKind[]): Values {
    return this.changed.filter(({ kind }) => kinds.includes(kind)).map((entry) => [entry.setting.offset, this.value(entry)]);
  }

  /** The same by name, as Python takes them. */
  named(...kinds: SettingKind[]): Record<string, number> {
    const found = this.changed.filter(({ kind }) => kinds.includes(kind));
    return Object.fromEntries(found.map((entry) => [entry.setting.name, this.value(entry)]));
  }

  onChange(observer: (entries: Entry[]) => void): void {
    this.observers.push(observer);
  }
}

function partsOf(name: string): { owner: string; quantity: string } {
  const found = /^(.+?)\.((?:[A-Za-z_]+\.)?[^.]+)$/s.exec(name);
  return found ? { owner: found[1]!, quantity: found[2]! } : { owner: "", quantity: name };
}

export function isSwitch({ quantity }: Entry): boolean {
  return quantity === "command";
}

export function isUnlimited(value: number): boolean {
  return Math.abs(value) >= UNLIMITED;
}

/** Ends of a slider: around the value, and within what is valid. `size` is a typical length, m. */
export function sensibleRange({ value, unit, minimum, maximum }: Setting, size: number): [number, number] {
  let [low, high] = around(isUnlimited(value) ? 0 : value, unit, minimum, size);
  if (minimum !== null && !isUnlimited(minimum)) low = Math.max(low, minimum);
  if (maximum !== null && !isUnlimited(maximum)) high = Math.min(high, maximum);
  return low < high ? [low, high] : [value, value + 1];
}

function around(value: number, unit: string, minimum: number | null, size: number): [number, number] {
  if (unit === "rad") return [Math.min(-Math.PI, value - Math.PI), Math.max(Math.PI, value + Math.PI)];
  if (value === 0) {
    const span = SPANS[unit] ?? (unit === "m" ? size / 2 : 1);
    return [minimum === null || minimum < 0 ? -span : 0, span];
  }
  if (minimum !== null && minimum >= 0) return [value / 10, 3 * value]; // as a mass, which may be no zero
  const reach = unit === "m" ? Math.max(Math.abs(value), size / 4) : 2 * Math.abs(value);
  return [value - reach, value + reach];
}

/** Where a value is zero: what a mechanism of everyday size may have. */
const SPANS: Record<string, number> = {
  "N.m": 10,
  N: 100,
  "rad/s": 10,
  "m/s": 2,
  "m/s2": 10,
  "N/m": 1000,
  "N.s/m": 100,
  "N.m/rad": 100,
  "N.m.s/rad": 10,
};

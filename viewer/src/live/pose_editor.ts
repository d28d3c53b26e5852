/** Sliders of the coordinates: assembly keeps those that were moved, the last one first, and finds the others. */

import type { LiveModel, Scene } from "../payload";
import { element } from "../ui/dom";
import { unitText } from "../ui/numbers";
import type { Values } from "./messages";
import { type Entry, sensibleRange, type Settings } from "./settings";

interface Coordinate {
  entry: Entry; // its start value
  joint: string;
  /** The offsets of the quaternion of which it is a part; else none. */
  quaternion: number[];
  value: number;
  slider: HTMLInputElement;
}

export interface PoseEvents {
  /** A pose is wanted, while a slider moves. */
  pose(guesses: Values, kept: Values[]): void;
  /** The slider is let go: the pose that was found is the new start. */
  take(): void;
}

export class PoseEditor {
  readonly root = element("div", { class: "live-pose" });
  private readonly coordinates: Coordinate[];
  private readonly message = element("p", { class: "live-message", role: "alert", hidden: true });
  private readonly back = element("button", { type: "button", class: "small", title: "The pose that the description gives" }, "Reset pose");
  private moved: string[] = []; // joints, the last one first
  private found: Values = [];

  constructor(
    live: LiveModel,
    private readonly scene: Scene,
    private readonly settings: Settings,
    private readonly events: PoseEvents,
  ) {
    const entries = new Map(settings.entries.filter(({ kind }) => kind === "start").map((entry) => [entry.setting.name, entry]));
    this.coordinates = live.priorities.flatMap(({ name }) => {
      const entry = entries.get(startName(name));
      return entry ? [this.coordinate(name, entry)] : [];
    });
    this.root.append(
      element("p", { class: "hint" }, "Move a coordinate; the loops are closed again, and the run starts from there."),
      ...this.coordinates.map(({ entry, slider }) => this.row(entry, slider)),
      this.message,
      element("div", { class: "live-buttons" }, this.back),
    );
    this.back.addEventListener("click", () => settings.reset(this.coordinates.map(({ entry }) => entry)));
    settings.onChange((changed) => this.follow(changed));
    this.follow([]);
  }

  get empty(): boolean {
    return this.coordinates.length === 0;
  }

  /** The pose that assembly found, as start values. */
  show(starts: Values): void {
    this.found = starts;
    const values = new Map(starts);
    for (const coordinate of this.coordinates) {
      const value = values.get(coordinate.entry.setting.offset);
      if (value !== undefined && document.activeElement !== coordinate.slider) this.put(coordinate, value);
    }
    this.message.hidden = true;
  }

  fail(message: string): void {
    this.found = [];
    this.message.textContent = message;
    this.message.hidden = false;
  }

  /** Take over the pose that was found as start values. */
  apply(): void {
    const values = new Map(this.found);
    const entries = this.coordinates.map(({ entry }) => entry).filter(({ setting }) => values.has(setting.offset));
    this.settings.set(entries.map((entry) => [entry, values.get(entry.setting.offset)!] as const));
  }

  private coordinate(name: string, entry: Entry): Coordinate {
    const [low, high] = sensibleRange(entry.setting, this.scene.size);
    const slider = element("input", { type: "range", step: "any", min: low, max: high, "aria-label": `Start of ${name}` });
    const joint = name.replace(/\.q(\[\d+\])?$/, "");
    const coordinate: Coordinate = { entry, joint, quaternion: this.quaternionOf(joint, name, entry), value: 0, slider };
    this.put(coordinate, this.settings.value(entry));
    slider.addEventListener("input", () => this.move(coordinate));
    slider.addEventListener("change", () => this.events.take());
    return coordinate;
  }

  private row(entry: Entry, slider: HTMLInputElement): HTMLElement {
    const name = entry.setting.name.replace("q_start", "q");
    return element("label", { class: "live-row live-coordinate" }, element("span", { class: "live-name" }, name, element("span", { class: "muted" }, unitText(entry.setting.unit))), slider);
  }

  private move(coordinate: Coordinate): void {
    coordinate.value = coordinate.slider.valueAsNumber;
    const { joint, quaternion } = coordinate;
    if (quaternion.length > 0) this.normalise(quaternion);
    this.moved = [joint, ...this.moved.filter((one) => one !== joint)];
    const kept = this.moved.map((one) => this.coordinates.filter((other) => other.joint === one).map(valueOf));
    this.events.pose(this.coordinates.map(valueOf), kept);
  }

  /** The four elements of a rotation are a unit quaternion. */
  private normalise(offsets: number[]): void {
    const parts = this.coordinates.filter(({ entry }) => offsets.includes(entry.setting.offset));
    const length = Math.hypot(...parts.map(({ value }) => value));
    for (const part of parts) part.value = length > 0 ? part.value / length : Number(part === parts[0]);
  }

  private quaternionOf(joint: string, name: string, entry: Entry): number[] {
    const found = this.scene.joints.find((one) => one.name === joint);
    const first = found?.type === "spherical" ? 1 : found?.type === "free" ? 4 : 0;
    const number = Number(/\[(\d+)\]$/.exec(name)?.[1] ?? 0);
    if (first === 0 || number < first) return [];
    return [0, 1, 2, 3].map((k) => entry.setting.offset - number + first + k);
  }

  /** Start values were changed elsewhere, as by a reset. */
  private follow(changed: Entry[]): void {
    this.back.disabled = !this.coordinates.some(({ entry }) => this.settings.isChanged(entry));
    const reset = changed.filter((entry) => !this.settings.isChanged(entry));
    for (const coordinate of this.coordinates) {
      if (changed.includes(coordinate.entry)) this.put(coordinate, this.settings.value(coordinate.entry));
      if (reset.includes(coordinate.entry)) this.moved = this.moved.filter((joint) => joint !== coordinate.joint);
    }
  }

  private put(coordinate: Coordinate, value: number): void {
    const { slider } = coordinate;
    coordinate.value = value;
    if (value < Number(slider.min)) slider.min = String(value);
    if (value > Number(slider.max)) slider.max = String(value);
    slider.value = String(value);
  }
}

function valueOf({ entry, value }: Coordinate): [number, number] {
  return [entry.setting.offset, value];
}

/** "A.q_start" of "A.q", "S.q_start[1]" of "S.q[1]". */
function startName(coordinate: string): string {
  return coordinate.replace(/\.q(\[\d+\])?$/, ".q_start$1");
}

/** Whether a start value is that of a coordinate, which the pose editor has. */
export function isCoordinate({ kind, quantity }: Entry): boolean {
  return kind === "start" && quantity.startsWith("q_start");
}

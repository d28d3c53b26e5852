/** Small gauges: how well the loops are closed, how far the pose is from a singular one, and the energy. */

import type { Motion } from "../motion";
import { element, oncePerFrame, setText, throttled } from "./dom";
import { digits, withUnit } from "./numbers";
import type { Player } from "./player";
import { rangeOf } from "./range";

const TEXT_INTERVAL = 100; // ms

type Level = "good" | "fair" | "poor";

interface Reading {
  /** Filled part of the bar, 0 to 1; null: there is none. */
  share: number | null;
  text: string;
  word: string;
  level: Level | null;
}

class Gauge {
  readonly root: HTMLElement;
  private readonly filled = element("i", {});
  private readonly bar = element("span", { class: "gauge-bar", "aria-hidden": "true" }, this.filled);
  private readonly number = element("span", { class: "number" });
  private readonly word = element("span", { class: "gauge-word" });

  constructor(label: string, hint: string) {
    this.root = element(
      "div",
      { class: "gauge", title: hint, role: "group", "aria-label": label },
      element("span", { class: "gauge-label" }, label),
      this.bar,
      this.number,
      this.word,
    );
  }

  write({ share, text, word, level }: Reading): void {
    this.bar.hidden = share === null;
    this.filled.style.width = `${(100 * Math.max(0, Math.min(1, share ?? 0))).toFixed(1)}%`;
    this.root.dataset.level = level ?? "";
    setText(this.number, text);
    setText(this.word, word);
  }
}

export class Gauges {
  readonly root = element("div", { class: "gauges", role: "group", "aria-label": "Quality of the solution" });
  private readings: { gauge: Gauge; read: (t: number) => Reading }[] = [];
  private readonly write: () => void;

  constructor(private readonly player: Player) {
    const throttledWrite = throttled(TEXT_INTERVAL, () => this.writeNow());
    this.write = oncePerFrame(() => (player.playing.get() ? throttledWrite() : this.writeNow()));
    player.time.onChange(this.write);
  }

  setMotion(motion: Motion | null): void {
    this.readings = motion ? gaugesOf(motion) : [];
    this.root.replaceChildren(...this.readings.map(({ gauge }) => gauge.root));
    this.root.hidden = this.readings.length === 0;
    this.writeNow();
  }

  update(): void {
    this.write();
  }

  private writeNow(): void {
    for (const { gauge, read } of this.readings) gauge.write(read(this.player.time.get()));
  }
}

function gaugesOf(motion: Motion): { gauge: Gauge; read: (t: number) => Reading }[] {
  const { scene } = motion;
  const has = (column: string): boolean => motion.has(column);
  const [residuals, conditioning] = [scene.residuals.filter(has), scene.conditioning.filter(has)];
  const kinetic = scene.energies.filter(has).find((column) => column.includes("kinetic"));
  const potential = scene.energies.filter(has).find((column) => column.includes("potential"));
  const made: { gauge: Gauge; read: (t: number) => Reading }[] = [];
  if (residuals.length) {
    const hint = "Largest gap of the loops. Good: below a millionth of the mechanism's size. Larger: ask for a smaller tolerance.";
    made.push({ gauge: new Gauge("Loop residual", hint), read: (t) => readResidual(largest(motion, residuals, t), scene.size) });
  }
  if (conditioning.length) {
    const hint = "Smallest conditioning of the loops: 0 at a singular pose, 0.1 to 1 far from one. Near 0 forces become large and the motion may branch.";
    made.push({ gauge: new Gauge("Conditioning", hint), read: (t) => readConditioning(smallest(motion, conditioning, t)) });
  }
  if (kinetic && potential) {
    const hint = "Kinetic and potential energy. The bar is the kinetic one, compared with its largest value.";
    made.push({ gauge: new Gauge("Energy", hint), read: (t) => readEnergy(motion, kinetic, potential, t) });
    const change = "Total energy less that of the beginning. It stays 0 only without drives, loads, damping and impacts.";
    made.push({ gauge: new Gauge("Total", change), read: (t) => readChange(motion, kinetic, potential, t) });
  }
  return made;
}

function largest(motion: Motion, columns: string[], t: number): number {
  return Math.max(...columns.map((column) => Math.abs(motion.at(column, t))));
}

function smallest(motion: Motion, columns: string[], t: number): number {
  return Math.min(...columns.map((column) => motion.at(column, t)));
}

/** Where a run has no rows yet, or its outputs do not exist. */
const UNKNOWN: Reading = { share: 0, text: "\u2013", word: "", level: null };

function readResidual(residual: number, size: number): Reading {
  if (Number.isNaN(residual)) return UNKNOWN;
  const relative = residual / (size || 1);
  const level: Level = relative < 1e-6 ? "good" : relative < 1e-3 ? "fair" : "poor";
  const words: Record<Level, string> = { good: "closed", fair: "coarse", poor: "open" };
  // a bar of decades: full at 1e-15 of the size, empty at 1e-2
  const share = residual > 0 ? (-2 - Math.log10(relative)) / 13 : 1;
  return { share, text: withUnit(digits(residual, 2), "m"), word: words[level], level };
}

function readConditioning(conditioning: number): Reading {
  if (Number.isNaN(conditioning)) return UNKNOWN;
  const level: Level = conditioning > 0.02 ? "good" : conditioning > 1e-4 ? "fair" : "poor";
  const words: Record<Level, string> = { good: "regular", fair: "near singular", poor: "singular" };
  return { share: conditioning, text: digits(conditioning, 2), word: words[level], level };
}

function readEnergy(motion: Motion, kinetic: string, potential: string, t: number): Reading {
  const [T, V] = [motion.at(kinetic, t), motion.at(potential, t)];
  const { largest: most } = rangeOf(motion, kinetic);
  return { share: most > 0 ? T / most : 0, text: `${withUnit(digits(T, 3), "J")} kinetic, ${withUnit(digits(V, 3), "J")} potential`, word: "", level: null };
}

function readChange(motion: Motion, kinetic: string, potential: string, t: number): Reading {
  const total = (at: number): number => motion.at(kinetic, at) + motion.at(potential, at);
  const change = total(t) - total(motion.begin);
  const [T, V] = [rangeOf(motion, kinetic), rangeOf(motion, potential)];
  const scale = Math.max(T.largest - T.smallest, V.largest - V.smallest);
  const relative = scale > 0 ? Math.abs(change) / scale : 0;
  const noise = relative < 1e-6; // values are stored with seven digits
  return { share: null, text: withUnit(noise ? "0" : digits(change, 2), "J"), word: "since the start", level: null };
}

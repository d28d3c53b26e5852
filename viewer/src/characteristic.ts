/** A characteristic at a time: the formula of a force over one of its arguments, the others as they are then. */

import type { Formula } from "./core/formula";
import type { Motion } from "./motion";
import type { Characteristic, Table } from "./payload";
import { rangeOf } from "./ui/range";

const SAMPLES = 200;
const MARGIN = 0.04; // of the width, on either side
const LINEAR = 1e-9;

export type Span = [low: number, high: number];

/** Where it is drawn: the abscissae, those of them that are knots, and the part over which the ordinate counts. */
interface Axis {
  window: Span;
  counts: Span;
  knots: number[];
  dots: Set<number>;
}

export interface Curve {
  window: Span;
  x: number[];
  y: (number | null)[]; // null: there is no value
  dots: (number | null)[]; // at knots of tables
  range: Span | null; // of the ordinates that count; null: there are none
}

/** The table's argument is `at` + `slope` (x - `x`). */
interface Line {
  x: number;
  at: number;
  slope: number;
}

export class CharacteristicAt {
  private readonly values: number[];

  /** `over`: which of the arguments is the abscissa. */
  constructor(
    private readonly of: Characteristic,
    private readonly over: number,
    private readonly formula: Formula,
    private readonly motion: Motion,
    t: number,
  ) {
    this.values = of.arguments.map((column) => (column === "time" ? t : motion.at(column, t)));
  }

  /** Abscissa and ordinate where the motion is. */
  get point(): [number, number] {
    const x = this.values[this.over]!;
    return [x, this.ordinates(this.at([x]).results)[0]!];
  }

  /** The other arguments on which it depends, and their values. */
  get others(): { column: string; value: number }[] {
    const { of, over, values } = this;
    return of.over.filter((k) => k !== over).map((k) => ({ column: of.arguments[k]!, value: values[k]! }));
  }

  /** Characteristics with the same key have the same curve. */
  key(): string {
    const { window } = this.axis();
    return [this.over, ...window, ...this.others.map(({ value }) => value)].join(" ");
  }

  curve(): Curve {
    const { window, counts, knots, dots } = this.axis();
    const [low, high] = window;
    const even = Array.from({ length: SAMPLES + 1 }, (_, k) => low + ((high - low) * k) / SAMPLES);
    const x = [...new Set([...even, ...knots])].sort((a, b) => a - b);
    const y = this.ordinates(this.at(x).results).map((value) => (Number.isFinite(value) ? value : null));
    return { window, x, y, dots: y.map((value, k) => (dots.has(x[k]!) ? value : null)), range: rangeWithin(x, y, counts) };
  }

  private at(x: number[]): { results: Float64Array; tables: Float64Array } {
    const { values, over } = this;
    const rows = new Float64Array(x.length * values.length);
    x.forEach((one, k) => {
      rows.set(values, k * values.length);
      rows[k * values.length + over] = one;
    });
    return this.formula.at(rows);
  }

  private ordinates(results: Float64Array): number[] {
    const { results: width } = this.formula;
    return Array.from({ length: results.length / width }, (_, k) => results[k * width + this.of.result]!);
  }

  /** All of the run, and all of tables; of a table that repeats the period where the motion is. */
  private axis(): Axis {
    const run = this.reached();
    const lines = this.lines(run);
    const tables = this.of.tables.flatMap((table, k): [Table, Line][] => (lines[k] ? [[table, lines[k]]] : []));
    const repeated = tables.find(([{ periodic }]) => periodic);
    let counts = run;
    if (repeated) counts = this.period(...repeated);
    else for (const [{ span }, line] of tables) counts = union(counts, sorted(span.map((at) => abscissa(line, at))));
    const margin = repeated ? 0 : MARGIN * (counts[1] - counts[0]);
    const window: Span = [counts[0] - margin, counts[1] + margin];
    const knots: number[] = [];
    const dots = new Set<number>();
    for (const [table, line] of tables) {
      for (const x of this.knotsWithin(table, line, window)) {
        knots.push(x);
        if (table.dots) dots.add(x);
      }
    }
    return { window, counts, knots, dots };
  }

  /** What the abscissa reaches in the motion. */
  private reached(): Span {
    const column = this.of.arguments[this.over]!;
    const { smallest, largest } = rangeOf(this.motion, column);
    if (!(largest >= smallest)) return [-1, 1];
    const size = Math.max(Math.abs(smallest), Math.abs(largest));
    if (largest - smallest > 1e-6 * size) return [smallest, largest];
    const half = 0.5 * size || 1; // it stands still
    return [smallest - half, largest + half];
  }

  /** Of each table its argument over the abscissa, where that is a line with a slope. */
  private lines([low, high]: Span): (Line | null)[] {
    const { tables: count } = this.formula;
    if (count === 0) return [];
    const { tables } = this.at([low, (low + high) / 2, high]);
    return this.of.tables.map((_, k) => {
      const [first, middle, last] = [tables[k]!, tables[count + k]!, tables[2 * count + k]!];
      const slope = (last - first) / (high - low);
      const bend = Math.abs(middle - (first + last) / 2);
      const isLine = bend <= LINEAR * (Math.abs(first) + Math.abs(last)) && Number.isFinite(slope) && slope !== 0;
      return isLine ? { x: low, at: first, slope } : null;
    });
  }

  private period(table: Table, line: Line): Span {
    const [first, last] = table.span;
    const turn = this.turn(table, line, this.values[this.over]!) * (last - first);
    return sorted([abscissa(line, first + turn), abscissa(line, last + turn)]);
  }

  private turn({ span: [first, last], periodic }: Table, { x, at, slope }: Line, present: number): number {
    const turn = Math.floor((at + slope * (present - x) - first) / (last - first));
    return periodic && Number.isFinite(turn) ? turn : 0;
  }

  private knotsWithin(table: Table, line: Line, [low, high]: Span): number[] {
    const turn = this.turn(table, line, this.values[this.over]!) * (table.span[1] - table.span[0]);
    return table.knots.map((knot) => abscissa(line, knot + turn)).filter((x) => x >= low && x <= high);
  }
}

function abscissa({ x, at, slope }: Line, argument: number): number {
  return x + (argument - at) / slope;
}

function sorted(ends: number[]): Span {
  return [Math.min(...ends), Math.max(...ends)];
}

function union(a: Span, b: Span): Span {
  return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
}

function rangeWithin(x: number[], y: (number | null)[], [low, high]: Span): Span | null {
  const slack = 1e-9 * (high - low);
  const counted = y.filter((value, k): value is number => value !== null && x[k]! >= low - slack && x[k]! <= high + slack);
  return counted.length ? [Math.min(...counted), Math.max(...counted)] : null;
}

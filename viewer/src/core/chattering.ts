/** Events that follow one another without end. */

import { SolverError } from "./errors";
import { general } from "./numbers";

const MAX_EVENTS = 100_000; // within one second
const EVENTS = 100; // so many in succession within SPAN of the elapsed time accumulate at a point
const SPAN = 1e-10;

export class ChatteringError extends SolverError {}

export class ChatteringGuard {
  private readonly events: { t: number; indicators: number[] }[] = [];
  private first = 0; // event of the segment
  private start = 0; // of the segment, s

  begin(t: number): void {
    this.first = this.events.length;
    this.start = t;
  }

  record(t: number, indicators: number[]): void {
    this.events.push({ t, indicators });
  }

  get count(): number {
    return this.events.length;
  }

  /** Before one more event: throw if it is one too many. */
  checkNumber(t: number): void {
    if (this.duration(t, MAX_EVENTS, 0) >= 1) return;
    throw new ChatteringError(`more than max_events = ${MAX_EVENTS} in one unit of time${this.where(t)}`);
  }

  /** Throw if the last events accumulate. */
  check(t: number): void {
    if (this.duration(t, EVENTS, this.first) > SPAN * Math.max(Math.abs(t - this.start), Math.abs(t))) return;
    throw new ChatteringError(`${EVENTS} events follow one another without end${this.where(t)}`);
  }

  /** The time since the last `count` events began; infinite if there were fewer. */
  private duration(t: number, count: number, first: number): number {
    return this.events.length - first >= count ? Math.abs(t - this.events.at(-count)!.t) : Infinity;
  }

  private where(t: number): string {
    return (
      ` at t = ${general(t, 17)}, the last of indicator ${this.events.at(-1)!.indicators.join(", ")}; let on_event ` +
      "bring the motion to rest or terminate"
    );
  }
}

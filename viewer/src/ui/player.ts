/** The time that the page shows, and how it runs. */

import { moveInFrame } from "../animation";
import type { Motion } from "../motion";
import { Value } from "./value";

export const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10];

export class Player {
  readonly time = new Value(0);
  readonly playing = new Value(false);
  readonly speed = new Value(1);
  readonly loop = new Value(true);
  /** Called when the span [begin, end] changes. */
  readonly span = new Value<[number, number]>([0, 0]);

  /** Rows are still added at the end: there the player waits for them, it neither stops nor starts again. */
  growing = false;

  private motion: Motion | null = null;
  private lastFrame = NaN;
  private requested = false; // a frame

  get begin(): number {
    return this.span.get()[0];
  }

  get end(): number {
    return this.span.get()[1];
  }

  /** Play these; the rows of the first one are stepped through. The time stays where it is; at first it is the begin. */
  setMotions(motions: Motion[]): void {
    const first = this.motion === null;
    this.motion = motions[0] ?? null;
    const filled = motions.filter((motion) => motion.rows > 0);
    const begin = filled.length ? Math.min(...filled.map((motion) => motion.begin)) : 0;
    const end = filled.length ? Math.max(...filled.map((motion) => motion.end)) : 0;
    if (begin !== this.begin || end !== this.end) this.span.set([begin, end]);
    this.time.set(first ? begin : this.within(this.time.get()));
  }

  /** At the end it begins again. */
  play(): void {
    if (this.playing.get()) return;
    if (this.time.get() >= this.end && !this.growing) this.time.set(this.begin);
    this.lastFrame = NaN;
    this.playing.set(true);
    this.requestFrame();
  }

  pause(): void {
    this.playing.set(false);
  }

  toggle(): void {
    if (this.playing.get()) this.pause();
    else this.play();
  }

  seek(t: number): void {
    if (Number.isFinite(t)) this.time.set(this.within(t));
  }

  /** Pause, and go so many rows on or back. */
  step(rows: number): void {
    this.pause();
    const motion = this.motion;
    if (!motion || motion.rows === 0) return;
    const times = motion.column("time");
    const row = motion.rowAt(this.time.get());
    const between = this.time.get() > times[row]!; // the row at hand is the first one back
    const wanted = row + rows + (between && rows < 0 ? 1 : 0);
    this.seek(times[Math.max(0, Math.min(motion.rows - 1, wanted))]!);
  }

  /** Pause at the next event, or at the one before. */
  stepEvent(direction: 1 | -1): void {
    this.pause();
    const times = (this.motion?.events ?? []).map((event) => event.t).sort((a, b) => a - b);
    const now = this.time.get();
    const shift = (this.end - this.begin) * 1e-7;
    const found = direction > 0 ? times.find((t) => t > now + shift) : times.reverse().find((t) => t < now - shift);
    if (found !== undefined) this.seek(found);
  }

  /** The next speed of the list, up or down. */
  changeSpeed(direction: 1 | -1): void {
    const speed = this.speed.get();
    const found = direction > 0 ? SPEEDS.find((one) => one > speed) : [...SPEEDS].reverse().find((one) => one < speed);
    if (found !== undefined) this.speed.set(found);
  }

  private within(t: number): number {
    return Math.max(this.begin, Math.min(this.end, t));
  }

  private requestFrame(): void {
    if (this.requested) return;
    this.requested = true;
    moveInFrame(this.frame);
  }

  private readonly frame = (now: number): void => {
    this.requested = false;
    if (!this.playing.get()) return;
    const passed = Number.isNaN(this.lastFrame) ? 0 : Math.min((now - this.lastFrame) / 1000, 0.25); // a tab that slept
    this.lastFrame = now;
    this.advance(passed * this.speed.get());
    if (this.playing.get()) this.requestFrame();
  };

  private advance(step: number): void {
    const t = this.time.get() + step;
    if (t < this.end || this.growing) {
      this.seek(t);
    } else if (this.loop.get() && this.end > this.begin) {
      this.seek(this.time.get() < this.end ? this.end : this.begin); // the last row is shown once
    } else {
      this.seek(this.end);
      this.pause();
    }
  }
}

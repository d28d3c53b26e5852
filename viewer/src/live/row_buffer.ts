/**
 * Rows on their way to the recording. A new run replaces the one that is shown only when it has reached the time that is
 * shown, so that the mechanism does not jump to the start whenever a slider moves; a slow one does so after a while.
 */

import type { RunEvent } from "../payload";
import { throttled } from "../ui/dom";
import type { LiveRecording } from "./recording";

const PATIENCE = 400; // ms
const GROWTH = 100; // ms between two pictures of a growing run

interface Display {
  now(): number;
  rowsChanged(motion: LiveRecording): void;
}

export class RowBuffer {
  private waiting: { rows: Float64Array; events: RunEvent[] }[] | null = null; // null: rows are shown at once
  private timer = 0;
  private last = 0; // time of the last row
  private readonly grown = throttled(GROWTH, () => this.page.rowsChanged(this.motion));

  constructor(
    private readonly motion: LiveRecording,
    private readonly page: Display,
  ) {}

  /** Time of the last row that came, s. */
  get end(): number {
    return this.last;
  }

  truncate(rows: number): void {
    this.clear();
    if (rows === 0 && this.motion.rows > 0) {
      this.waiting = [];
      this.timer = window.setInterval(() => this.commitIfAny(), PATIENCE);
      return;
    }
    this.motion.truncate(rows);
    this.page.rowsChanged(this.motion);
  }

  append(rows: Float64Array, events: RunEvent[]): void {
    this.last = rows[rows.length - this.motion.columns().length]!; // the time is the first column
    if (!this.waiting) {
      this.motion.append(rows, events);
      this.grown();
      return;
    }
    this.waiting.push({ rows, events });
    if (this.last >= this.page.now()) this.commit();
  }

  /** Show all rows that have come; without any, those of the run before stay. */
  commit(): void {
    const waiting = this.waiting ?? [];
    this.clear();
    if (waiting.length > 0) this.motion.truncate(0);
    for (const { rows, events } of waiting) this.motion.append(rows, events);
    this.page.rowsChanged(this.motion);
  }

  private commitIfAny(): void {
    if (this.waiting && this.waiting.length > 0) this.commit();
  }

  /** Forget rows that are not shown. */
  clear(): void {
    window.clearInterval(this.timer);
    this.waiting = null;
  }
}

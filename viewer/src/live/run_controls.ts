/** The run: simulate again, stop, its length, accuracy and rows. */

import type { LiveModel } from "../payload";
import { element, setText } from "../ui/dom";

export interface RunOptions {
  t_end: number;
  rtol: number;
  atol: number;
  rowsPerSecond: number;
}

export interface RunEvents {
  run(): void;
  stop(): void;
}

export class RunControls {
  readonly root = element("div", { class: "live-run" });
  private readonly stopButton: HTMLButtonElement;
  private readonly status = element("p", { class: "live-status muted", role: "status" });
  private readonly message = element("p", { class: "live-message", role: "alert", hidden: true });
  private readonly duration: HTMLInputElement;
  private readonly rtol: HTMLInputElement;
  private readonly rows: HTMLInputElement;
  private readonly fields: [name: string, field: HTMLInputElement][];

  constructor(
    private readonly live: LiveModel,
    events: RunEvents,
  ) {
    const again = element("button", { type: "button", class: "small", title: "Simulate from the start again", on: { click: () => events.run() } }, "Run again");
    this.stopButton = element("button", { type: "button", class: "small", title: "Stop simulating; the rows so far stay", on: { click: () => events.stop() } }, "Stop");
    this.duration = field(live.t_end);
    this.rtol = field(live.rtol);
    this.rows = field(live.rows_per_second);
    this.fields = [["Duration", this.duration], ["Tolerance", this.rtol], ["Rows per second", this.rows]];
    for (const [, one] of this.fields) one.addEventListener("change", () => events.run());
    this.root.append(
      element("div", { class: "live-buttons" }, again, this.stopButton, this.status),
      element(
        "div",
        { class: "live-fields" },
        labelled("Duration, s", this.duration, "Simulated time"),
        labelled("Tolerance", this.rtol, "rtol: relative accuracy of the states; atol has the same ratio to it as in the description"),
        labelled("Rows per second", this.rows, "Rows of the result for each simulated second"),
      ),
      this.message,
    );
    this.idle("");
  }

  /** Mark the fields without a positive number; return what is wrong with the first of them, null if all are valid. */
  check(): string | null {
    const invalid = this.fields.filter(([, field]) => !(field.valueAsNumber > 0));
    for (const one of this.fields) one[1].setAttribute("aria-invalid", String(invalid.includes(one)));
    return invalid[0] ? `${invalid[0][0]} must be a positive number.` : null;
  }

  /** Of the fields, after `check`. */
  get options(): RunOptions {
    const rtol = this.rtol.valueAsNumber;
    const { live } = this;
    return {
      t_end: this.duration.valueAsNumber,
      rtol,
      atol: live.atol === live.rtol ? rtol : (live.atol / live.rtol) * rtol,
      rowsPerSecond: this.rows.valueAsNumber,
    };
  }

  busy(text: string): void {
    this.status.setAttribute("aria-busy", "true"); // screen readers announce the end, not each step
    setText(this.status, text);
    this.stopButton.disabled = false;
    this.message.hidden = true;
  }

  idle(text: string): void {
    this.status.setAttribute("aria-busy", "false");
    setText(this.status, text);
    this.stopButton.disabled = true;
  }

  fail(message: string): void {
    this.idle("");
    setText(this.message, message);
    this.message.hidden = false;
  }
}

function field(value: number): HTMLInputElement {
  const made = element("input", { type: "number", step: "any", min: "0", class: "live-field" });
  made.value = String(value);
  return made;
}

function labelled(text: string, input: HTMLInputElement, title: string): HTMLElement {
  return element("label", { title }, element("span", {}, text), input);
}

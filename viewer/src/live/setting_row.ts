/** One number: a slider with ends that can be edited, a field, and a way back. */

import { element } from "../ui/dom";
import { digits, unitText } from "../ui/numbers";
import { type Entry, isSwitch, isUnlimited, sensibleRange, type Settings } from "./settings";

let made = 0;

export class SettingRow {
  readonly root: HTMLElement;
  private readonly id = `live-setting-${++made}`;
  private readonly slider = element("input", { type: "range", step: "any" });
  private readonly field = element("input", { type: "number", step: "any", class: "live-field" });
  private readonly box = element("input", { type: "checkbox" });
  private readonly back: HTMLButtonElement;
  private range: [number, number];

  constructor(
    readonly entry: Entry,
    private readonly settings: Settings,
    size: number,
    label: string = entry.quantity,
  ) {
    const { setting } = entry;
    this.range = sensibleRange(setting, size);
    const unit = unitText(setting.unit);
    const described = isUnlimited(setting.value) ? "no limit" : `${digits(setting.value)} ${unit}`.trim();
    this.back = element(
      "button",
      { type: "button", class: "icon-button live-back", "aria-label": `Reset ${setting.name}`, title: `Reset to ${described}`, on: { click: () => settings.reset([entry]) } },
      "\u21ba",
    );
    const name = element("label", { class: "live-name", for: this.id, title: setting.name }, label, element("span", { class: "muted" }, unit));
    this.root = isSwitch(entry)
      ? element("div", { class: "live-row live-switch" }, this.box, name, this.back)
      : element("div", { class: "live-row" }, name, this.slider, this.field, this.ends(), this.back);
    this.listen();
    this.show();
  }

  /** Bring slider and field to the value. */
  show(): void {
    const value = this.settings.value(this.entry);
    if (!isUnlimited(value) && (value < this.range[0] || value > this.range[1])) {
      this.range = [Math.min(value, this.range[0]), Math.max(value, this.range[1])];
    }
    this.slider.min = String(this.range[0]);
    this.slider.max = String(this.range[1]);
    this.slider.value = String(isUnlimited(value) ? this.range[1] : value);
    this.slider.setAttribute("aria-valuetext", isUnlimited(value) ? "no limit" : `${digits(value)} ${unitText(this.entry.setting.unit)}`);
    if (document.activeElement !== this.field) this.field.value = isUnlimited(value) ? "" : String(Number(value.toPrecision(12)));
    this.field.placeholder = isUnlimited(value) ? "no limit" : "";
    this.box.checked = value !== 0;
    const changed = this.settings.isChanged(this.entry);
    this.back.disabled = !changed;
    this.root.classList.toggle("live-changed", changed);
  }

  private listen(): void {
    const { name } = this.entry.setting;
    this.slider.setAttribute("aria-label", name);
    this.field.setAttribute("aria-label", `${name}, value`);
    this.field.id = this.box.id = this.id;
    this.slider.addEventListener("input", () => this.set(this.slider.valueAsNumber));
    this.field.addEventListener("input", () => this.set(this.field.valueAsNumber));
    this.field.addEventListener("blur", () => this.show());
    this.box.addEventListener("change", () => this.set(this.box.checked ? 1 : 0));
  }

  private set(value: number): void {
    if (Number.isFinite(value)) this.settings.set([[this.entry, value]]);
  }

  /** The ends of the slider, behind a button. */
  private ends(): HTMLElement {
    const { name } = this.entry.setting;
    const end = (k: 0 | 1, words: string): HTMLInputElement => {
      const field = element("input", { type: "number", step: "any", class: "live-field", "aria-label": `${name}, ${words} of the slider`, title: `${words} of the slider` });
      const write = (): void => void (field.value = String(Number(this.range[k].toPrecision(4))));
      field.addEventListener("change", () => {
        this.setEnd(k, field.valueAsNumber);
        write(); // the end that the slider has: an invalid one is not taken
      });
      write();
      return field;
    };
    const summary = element("summary", { title: "Ends of the slider", "aria-label": `${name}, ends of the slider` }, "\u2194");
    return element("details", { class: "live-ends" }, summary, element("span", {}, end(0, "smallest value"), "\u2026", end(1, "largest value")));
  }

  private setEnd(k: 0 | 1, value: number): void {
    const range: [number, number] = [...this.range];
    range[k] = value;
    if (!(range[0] < range[1])) return;
    this.range = range;
    this.show();
  }
}

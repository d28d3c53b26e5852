/** The list of all columns, with a search: each can be added to the plots or removed. */

import { columnName } from "./column_name";
import { element, setText } from "./dom";
import { matcher } from "./matching";
import { grouped, unitText } from "./numbers";

const MOST_LISTED = 200;
const MOST_ADDED = 24; // at once: more curves cannot be told apart

export interface Columns {
  all(): string[];
  unit(column: string): string;
  has(column: string): boolean;
  set(columns: string[], on: boolean): void;
}

export class ColumnPicker {
  readonly root: HTMLElement;
  private readonly search = element("input", {
    type: "search",
    class: "search",
    placeholder: "Name or pattern, as *.q",
    "aria-label": "Search columns by name or pattern",
    "data-focus": true,
    spellcheck: "false",
    autocomplete: "off",
  });
  private readonly list = element("ul", { class: "picker-list" });
  private readonly count = element("span", { class: "muted", role: "status" });
  private readonly addAll = element("button", { type: "button", class: "small" });
  private readonly removeAll = element("button", { type: "button", class: "small" }, "Remove all plots");
  private matches: string[] = [];

  constructor(private readonly columns: Columns) {
    this.root = element(
      "div",
      { class: "picker" },
      this.search,
      this.list,
      element("footer", { class: "picker-foot" }, this.count, this.addAll, this.removeAll),
    );
    this.search.addEventListener("input", () => this.refresh());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !this.addAll.hidden) this.addAll.click();
    });
    this.addAll.addEventListener("click", () => this.change(this.matches, true));
    this.removeAll.addEventListener("click", () => this.change(this.columns.all(), false));
  }

  refresh(): void {
    this.matches = this.columns.all().filter(matcher(this.search.value));
    const listed = this.matches.slice(0, MOST_LISTED);
    this.list.replaceChildren(...listed.map((column) => this.item(column)));
    this.list.scrollTop = 0;
    this.writeCount();
  }

  private item(column: string): HTMLElement {
    const box = element("input", { type: "checkbox" });
    box.checked = this.columns.has(column);
    box.addEventListener("change", () => {
      this.columns.set([column], box.checked);
      this.writeCount();
    });
    const unit = element("span", { class: "muted" }, unitText(this.columns.unit(column)));
    return element("li", {}, element("label", {}, box, columnName(column), unit));
  }

  private change(columns: string[], on: boolean): void {
    this.columns.set(columns, on);
    this.list.querySelectorAll("input").forEach((box, k) => (box.checked = this.columns.has(this.matches[k]!)));
    this.writeCount();
  }

  private writeCount(): void {
    const { length } = this.matches;
    const left = length > MOST_LISTED ? `, ${MOST_LISTED} listed` : "";
    setText(this.count, length === 1 ? "1 column" : `${grouped(length)} columns${left}`);
    const addable = this.matches.filter((column) => !this.columns.has(column)).length;
    this.addAll.hidden = !this.search.value.trim() || addable === 0 || addable > MOST_ADDED;
    setText(this.addAll, addable === 1 ? "Add it" : `Add all ${addable}`);
  }
}

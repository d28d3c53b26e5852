/** The list of all parts of the mechanism; the chosen one is open and shows its facts and its numbers. */

import type { Formulas } from "../formulas";
import type { Motion } from "../motion";
import type { Scene } from "../payload";
import { CharacteristicPlot, type DrawnCharacteristic } from "./characteristic_plot";
import { element, oncePerFrame, setText, throttled } from "./dom";
import { icon } from "./icons";
import { matcher } from "./matching";
import { companion, digits, steadyFormat, unitText } from "./numbers";
import { groupColumns, KIND_TITLES, partsOf, type ColumnGroup, type Fact, type Part, type Selection } from "./parts";
import type { Theme } from "./palette";
import type { Player } from "./player";
import type { Plots } from "./plots";
import { largestOf } from "./range";
import type { Traces } from "./traces";
import type { Value } from "./value";

const ROUNDING = 1e-14; // smaller values are rounding errors
const TEXT_INTERVAL = 80; // ms between new numbers while time runs

interface Row {
  part: Part;
  root: HTMLElement;
  button: HTMLButtonElement;
  details: HTMLElement | null;
}

interface LiveNumber {
  node: HTMLElement;
  column: string;
  /** Columns whose largest values decide its number of decimals. */
  together: string[];
  format: (value: number) => string;
}

export class Inspector {
  readonly root: HTMLElement;
  readonly search = element("input", {
    type: "search",
    class: "search",
    placeholder: "Search bodies and joints",
    "aria-label": "Search bodies, joints and other parts",
    spellcheck: "false",
    autocomplete: "off",
  });
  private readonly list = element("div", { class: "parts" });
  private readonly nothing = element("p", { class: "hint", role: "status", hidden: true }, "Nothing has such a name.");
  private rows: Row[] = [];
  private groups = new Map<string, ColumnGroup[]>();
  private motion: Motion | null = null;
  private open: Row | null = null;
  private numbers: LiveNumber[] = [];
  private characteristics: CharacteristicPlot[] = [];
  private plotButtons: { node: HTMLElement; columns: string[] }[] = [];
  private readonly show: () => void;

  constructor(
    private readonly player: Player,
    private readonly selection: Value<Selection | null>,
    private readonly plots: Plots,
    private readonly traces: Traces,
    private readonly theme: Value<Theme>,
    private readonly formulas: Formulas | null,
  ) {
    this.root = element("div", { class: "inspector" }, element("div", { class: "search-row" }, this.search), this.list, this.nothing);
    const writeSoon = throttled(TEXT_INTERVAL, () => this.write());
    this.show = oncePerFrame(() => {
      if (player.playing.get()) writeSoon();
      else this.write();
      for (const plot of this.characteristics) plot.show(player.time.get());
    });
    player.time.onChange(this.show);
    selection.onChange((selected) => this.openSelected(selected));
    plots.onColumns(() => this.markPlotted());
    this.search.addEventListener("input", () => this.filter());
    this.list.addEventListener("keydown", (event) => this.move(event));
  }

  setScene(scene: Scene, colours: Map<string, string>): void {
    this.rows = partsOf(scene).map((part) => this.row(part, part.kind === "body" ? colours.get(part.name) : undefined));
    this.list.replaceChildren();
    for (const [kind, title] of Object.entries(KIND_TITLES)) {
      const rows = this.rows.filter(({ part }) => part.kind === kind);
      if (rows.length === 0) continue;
      const heading = element("h3", {}, title, element("span", { class: "muted count" }, String(rows.length)));
      this.list.append(element("section", { "aria-label": title }, heading, ...rows.map(({ root }) => root)));
    }
    this.open = null;
    this.filter();
    this.openSelected(this.selection.get());
  }

  /** Numbers are those of this run. */
  setMotion(motion: Motion | null): void {
    this.motion = motion;
    this.groups = motion ? groupColumns(motion) : new Map();
    this.openSelected(this.selection.get());
  }

  /** Rows were added. */
  update(): void {
    for (const number of this.numbers) if (number.together.length) number.format = this.format(number.column, number.together);
    this.show();
  }

  /** The characteristics of the open part, as they are drawn. */
  get drawn(): DrawnCharacteristic[] {
    return this.characteristics.flatMap(({ drawn }) => drawn ?? []);
  }

  /** What the open part says may have changed. */
  refreshOpen(): void {
    if (!this.open) return;
    this.fold(this.open);
    this.unfold(this.open);
  }

  private row(part: Part, colour: string | undefined): Row {
    const button = element(
      "button",
      { type: "button", class: "part", "aria-expanded": "false", tabindex: "-1" },
      icon(part.icon),
      element("span", { class: "part-name", title: part.name }, part.name),
      element("span", { class: "part-summary" }, part.summary),
    );
    if (colour) button.style.setProperty("--part-colour", colour);
    const row: Row = { part, button, root: element("div", { class: "part-row" }, button), details: null };
    button.addEventListener("click", () => this.selection.set(this.open === row ? null : { kind: part.kind, name: part.name }));
    return row;
  }

  private openSelected(selected: Selection | null): void {
    const row = selected && this.rows.find(({ part }) => part.kind === selected.kind && part.name === selected.name);
    if (this.open) this.fold(this.open);
    this.open = row ?? null;
    if (!row) return;
    if (row.root.hidden) {
      this.search.value = "";
      this.filter();
    }
    this.unfold(row);
    this.makeTabStop(row);
    row.root.scrollIntoView({ block: "nearest" });
    if (row.root.offsetHeight > this.list.clientHeight) row.root.scrollIntoView({ block: "start" });
  }

  private fold(row: Row): void {
    row.details?.remove();
    row.details = null;
    row.root.classList.remove("open");
    row.button.setAttribute("aria-expanded", "false");
    for (const plot of this.characteristics) plot.dispose();
    this.characteristics = [];
    this.numbers = [];
    this.plotButtons = [];
  }

  private unfold(row: Row): void {
    row.details = element("div", { class: "details", role: "group", "aria-label": row.part.name });
    row.root.classList.add("open");
    row.button.setAttribute("aria-expanded", "true");
    const facts = element("dl", { class: "facts" });
    for (const fact of row.part.facts) facts.append(element("dt", {}, fact.label), this.factValue(fact));
    const groups = row.part.owners.flatMap((owner) => this.groups.get(owner) ?? []);
    const table = element("div", { class: "columns" }, ...groups.map((group) => this.columnGroup(group)));
    this.characteristics = this.characteristicsOf(row.part);
    row.details.append(...this.characteristics.map(({ root }) => root), facts, table);
    const trace = this.traces.button(row.part);
    if (trace) row.details.append(trace);
    row.root.append(row.details);
    this.markPlotted();
    this.write();
    for (const plot of this.characteristics) plot.show(this.player.time.get());
  }

  private characteristicsOf({ name }: Part): CharacteristicPlot[] {
    const { motion, formulas, theme } = this;
    if (!motion?.model || !formulas) return [];
    return motion.scene.characteristics
      .filter(({ force, arguments: needed }) => force === name && needed.every((column) => motion.has(column)))
      .map((one) => new CharacteristicPlot(one, motion, formulas, theme));
  }

  private factValue(fact: Fact): HTMLElement {
    if ("text" in fact) return element("dd", {}, fact.text);
    const links = fact.links.map((one) => {
      const known = this.rows.some(({ part }) => part.kind === one.kind && part.name === one.name);
      if (!known) return element("span", { class: "no-link" }, one.name);
      return element("button", { type: "button", class: "link", title: one.name, on: { click: () => this.goTo(one) } }, one.name);
    });
    return element("dd", { class: "links" }, ...links);
  }

  private goTo(selected: Selection): void {
    this.selection.set(selected);
    this.open?.button.focus();
  }

  private columnGroup(group: ColumnGroup): HTMLElement {
    const { columns, unit } = group;
    const plot = element("button", { type: "button", class: "icon-button plot-button" }, icon("plot"));
    plot.addEventListener("click", () => this.plots.set(columns, !columns.every((column) => this.plots.has(column))));
    this.plotButtons.push({ node: plot, columns });
    const number = (column: string): HTMLElement => {
      const node = element("span", { class: "number", title: column });
      this.numbers.push({ node, column, together: columns, format: this.format(column, columns) });
      return node;
    };
    const other = columns.length === 1 ? this.companionOf(columns[0]!, unit) : "";
    const label = element("span", { class: "quantity", title: columns.join(", ") }, element("b", {}, group.symbol), group.text && ` ${group.text}`);
    const values = element("span", { class: "values" }, other, ...columns.map(number), element("span", { class: "unit" }, unitText(unit)));
    return element("div", { class: "column-group" }, plot, label, values);
  }

  /** The same value in degrees or revolutions per minute. */
  private companionOf(column: string, unit: string): HTMLElement | "" {
    if (companion(0, unit) === null) return "";
    const node = element("span", { class: "number muted" });
    this.numbers.push({ node, column, together: [], format: (value) => companion(value, unit) ?? "" });
    return node;
  }

  private format(column: string, together: string[]): (value: number) => string {
    const { motion } = this;
    if (!motion) return String;
    const largest = largestOf(motion, column);
    if (largest < ROUNDING && !motion.scene.residuals.includes(column)) return (value) => digits(Math.abs(value) < ROUNDING ? 0 : value);
    return steadyFormat(Math.max(...together.map((one) => largestOf(motion, one))), together.length > 1 ? 5 : 6);
  }

  private write(): void {
    const t = this.player.time.get();
    for (const { node, column, format } of this.numbers) setText(node, this.motion ? format(this.motion.at(column, t)) : "");
  }

  private markPlotted(): void {
    for (const { node, columns } of this.plotButtons) {
      const on = columns.every((column) => this.plots.has(column));
      const name = columns.length > 1 ? `${columns[0]} to ${columns[columns.length - 1]}` : columns[0]!;
      node.setAttribute("aria-pressed", String(on));
      node.setAttribute("aria-label", `Plot ${name}`);
      node.title = on ? `Remove ${name} from the plots` : `Plot ${name}`;
    }
  }

  private filter(): void {
    const test = matcher(this.search.value);
    for (const { part, root } of this.rows) root.hidden = !test(part.name);
    for (const section of this.list.children) {
      (section as HTMLElement).hidden = !section.querySelector(".part-row:not([hidden])");
    }
    const shown = this.shown();
    this.nothing.hidden = shown.length > 0;
    if (shown.length && !shown.some(({ button }) => button.tabIndex === 0)) this.makeTabStop(shown[0]!);
  }

  private shown(): Row[] {
    return this.rows.filter(({ root }) => !root.hidden);
  }

  /** One row is reached by Tab, the others by arrows. */
  private makeTabStop(row: Row): void {
    for (const { button } of this.rows) button.tabIndex = -1;
    row.button.tabIndex = 0;
  }

  private move(event: KeyboardEvent): void {
    const rows = this.shown();
    const at = rows.findIndex(({ button }) => button === event.target);
    if (at < 0) return;
    const targets: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1 };
    const row = rows[targets[event.key] ?? -1];
    if (!row) return;
    event.preventDefault();
    event.stopPropagation();
    this.makeTabStop(row);
    row.button.focus();
  }
}

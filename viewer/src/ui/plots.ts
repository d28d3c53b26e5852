/** The plots: columns over time, one panel for each unit, with the time of the scene in all of them. */

import type { Motion } from "../motion";
import type { Scene } from "../payload";
import { ColumnPicker } from "./column_picker";
import { element, oncePerFrame, throttled } from "./dom";
import { icon } from "./icons";
import { PlotPanel, type Curve, type PanelActions } from "./plot_panel";
import type { Theme } from "./palette";
import type { Player } from "./player";
import { Popover } from "./popover";
import type { Value } from "./value";

const MOST_DEFAULT = 8;
const TEXT_INTERVAL = 50; // ms between new numbers in the legend

export class Plots {
  readonly root: HTMLElement;
  /** Columns that are drawn, in the order in which they were added. */
  private readonly chosen = new Map<string, Curve>();
  private readonly panels = new Map<string, PlotPanel>();
  private readonly body = element("div", { class: "plots-body" });
  private readonly hint = element("p", { class: "hint" }, "No columns chosen. Add some by name, or by the plot buttons of bodies and joints.");
  private readonly resetZoom = element("button", { type: "button", class: "small", title: "Show the whole run (double click in a plot)" }, icon("zoomOut"), "All");
  private readonly observers: (() => void)[] = [];
  private motions: Motion[] = [];
  private zoomed: [number, number] | null = null;
  private hovered: number | null = null;
  private readonly showSoon: () => void;
  private readonly write: () => void;
  private readonly picker: Popover;

  constructor(
    private readonly player: Player,
    private readonly theme: Value<Theme>,
  ) {
    const add = element("button", { type: "button", class: "small", title: "Add or remove columns (C)" }, icon("plus"), "Columns");
    const picker = new ColumnPicker({
      all: () => this.motions[0]?.columns().filter((column) => column !== "time") ?? [],
      unit: (column) => this.unitOf(column),
      has: (column) => this.has(column),
      set: (columns, on) => this.set(columns, on),
    });
    this.picker = new Popover(add, "Columns of the plots", picker.root, () => picker.refresh());
    this.resetZoom.addEventListener("click", () => this.zoom(null));
    this.root = element(
      "section",
      { class: "pane plots", "aria-label": "Plots" },
      element("header", { class: "pane-head" }, element("h2", {}, "Plots"), element("span", { class: "spacer" }), this.resetZoom, add),
      this.body,
    );
    this.body.append(this.hint);
    this.resetZoom.hidden = true;
    this.write = throttled(TEXT_INTERVAL, () => this.panels.forEach((panel) => panel.write(this.hovered ?? player.time.get())));
    this.showSoon = oncePerFrame(() => this.showNow());
    player.time.onChange(this.showSoon);
    player.span.onChange(() => this.update());
    theme.onChange(() => this.redraw());
  }

  /** Draw the columns of these runs. The default columns are chosen when the first one comes. */
  setMotions(motions: Motion[]): void {
    const first = this.motions.length === 0 && motions.length > 0;
    this.motions = motions;
    if (first && this.chosen.size === 0) this.set(defaultColumns(motions[0]!.scene, motions[0]!), true);
    this.redraw();
  }

  has(column: string): boolean {
    return this.chosen.has(column);
  }

  set(columns: string[], on: boolean): void {
    for (const column of columns) {
      if (on && !this.has(column)) this.chosen.set(column, { column, colour: this.freeColour(column) });
      if (!on) this.chosen.delete(column);
    }
    this.redraw();
    for (const observer of this.observers) observer();
  }

  chooseColumns(): void {
    this.picker.show();
  }

  /** Called when columns were added or removed. */
  onColumns(observer: () => void): void {
    this.observers.push(observer);
  }

  /** Rows were added to a run. */
  update(): void {
    for (const panel of this.panels.values()) panel.update(this.span);
    this.showSoon();
  }

  private get span(): [number, number] {
    if (this.zoomed) return this.zoomed;
    const { begin, end } = this.player;
    return end > begin ? [begin, end] : [begin, begin + 1];
  }

  private unitOf(column: string): string {
    return this.motions[0]?.scene.units[column] ?? "1";
  }

  private panelKey(column: string): string {
    return this.isResidual(column) ? `log ${this.unitOf(column)}` : this.unitOf(column);
  }

  private isResidual(column: string): boolean {
    return this.motions.some(({ scene }) => scene.residuals.includes(column));
  }

  /** The first colour that the panel does not use yet. */
  private freeColour(column: string): number {
    const key = this.panelKey(column);
    const used = new Set([...this.chosen.values()].filter((curve) => this.panelKey(curve.column) === key).map(({ colour }) => colour));
    let colour = 0;
    while (used.has(colour)) colour++;
    return colour;
  }

  private redraw(): void {
    const groups = new Map<string, Curve[]>();
    for (const curve of this.chosen.values()) {
      if (!this.motions.some((motion) => motion.has(curve.column))) continue;
      const key = this.panelKey(curve.column);
      groups.set(key, [...(groups.get(key) ?? []), curve]);
    }
    for (const [key, panel] of this.panels) {
      if (groups.has(key)) continue;
      panel.dispose();
      this.panels.delete(key);
    }
    for (const [key, curves] of groups) this.panel(key, curves).set(curves, this.motions, this.span, this.theme.get());
    this.hint.hidden = groups.size > 0;
    this.showNow();
  }

  private panel(key: string, curves: Curve[]): PlotPanel {
    let panel = this.panels.get(key);
    if (!panel) {
      const { column } = curves[0]!;
      panel = new PlotPanel(this.unitOf(column), this.isResidual(column), this.actions);
      this.panels.set(key, panel);
      this.body.append(panel.root);
    }
    return panel;
  }

  private readonly actions: PanelActions = {
    seek: (t) => {
      this.player.pause();
      this.player.seek(t);
    },
    zoom: (span) => this.zoom(span),
    hover: (t) => {
      this.hovered = t;
      this.showSoon();
    },
    remove: (column) => this.set([column], false),
  };

  private zoom(span: [number, number] | null): void {
    const { begin, end } = this.player;
    const cut: [number, number] | null = span && [Math.max(begin, span[0]), Math.min(end, span[1])];
    const tooShort = cut !== null && !(cut[1] - cut[0] > (end - begin) * 1e-5);
    if (tooShort) return;
    const whole = cut === null || (cut[0] <= begin && cut[1] >= end);
    this.zoomed = whole ? null : cut;
    this.resetZoom.hidden = whole;
    this.update();
  }

  private showNow(): void {
    for (const panel of this.panels.values()) panel.show(this.player.time.get(), this.hovered);
    this.write();
  }
}

/** Joint coordinates, but no quaternions, and the energies. */
export function defaultColumns(scene: Scene, motion: Motion): string[] {
  const coordinates = scene.joints.flatMap(({ q }) => q).filter((column) => scene.units[column] !== "1");
  return [...coordinates.slice(0, MOST_DEFAULT), ...scene.energies].filter((column) => motion.has(column));
}

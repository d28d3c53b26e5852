/** One plot: curves of one unit over time, with a legend of the values at the cursor. */

import uPlot from "uplot";
import type { Motion } from "../motion";
import { abscissaIn, LABEL_WIDTH, ordinateIn, TICKS_WIDTH, yRange } from "./axes";
import { columnName } from "./column_name";
import { decimate, type Curves } from "./decimate";
import { element, oncePerFrame, onDrag, setText } from "./dom";
import { icon } from "./icons";
import { steadyFormat, unitText } from "./numbers";
import { curveColour, dashes, type Theme } from "./palette";
import { largestOf } from "./range";

/** A column with its colour, the same in all runs. */
export interface Curve {
  column: string;
  colour: number;
}

export interface PanelActions {
  seek(t: number): void;
  zoom(span: [number, number] | null): void;
  hover(t: number | null): void;
  remove(column: string): void;
}

const AXIS_WIDTH = TICKS_WIDTH + LABEL_WIDTH;
const BUCKETS_PER_PIXEL = 2;
const SMALLEST_OF_LOG = 1e-18; // zero has no logarithm

export class PlotPanel {
  readonly root: HTMLElement;
  private readonly frame = element("div", { class: "plot-frame" });
  private readonly legend = element("ul", { class: "legend" });
  private readonly cursor = element("div", { class: "time-cursor" });
  private readonly hoverLine = element("div", { class: "hover-line" });
  private readonly selection = element("div", { class: "zoom-span" });
  private plot: uPlot | null = null;
  private curves: Curve[] = [];
  private motions: Motion[] = [];
  private span: [number, number] = [0, 1];
  private theme: Theme = "light";
  private values: { node: HTMLElement; motion: Motion; column: string; format: (value: number) => string }[] = [];
  private dots: { node: HTMLElement; motion: Motion; column: string }[] = [];
  private shown: { t: number; hovered: number | null } = { t: 0, hovered: null };

  constructor(
    readonly unit: string,
    readonly logarithmic: boolean,
    private readonly actions: PanelActions,
  ) {
    this.root = element("section", { class: "plot", "aria-label": `Plot, ${this.axisLabel()}` }, this.legend, this.frame);
    new ResizeObserver(oncePerFrame(() => this.fit())).observe(this.frame);
  }

  /** Draw these; an empty list of motions draws nothing. */
  set(curves: Curve[], motions: Motion[], span: [number, number], theme: Theme): void {
    this.curves = curves;
    this.motions = motions;
    this.span = span;
    this.theme = theme;
    this.writeLegend();
    this.draw();
  }

  /** The same curves over another span, or with more rows. */
  update(span: [number, number]): void {
    this.span = span;
    if (!this.plot) return this.draw();
    this.plot.batch(() => {
      this.plot!.setData(this.data(), false);
      this.plot!.setScale("x", { min: span[0], max: span[1] });
    });
    this.formatValues();
  }

  /** Write the values at a time. */
  write(t: number): void {
    for (const { node, motion, column, format } of this.values) setText(node, format(motion.at(column, t)));
  }

  /** Move the cursor. `hovered` is the time under the pointer, in this plot or another. */
  show(t: number, hovered: number | null): void {
    this.shown = { t, hovered };
    if (this.plot) this.place(this.plot);
  }

  private place(plot: uPlot): void {
    const { t, hovered } = this.shown;
    const at = hovered ?? t;
    const [width, height] = [plot.bbox.width / uPlot.pxRatio, plot.bbox.height / uPlot.pxRatio];
    moveTo(this.cursor, plot.valToPos(t, "x"), width);
    moveTo(this.hoverLine, hovered === null ? NaN : plot.valToPos(hovered, "x"), width);
    for (const { node, motion, column } of this.dots) {
      const value = this.drawable(motion.at(column, at));
      const [x, y] = [plot.valToPos(at, "x"), value === null ? NaN : plot.valToPos(value, "y")];
      node.hidden = !(x >= -1 && x <= width + 1 && y >= -4 && y <= height + 4);
      if (!node.hidden) node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
  }

  dispose(): void {
    this.plot?.destroy();
    this.plot = null;
    this.root.remove();
  }

  private axisLabel(): string {
    const unit = unitText(this.unit) || "1";
    return this.logarithmic ? `${unit} (log)` : unit;
  }

  private drawable(value: number): number | null {
    if (!Number.isFinite(value)) return null;
    return this.logarithmic ? Math.max(Math.abs(value), SMALLEST_OF_LOG) : value;
  }

  private fit(): void {
    const { clientWidth: width, clientHeight: height } = this.frame;
    if (width === 0 || height === 0) return;
    if (!this.plot) return this.draw();
    this.plot.setSize({ width, height });
    this.update(this.span);
  }

  private draw(): void {
    this.plot?.destroy();
    this.plot = null;
    const { clientWidth: width, clientHeight: height } = this.frame;
    if (width === 0 || height === 0 || !this.motions.length) return;
    this.plot = new uPlot({ width, height, ...this.options() }, this.data(), this.frame);
    this.plot.over.append(this.selection, this.hoverLine, this.cursor);
    this.writeDots(this.plot.over);
    this.listen(this.plot.over);
    this.plot.setScale("x", { min: this.span[0], max: this.span[1] });
  }

  private options(): Omit<uPlot.Options, "width" | "height"> {
    return {
      padding: [6, 12, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, auto: false },
        y: this.logarithmic ? { distr: 3, log: 10 } : { range: (_plot, low, high) => yRange(low, high) },
      },
      axes: [
        abscissaIn(this.root),
        ordinateIn(this.root, this.axisLabel()),
      ],
      series: [{}, ...this.motions.flatMap((_, run) => this.curves.map((curve) => this.series(curve, run)))],
      hooks: { drawAxes: [(plot) => this.drawEvents(plot)], draw: [(plot) => this.place(plot)] },
    };
  }

  private series(curve: Curve, run: number): uPlot.Series {
    return {
      label: curve.column,
      stroke: curveColour(curve.colour, this.theme),
      width: 1.6,
      dash: dashes(run),
      points: { show: false },
      pxAlign: 0,
      spanGaps: false,
    };
  }

  /** Thin lines at the events of the first run. */
  private drawEvents(plot: uPlot): void {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = getComputedStyle(this.root).getPropertyValue("--event").trim();
    ctx.globalAlpha = 0.35;
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const { t } of this.motions[0]?.events ?? []) {
      const x = Math.round(plot.valToPos(t, "x", true)) + 0.5;
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
    }
    ctx.stroke();
    ctx.restore();
  }

  private data(): uPlot.AlignedData {
    const buckets = Math.max(50, BUCKETS_PER_PIXEL * (this.frame.clientWidth - AXIS_WIDTH));
    const [from, to] = this.span;
    const tables = this.motions.map((motion): Curves => {
      const columns = this.curves.map(({ column }) => (motion.has(column) ? motion.column(column) : nothing(motion.rows)));
      return motion.rows ? decimate(motion.column("time"), columns, motion.rows, from, to, buckets) : [[], ...columns.map(() => [])];
    });
    for (const [, ...columns] of tables) if (this.logarithmic) columns.forEach((column) => this.makePositive(column));
    if (tables.length === 1) return tables[0] as uPlot.AlignedData;
    return uPlot.join(tables as uPlot.AlignedData[]);
  }

  private makePositive(column: (number | null)[]): void {
    column.forEach((value, k) => (column[k] = value === null ? null : this.drawable(value)));
  }

  private writeLegend(): void {
    this.values = [];
    this.legend.style.setProperty("--runs", String(this.motions.length));
    this.legend.replaceChildren(...this.curves.map((curve) => this.legendItem(curve)));
    this.formatValues();
  }

  private legendItem({ column, colour }: Curve): HTMLElement {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = curveColour(colour, this.theme);
    const numbers = this.motions
      .filter((motion) => motion.has(column))
      .map((motion) => {
        const node = element("span", { class: "number", title: this.motions.length > 1 ? motion.label : undefined });
        this.values.push({ node, motion, column, format: String });
        return node;
      });
    const remove = element(
      "button",
      { class: "plain remove", type: "button", "aria-label": `Remove ${column} from the plots`, title: "Remove", on: { click: () => this.actions.remove(column) } },
      icon("close"),
    );
    return element("li", {}, swatch, columnName(column), ...numbers, remove);
  }

  private formatValues(): void {
    for (const value of this.values) {
      const largest = largestOf(value.motion, value.column);
      value.format = steadyFormat(largest);
      value.node.style.minWidth = `${value.format(-largest).length}ch`; // the legend stays where it is
    }
  }

  private writeDots(over: HTMLElement): void {
    this.dots = this.motions.flatMap((motion) =>
      this.curves
        .filter(({ column }) => motion.has(column))
        .map(({ column, colour }) => {
          const node = element("div", { class: "curve-dot", hidden: true });
          node.style.background = curveColour(colour, this.theme);
          over.append(node);
          return { node, motion, column };
        }),
    );
  }

  /** A click or drag seeks, a drag with Shift or the wheel with Ctrl zooms, a double click shows all. */
  private listen(over: HTMLElement): void {
    const timeAt = (event: PointerEvent | WheelEvent): number => {
      return this.plot!.posToVal(event.clientX - over.getBoundingClientRect().left, "x");
    };
    let anchor: number | null = null;
    let reached = 0;
    const move = (event: PointerEvent): void => {
      const t = timeAt(event);
      if (anchor === null) return this.actions.seek(t);
      reached = t;
      const [low, high] = [Math.min(anchor, t), Math.max(anchor, t)].map((one) => this.plot!.valToPos(one, "x"));
      this.selection.style.left = `${low}px`;
      this.selection.style.width = `${high! - low!}px`;
    };
    const start = (event: PointerEvent): void => {
      if (!event.shiftKey) return;
      anchor = timeAt(event);
      this.selection.hidden = false;
    };
    const end = (): void => {
      this.selection.hidden = true;
      if (anchor !== null && Math.abs(this.plot!.valToPos(reached, "x") - this.plot!.valToPos(anchor, "x")) > 3) {
        this.actions.zoom([Math.min(anchor, reached), Math.max(anchor, reached)]);
      }
      anchor = null;
    };
    this.selection.hidden = true;
    onDrag(over, move, { start, end });
    over.addEventListener("dblclick", () => this.actions.zoom(null));
    over.addEventListener("pointermove", (event) => event.pointerType === "mouse" && this.actions.hover(event.buttons ? null : timeAt(event)));
    over.addEventListener("pointerleave", () => this.actions.hover(null));
    over.addEventListener("wheel", (event) => this.wheel(event, timeAt(event)), { passive: false });
  }

  private wheel(event: WheelEvent, t: number): void {
    if (!event.ctrlKey) return; // the list of plots scrolls
    event.preventDefault();
    const factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200)));
    const [from, to] = this.span;
    this.actions.zoom([t + (from - t) * factor, t + (to - t) * factor]);
  }
}

/** Hidden outside of the plot. */
function moveTo(line: HTMLElement, x: number, width: number): void {
  line.hidden = !(x >= -1 && x <= width + 1);
  if (!line.hidden) line.style.transform = `translateX(${x.toFixed(1)}px)`;
}

function nothing(rows: number): Float32Array {
  return new Float32Array(rows).fill(NaN);
}

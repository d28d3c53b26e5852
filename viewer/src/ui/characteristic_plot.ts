/** The characteristic of a force as a small plot, with the point where the motion is. */

import uPlot from "uplot";
import { CharacteristicAt, type Curve, type Span } from "../characteristic";
import type { Formulas } from "../formulas";
import type { Motion } from "../motion";
import type { Characteristic } from "../payload";
import { abscissaIn, labelOf, ordinateIn, yRange } from "./axes";
import { element, oncePerFrame, setText } from "./dom";
import { digits, withUnit } from "./numbers";
import { curveColour, type Theme } from "./palette";
import type { Value } from "./value";

/** What is drawn, for tests. */
export interface DrawnCharacteristic {
  t: number; // s
  force: string;
  label: string;
  over: string;
  x: number[];
  y: (number | null)[];
  dots: (number | null)[];
  point: [number, number];
}

export class CharacteristicPlot {
  readonly root: HTMLElement;
  private readonly frame = element("div", { class: "plot-frame" });
  private readonly dot = element("div", { class: "curve-dot characteristic-point", hidden: true });
  private readonly value = element("span", { class: "number characteristic-value" });
  private readonly text = element("p", { class: "characteristic-values" });
  private readonly closing = new AbortController();
  private readonly resized = new ResizeObserver(oncePerFrame(() => this.fit()));
  private plot: uPlot | null = null;
  private over: number;
  private t = 0;
  private shown = NaN; // the time of the point
  private curve: Curve | null = null;
  private key = "";
  private parameters: Motion["parameters"] | null = null; // of the curve
  private range: Span | null = null; // of the ordinate: it does not shrink while the curve moves
  private point: [number, number] = [NaN, NaN];

  constructor(
    private readonly of: Characteristic,
    private readonly motion: Motion,
    private readonly formulas: Formulas,
    private readonly theme: Value<Theme>,
  ) {
    this.over = of.over[0]!;
    const label = `Characteristic of ${of.force}, ${of.label}`;
    this.root = element("section", { class: "characteristic", "aria-label": label }, this.chooser(), this.frame, this.text);
    this.resized.observe(this.frame);
    theme.onChange(() => this.draw(), this.closing.signal);
    formulas.load(motion).then(
      () => this.show(this.t),
      (error) => setText(this.text, `The curve cannot be drawn: ${error}`),
    );
  }

  get drawn(): DrawnCharacteristic | null {
    const { of, curve, point, shown: t } = this;
    return curve && { t, force: of.force, label: of.label, over: this.abscissa, x: curve.x, y: curve.y, dots: curve.dots, point };
  }

  /** Draw the curve of a time, where it differs, and its point. */
  show(t: number): void {
    this.t = t;
    if (this.closing.signal.aborted || this.motion.rows === 0) return;
    try {
      const formula = this.formulas.of(this.motion, this.of.force);
      if (formula) this.showAt(new CharacteristicAt(this.of, this.over, formula, this.motion, t));
    } catch (error) {
      this.dot.hidden = true;
      setText(this.value, "");
      setText(this.text, String(error instanceof Error ? error.message : error));
    }
  }

  dispose(): void {
    this.closing.abort();
    this.resized.disconnect();
    this.plot?.destroy();
    this.root.remove();
  }

  private get abscissa(): string {
    return this.of.arguments[this.over]!;
  }

  private unitOf(column: string): string {
    return this.motion.scene.units[column] ?? "1";
  }

  /** Over which argument it is drawn, where it depends on several. */
  private chooser(): HTMLElement {
    const { of } = this;
    const title = element("b", {}, of.label);
    if (of.over.length === 1) return element("div", { class: "characteristic-head" }, title, element("span", { class: "muted" }, `over ${this.abscissa}`), this.value);
    const select = element("select", { class: "choice", "aria-label": `Abscissa of ${of.label} of ${of.force}` });
    select.append(...of.over.map((k) => element("option", { value: k }, of.arguments[k]!)));
    select.addEventListener("change", () => {
      this.over = Number(select.value);
      this.curve = null;
      this.draw();
      this.show(this.t);
    });
    return element("div", { class: "characteristic-head" }, title, element("span", { class: "muted" }, "over"), select, this.value);
  }

  private showAt(at: CharacteristicAt): void {
    const key = at.key();
    const { parameters } = this.motion;
    if (!this.curve || key !== this.key || parameters !== this.parameters) this.take(at.curve(), key);
    this.point = at.point;
    this.shown = this.t;
    this.write(at);
    if (this.plot) this.place(this.plot);
  }

  private take(curve: Curve, key: string): void {
    const { window } = curve;
    const moved = !this.curve || window[0] !== this.curve.window[0] || window[1] !== this.curve.window[1];
    if (moved || this.parameters !== this.motion.parameters) this.range = null;
    if (curve.range) this.range = this.range ? [Math.min(this.range[0], curve.range[0]), Math.max(this.range[1], curve.range[1])] : curve.range;
    Object.assign(this, { curve, key, parameters: this.motion.parameters });
    if (!this.plot) return this.draw();
    this.plot.batch(() => {
      this.plot!.setData(this.data(curve), false);
      this.scale(this.plot!);
    });
  }

  private write({ others }: CharacteristicAt): void {
    const [x, y] = this.point;
    const at = [[this.abscissa, x] as const, ...others.map(({ column, value }) => [column, value] as const)];
    setText(this.value, withUnit(digits(y), this.of.unit));
    setText(this.text, `at ${at.map(([column, value]) => `${column} = ${withUnit(digits(value), this.unitOf(column))}`).join(", ")}`);
  }

  private place(plot: uPlot): void {
    const [width, height] = [plot.bbox.width / uPlot.pxRatio, plot.bbox.height / uPlot.pxRatio];
    const [x, y] = [plot.valToPos(this.point[0], "x"), plot.valToPos(this.point[1], "y")];
    this.dot.hidden = !(x >= -4 && x <= width + 4 && y >= -4 && y <= height + 4);
    if (!this.dot.hidden) this.dot.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
  }

  private fit(): void {
    const { clientWidth: width, clientHeight: height } = this.frame;
    if (this.plot && width && height) this.plot.setSize({ width, height });
    else this.draw();
  }

  private draw(): void {
    this.plot?.destroy();
    this.plot = null;
    const { clientWidth: width, clientHeight: height } = this.frame;
    if (!this.curve || width === 0 || height === 0) return;
    this.plot = new uPlot({ width, height, ...this.options() }, this.data(this.curve), this.frame);
    this.plot.over.append(this.dot);
    this.scale(this.plot);
  }

  private options(): Omit<uPlot.Options, "width" | "height"> {
    const colour = curveColour(0, this.theme.get());
    this.dot.style.background = curveColour(1, this.theme.get());
    const abscissa = labelOf(this.abscissa, this.unitOf(this.abscissa));
    return {
      padding: [8, 14, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, auto: false }, y: { auto: false } },
      axes: [abscissaIn(this.root, abscissa), ordinateIn(this.root, labelOf(this.of.label, this.of.unit))],
      series: [
        {},
        { stroke: colour, width: 1.6, points: { show: false }, pxAlign: 0 },
        { stroke: colour, paths: () => null, points: { show: true, size: 5, fill: colour, width: 0 } },
      ],
      hooks: { draw: [(plot) => this.place(plot)] },
    };
  }

  private data({ x, y, dots }: Curve): uPlot.AlignedData {
    return [x, y, dots];
  }

  private scale(plot: uPlot): void {
    const [min, max] = this.curve!.window;
    const [low, high] = yRange(this.range?.[0] ?? null, this.range?.[1] ?? null);
    plot.setScale("x", { min, max });
    plot.setScale("y", { min: low!, max: high! });
  }
}

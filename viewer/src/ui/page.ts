/** The page: the panels around the stage, and what connects them. */

import type { Formulas } from "../formulas";
import type { Motion } from "../motion";
import type { Payload, RecordedRun, Scene } from "../payload";
import type { Selectable, Stage, ViewName } from "../stage/stage";
import { arrowLegend } from "./arrow_scale";
import type { DrawnCharacteristic } from "./characteristic_plot";
import { element, throttled } from "./dom";
import { fileName, save } from "./files";
import { Gauges } from "./gauges";
import { Help } from "./help";
import { Inspector } from "./inspector";
import { listenToKeys, type Command } from "./keys";
import { LAYERS, LayerStates } from "./layers";
import { Layout, type Pane } from "./layout";
import { banner, notesButton, notesOf, problem, rowsText } from "./messages";
import type { Theme } from "./palette";
import type { Kind, Selection } from "./parts";
import { Player } from "./player";
import { Plots } from "./plots";
import { forgetRanges } from "./range";
import { runLegend } from "./runs";
import { playWhileSeen } from "./screen_time";
import { other } from "./theme";
import { Timeline } from "./timeline";
import { Toolbar, VIEWS } from "./toolbar";
import { Traces } from "./traces";
import { Value } from "./value";

export interface PageOptions {
  payload: Payload;
  scene: Scene;
  /** Of the bodies. */
  colours: Map<string, string>;
  /** Recorded runs of the page, for what is said about them. */
  runs: RecordedRun[];
  theme: Value<Theme>;
  /** Throws where the browser cannot draw in three dimensions. */
  createStage(host: HTMLElement, theme: Theme): Stage;
  /** Panels before the list of parts. */
  panes: Pane[];
  /** Behind the title. */
  choices: HTMLElement | null;
  /** Of forces; null: the page has no core. */
  formulas: Formulas | null;
  /** Play as soon as the page is seen. */
  play: boolean;
}

const ROWS_INTERVAL = 120; // ms between new rows in plots and lists
const SELECTABLE: readonly Kind[] = ["body", "joint", "spring", "distance", "point"] satisfies Selectable[];

function isSelectable(kind: Kind): kind is Selectable {
  return SELECTABLE.includes(kind);
}

export class Page {
  readonly player = new Player();
  readonly selection = new Value<Selection | null>(null);
  readonly layout: Layout;
  readonly stage: Stage | null;
  private readonly scene: Scene;
  private readonly theme: Value<Theme>; // it ends with the page
  private readonly sideOpen = new Value(true);
  private readonly help: Help;
  private readonly closing = new AbortController();
  private readonly layers = new LayerStates();
  private readonly plots: Plots;
  private readonly timeline: Timeline;
  private readonly inspector: Inspector;
  private readonly gauges: Gauges;
  private readonly traces: Traces;
  private readonly canTrace = new Value(false);
  private readonly arrows = element("div", { class: "arrow-legend", "aria-label": "Arrows" });
  private motions: Motion[] = [];
  private drawn: Motion[] = [];
  private legend: HTMLElement | null = null;
  private readonly refresh = throttled(ROWS_INTERVAL, () => {
    this.timeline.setMotions(this.motions);
    this.plots.update();
    this.inspector.update();
    this.gauges.update();
  });

  constructor(options: PageOptions) {
    const { payload, scene, runs } = options;
    this.scene = scene;
    this.theme = new Value(options.theme.get());
    options.theme.onChange((theme) => this.theme.set(theme), this.closing.signal);
    const commands = this.commands();
    this.help = new Help(commands, payload.version, options.panes.length > 0);
    this.plots = new Plots(this.player, this.theme);
    this.timeline = new Timeline(this.player);
    this.gauges = new Gauges(this.player);
    this.traces = new Traces(scene, (point, on) => this.stage?.setTrace(point, on), this.layers.of("traces"));
    this.inspector = new Inspector(this.player, this.selection, this.plots, this.traces, this.theme, options.formulas);
    const parts: Pane = { id: "parts", title: "Mechanism", root: element("section", { class: "pane parts-pane" }, this.inspector.root) };
    const plots: Pane = { id: "plots", title: "Plots", root: this.plots.root };
    const toolbar = this.toolbar(payload.title, options.theme);
    toolbar.afterTitle.append(options.choices ?? "", notesButton(notesOf(runs, payload.scenes)) ?? "");
    this.layout = new Layout(toolbar.root, this.timeline.root, [...options.panes, parts, plots], this.sideOpen);
    this.layout.stageHost.setAttribute("role", "img");
    this.layout.stageHost.setAttribute("aria-label", `Scene of ${scene.name}; its parts are listed in the panel "Mechanism"`);
    document.body.append(this.layout.root);
    this.layout.arrange();
    this.stage = this.tryStage(options.createStage);
    this.inspector.setScene(scene, options.colours);
    this.connectStage();
    this.layout.strip.append(this.gauges.root);
    this.layout.corner.append(rowsNote(runs) ?? "", this.arrows);
    const messages = runs.filter(({ message }) => message).map(({ message, label }) => (runs.length > 1 ? `${label}: ${message}` : message));
    this.layout.overlay.append(...messages.map(banner));
    this.layout.root.append(this.help.root);
    this.player.time.follow((t) => this.stage?.show(t));
    this.selection.onChange((selected) => this.select(selected));
    listenToKeys(commands, this.closing.signal);
    playWhileSeen(this.player, this.layout.root, options.play, this.closing.signal);
  }

  /** Make room for another page. */
  dispose(): void {
    this.closing.abort();
    this.player.pause();
    this.stage?.dispose();
    this.layout.root.remove();
  }

  /** Show these runs, with a switch for each where there are several; the first one is the main one. */
  show(motions: Motion[]): void {
    const legend = runLegend(motions, (shown) => this.setMotions(shown));
    this.legend?.remove();
    this.legend = legend;
    if (legend) this.layout.overlay.prepend(legend);
    this.setMotions(motions);
  }

  /** Rows of a run were added or taken away. */
  rowsChanged(motion: Motion): void {
    if (this.closing.signal.aborted) return;
    forgetRanges(motion);
    this.player.setMotions(this.motions);
    if (motion.rows > 0 && this.motions.includes(motion) && !this.drawn.includes(motion)) this.drawMotions();
    this.stage?.show(this.player.time.get());
    this.refresh();
  }

  /** Select by name; null selects nothing. */
  selectByName(name: string | null): void {
    const kinds: [Kind, { name: string }[]][] = [
      ["body", this.scene.bodies],
      ["joint", this.scene.joints],
      ["spring", [...this.scene.springs, ...this.scene.cables]],
      ["distance", this.scene.distances],
      ["force", this.scene.forces],
      ["wrench", this.scene.wrenches],
      ["point", this.scene.points],
    ];
    const kind = kinds.find(([, parts]) => parts.some((part) => part.name === name))?.[0];
    this.selection.set(kind && name !== null ? { kind, name } : null);
  }

  /** Values of the main run at a time. */
  columnsAt(t: number): Record<string, number> {
    const motion = this.motions[0];
    return motion ? Object.fromEntries(motion.columns().map((column) => [column, motion.at(column, t)])) : {};
  }

  /** The characteristics of the selected force, as they are drawn. */
  get characteristics(): DrawnCharacteristic[] {
    return this.inspector.drawn;
  }

  private setMotions(motions: Motion[]): void {
    this.motions = motions;
    const first = motions[0] ?? null;
    this.player.setMotions(motions);
    this.drawMotions();
    this.timeline.setMotions(motions);
    this.plots.setMotions(motions);
    this.inspector.setMotion(first);
    this.gauges.setMotion(first);
    this.stage?.show(this.player.time.get());
  }

  /** Hand the runs that have rows to the stage: it fits the picture to the first ones that it gets. */
  private drawMotions(): void {
    this.drawn = this.motions.filter(({ rows }) => rows > 0);
    this.stage?.setMotions(this.drawn);
  }

  private tryStage(createStage: PageOptions["createStage"]): Stage | null {
    try {
      return createStage(this.layout.stageHost, this.theme.get());
    } catch (error) {
      const remedy =
        "The mechanism is drawn with WebGL, which this browser or its settings do not offer. Switch on hardware acceleration or open the page in another browser. Plots and numbers work without it.";
      this.layout.stageHost.append(problem("The scene cannot be drawn", remedy, String(error)));
      return null;
    }
  }

  private connectStage(): void {
    const { stage } = this;
    if (!stage) return;
    stage.onSelect = (picked) => this.selection.set(picked && { kind: picked.kind, name: picked.name });
    stage.onScales = () => this.writeScale();
    stage.setLayers(this.layers.all());
    this.layers.onChange((layers) => {
      stage.setLayers(layers);
      stage.show(this.player.time.get());
      this.writeScale();
    });
    this.theme.onChange((theme) => stage.setTheme(theme));
    this.writeScale();
  }

  private select(selected: Selection | null): void {
    this.stage?.select(selected && isSelectable(selected.kind) ? { kind: selected.kind, name: selected.name } : null);
    this.canTrace.set(selected !== null && this.traces.pointOf(selected) !== null);
    if (selected) this.layout.bringForward("parts");
  }

  private writeScale(): void {
    this.arrows.replaceChildren(...(this.stage ? arrowLegend(this.stage.scales, this.scene, this.layers.all()) : []));
  }

  private toolbar(title: string, theme: Value<Theme>): Toolbar {
    return new Toolbar(title, this.layers, this.theme, this.canTrace, this.sideOpen, {
      view: (name) => this.view(name),
      trace: () => this.trace(),
      toggleTheme: () => theme.set(other(theme.get())),
      savePicture: () => void this.savePicture(title),
      toggleFullScreen,
      help: () => this.help.show(),
      toggleSide: () => this.sideOpen.set(!this.sideOpen.get()),
    });
  }

  private commands(): Command[] {
    const { player } = this;
    const commands: Command[] = [
      { keys: [" "], words: "Play or pause", run: () => player.toggle() },
      { keys: ["ArrowLeft"], words: "One row back", run: () => player.step(-1) },
      { keys: ["ArrowRight"], words: "One row on", run: () => player.step(1) },
      { keys: ["Shift+ArrowLeft"], words: "To the previous event", run: () => player.stepEvent(-1) },
      { keys: ["Shift+ArrowRight"], words: "To the next event", run: () => player.stepEvent(1) },
      { keys: ["Home"], words: "To the beginning", run: () => player.seek(player.begin) },
      { keys: ["End"], words: "To the end", run: () => player.seek(player.end) },
      { keys: ["["], words: "Slower", run: () => player.changeSpeed(-1) },
      { keys: ["]"], words: "Faster", run: () => player.changeSpeed(1) },
      { keys: ["l"], words: "Repeat, or stop at the end", run: () => player.loop.set(!player.loop.get()) },
      ...VIEWS.map(({ name, words }, k) => ({ keys: [String(k + 1)], words, run: () => this.view(name) })),
      { keys: ["/"], words: "Search a part", run: () => this.search() },
      { keys: ["Escape"], words: "Select nothing", run: () => this.selection.set(null) },
      { keys: ["p"], words: "Path of the selected part", run: () => this.trace() },
      { keys: ["c"], words: "Columns of the plots", run: () => this.chooseColumns() },
      { keys: ["h"], words: "Show or hide the panels", run: () => this.sideOpen.set(!this.sideOpen.get()) },
      { keys: ["?"], words: "This help", run: () => this.help.show() },
    ];
    const layers = LAYERS.map(({ name, label, key }) => ({ keys: [key], words: `${label}: show or hide`, run: () => this.layers.toggle(name) }));
    return [...commands, ...layers];
  }

  private view(name: ViewName): void {
    this.stage?.view(name);
    this.stage?.show(this.player.time.get());
  }

  private search(): void {
    this.layout.open("parts");
    this.inspector.search.focus();
    this.inspector.search.select();
  }

  private chooseColumns(): void {
    this.layout.open("plots");
    this.plots.chooseColumns();
  }

  private trace(): void {
    const selected = this.selection.get();
    if (!selected) return;
    this.traces.toggle(selected);
    this.inspector.refreshOpen();
    this.stage?.show(this.player.time.get());
  }

  private async savePicture(title: string): Promise<void> {
    const picture = await this.stage?.picture();
    if (picture) save(`${fileName(title)}_${this.player.time.get().toFixed(3)}s.png`, picture);
  }
}

/** How many rows of the result the page has, where it has not all of them. */
function rowsNote(runs: RecordedRun[]): HTMLElement | null {
  const texts = runs.map(rowsText).filter((text) => text !== null);
  return texts.length ? element("span", { title: "The page holds only some rows of the result" }, texts[0]!) : null;
}

function toggleFullScreen(): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else void document.documentElement.requestFullscreen().catch(() => {}); // a frame may not be allowed to
}

/** The panel of a live page: parameters, inputs, start pose, and the run. */

import type { LiveModel, Payload, Scene, Vector } from "../payload";
import { element, oncePerFrame, throttled } from "../ui/dom";
import { fileName, save } from "../ui/files";
import { digits } from "../ui/numbers";
import { unpackBytes } from "../unpack";
import styles from "./live.css";
import type { Setup, Values } from "./messages";
import { isCoordinate, PoseEditor } from "./pose_editor";
import { columnsOf, LiveRecording } from "./recording";
import { RowBuffer } from "./row_buffer";
import { RunControls } from "./run_controls";
import { csvOf, jsonOf } from "./saving";
import { SettingList } from "./setting_list";
import { type Entry, Settings } from "./settings";
import { Simulator } from "./simulator";

/** What the simulator is made of. */
export interface LiveCore {
  module: Uint8Array<ArrayBuffer>; // the WebAssembly module
  createWorker(): Worker; // of the worker bundle
}

/** What the panel asks of the page around it. */
export interface LivePage {
  /** The time that is shown, s. */
  now(): number;
  seek(t: number): void;
  play(): void;
  pause(): void;
  /** Whether rows may still be added at the end: there the display waits for them. */
  growing(on: boolean): void;
  /** Rows of `motion` were added or taken away. */
  rowsChanged(motion: LiveRecording): void;
}

export interface LivePanel {
  /** The run that the panel's simulation fills; always the same object. */
  readonly motion: LiveRecording;
  /** As of `Stage.onDrag`: pull a point of a body, body axes, to a target, world; null lets go. */
  drag(body: string, point: Vector, target: Vector | null): void;
  /** End the simulation and its worker. */
  dispose(): void;
}

const CHANGES = 80; // ms between two runs while a slider moves

/** Fill `host` with the panel and begin the first run; `payload.live` is not null. */
export function createLivePanel(host: HTMLElement, payload: Payload, core: LiveCore, page: LivePage): LivePanel {
  if (!payload.live) throw new Error("the page has no simulator");
  return new Panel(host, payload, payload.live, core, page);
}

class Panel implements LivePanel {
  readonly motion: LiveRecording;
  private readonly scene: Scene;
  private readonly settings: Settings;
  private readonly controls: RunControls;
  private readonly pose: PoseEditor;
  private readonly buffer: RowBuffer;
  private simulator: Simulator | null = null;
  private dragged: string | null = null;
  private t_end = 0; // s, of the run
  private starts: Values = []; // of the pose that is shown
  private takePose = false; // the pose that is being assembled is to be taken over
  private disposed = false;

  constructor(
    host: HTMLElement,
    private readonly payload: Payload,
    private readonly live: LiveModel,
    core: LiveCore,
    private readonly page: LivePage,
  ) {
    this.scene = payload.scenes[live.scene]!;
    this.motion = new LiveRecording(this.scene, columnsOf(live), live.model);
    this.settings = new Settings(live);
    this.controls = new RunControls(live, { run: () => this.run(), stop: () => this.stop() });
    this.pose = new PoseEditor(live, this.scene, this.settings, {
      pose: (guesses, kept) => this.askPose(guesses, kept),
      take: () => this.wantPose(),
    });
    this.buffer = new RowBuffer(this.motion, page);
    this.fill(host);
    page.growing(true); // the first rows are still to come
    const again = throttled(CHANGES, () => this.run());
    this.settings.onChange(again);
    void this.start(core).catch((error) => this.controls.fail(String(error)));
  }

  drag(body: string, point: Vector, target: Vector | null): void {
    const { simulator } = this;
    if (!simulator || !(body in this.live.drag)) return;
    if (target === null) {
      if (this.dragged !== null) simulator.release();
      this.dragged = null;
      this.page.play();
    } else if (this.dragged === null) {
      this.dragged = body;
      this.buffer.commit();
      this.page.pause();
      this.page.growing(true);
      simulator.grab(body, point, target, this.page.now());
      this.controls.busy(`Pulling ${body}`);
    } else {
      simulator.move(target);
    }
  }

  dispose(): void {
    this.disposed = true;
    this.buffer.clear();
    this.simulator?.dispose();
  }

  // ---- the simulator ----

  private async start(core: LiveCore): Promise<void> {
    const model = await unpackBytes(this.live.model);
    if (this.disposed) return;
    const setup: Setup = {
      module: core.module.slice().buffer,
      model: model.buffer,
      offsets: this.motion.columns().map((name, k) => (k === 0 ? -1 : this.live.columns[name]!)),
      drag: this.live.drag,
    };
    this.simulator = new Simulator(core.createWorker(), setup, {
      truncate: (rows) => this.buffer.truncate(rows),
      rows: (rows, events) => this.take(rows, events),
      done: () => this.finish(),
      pose: (row, starts) => this.showPose(row, starts),
      failed: (message, isPose) => this.fail(message, isPose),
    });
    this.run();
  }

  private run(): void {
    if (this.disposed) return;
    const fault = this.controls.check();
    if (fault !== null) {
      this.stop();
      this.controls.fail(fault);
      return;
    }
    const options = this.controls.options;
    this.t_end = options.t_end;
    this.dragged = null;
    if (!this.settings.changed.some(isCoordinate)) this.starts = [];
    this.page.growing(true);
    this.controls.busy("Simulating");
    this.motion.parameters = this.settings.values("parameter", "start");
    this.simulator?.run({
      ...options,
      parameters: this.motion.parameters,
      inputs: this.settings.values("input"),
    });
  }

  private stop(): void {
    this.simulator?.stop();
    this.finish();
  }

  private take(rows: Float64Array, events: { t: number; text: string }[]): void {
    this.buffer.append(rows, events);
    if (this.dragged !== null) this.showPresent();
    else this.controls.busy(`Simulated ${digits(this.buffer.end)} of ${digits(this.t_end)} s`);
  }

  /** While a body is pulled, the display is where the simulation is. */
  private readonly showPresent = oncePerFrame(() => {
    this.page.rowsChanged(this.motion);
    this.page.seek(this.motion.end);
  });

  private finish(): void {
    this.buffer.commit();
    this.page.growing(false);
    this.controls.idle(`${this.motion.rows} rows, ${digits(this.motion.end)} s`);
  }

  private fail(message: string, isPose: boolean): void {
    if (isPose) {
      this.takePose = false;
      this.pose.fail(message);
      return;
    }
    this.buffer.commit();
    this.page.growing(false);
    this.controls.fail(message);
  }

  // ---- the pose ----

  private askPose(guesses: Values, kept: Values[]): void {
    const known = new Map(this.starts);
    const moved = new Set(kept.flat().map(([offset]) => offset));
    this.page.pause();
    this.simulator?.pose({
      parameters: this.valuesWithoutCoordinates(),
      inputs: this.settings.values("input"),
      guesses: guesses.map(([offset, value]) => [offset, moved.has(offset) ? value : (known.get(offset) ?? value)]),
      kept,
    });
  }

  private wantPose(): void {
    if (this.simulator?.isPosing) this.takePose = true;
    else this.pose.apply();
  }

  private showPose(row: Float64Array, starts: Values): void {
    this.starts = starts;
    this.pose.show(starts);
    this.simulator?.stop();
    this.buffer.truncate(0);
    this.buffer.append(row, []);
    this.buffer.commit();
    this.page.seek(this.motion.begin);
    this.page.growing(false);
    this.controls.idle("Pose at the start");
    if (this.takePose) this.pose.apply();
    this.takePose = false;
  }

  private valuesWithoutCoordinates(): Values {
    const coordinates = new Set(this.settings.entries.filter(isCoordinate).map(({ setting }) => setting.offset));
    return this.settings.values("parameter", "start").filter(([offset]) => !coordinates.has(offset));
  }

  // ---- elements ----

  private fill(host: HTMLElement): void {
    const lists: [string, (entry: Entry) => boolean, boolean][] = [
      ["Inputs", ({ kind }) => kind === "input", true],
      ["Parameters", ({ kind }) => kind === "parameter", true],
      ["Start speeds", (entry) => entry.kind === "start" && !isCoordinate(entry), false],
    ];
    host.classList.add("live");
    host.append(element("style", {}, styles), this.controls.root);
    if (!this.pose.empty) host.append(section("Pose at the start", this.pose.root, false));
    for (const [title, belongs, open] of lists) {
      const entries = this.settings.entries.filter(belongs);
      if (entries.length === 0) continue;
      host.append(section(title, new SettingList(title.toLowerCase(), entries, this.settings, this.scene.size).root, open));
    }
    host.append(this.footer());
  }

  private footer(): HTMLElement {
    const name = fileName(this.payload.title);
    const button = (text: string, title: string, click: () => void): HTMLButtonElement =>
      element("button", { type: "button", class: "small", title, on: { click } }, text);
    const reset = button("Reset all", "All parameters, start values and inputs as they are described", () => this.settings.reset());
    const inputs = button("Save inputs", "Changed inputs as JSON, for Python: lw.simulate(mech, inputs=json.load(file), ...)", () =>
      saveText(`${name}_inputs.json`, jsonOf(this.settings.named("input")), "application/json"),
    );
    const parameters = button(
      "Save parameters",
      "Changed parameters and start values as JSON, for Python: lw.simulate(mech, parameters=json.load(file), ...)",
      () => saveText(`${name}_parameters.json`, jsonOf(this.settings.named("parameter", "start")), "application/json"),
    );
    const rows = button("Save rows", "The rows of the run as CSV, with all digits", () => saveText(`${name}.csv`, csvOf(this.motion), "text/csv"));
    const update = (): void => {
      reset.disabled = this.settings.changed.length === 0;
      parameters.disabled = this.settings.values("parameter", "start").length === 0;
      inputs.disabled = this.settings.values("input").length === 0;
    };
    this.settings.onChange(update);
    update();
    return element("footer", { class: "live-footer" }, reset, rows, parameters, this.live.inputs.length > 0 && inputs);
  }
}

function section(title: string, content: HTMLElement, open: boolean): HTMLElement {
  return element("details", { class: "live-section", open }, element("summary", {}, title), content);
}

function saveText(name: string, text: string, type: string): void {
  save(name, new Blob([text], { type }));
}

/** The mechanisms of a page, one at a time, with their recorded runs and the simulation. */

import { Formulas } from "./formulas";
import { createLivePanel, type LiveCore, type LivePanel } from "./live/panel";
import { Recording } from "./motion";
import type { LiveModel, Payload, Scene } from "./payload";
import { layoutOf } from "./stage/layout";
import { Stage } from "./stage/stage";
import { element } from "./ui/dom";
import type { Pane } from "./ui/layout";
import { Page } from "./ui/page";
import { followTheme } from "./ui/theme";

/** Runs that are drawn over each other: their mechanisms have the same bodies. */
interface Group {
  scene: Scene;
  recordings: Recording[];
  live: boolean;
}

/** The core of a page, and what makes the worker of its simulator; null where there is none. */
export interface PageCore {
  module: Uint8Array<ArrayBuffer>; // WebAssembly
  createWorker: (() => Worker) | null;
}

export class Viewer {
  page!: Page;
  private panel: LivePanel | null = null;
  private readonly theme = followTheme();
  private readonly reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  private readonly groups: Group[];
  private readonly formulas: Formulas | null;

  /** `core` simulates `payload.live` and evaluates characteristics; null where there are none. */
  constructor(
    private readonly payload: Payload,
    recordings: Recording[],
    private readonly core: PageCore | null,
  ) {
    this.groups = groupsOf(payload, recordings, core?.createWorker ? payload.live : null);
    this.formulas = core && new Formulas(core.module);
    this.show(0, !this.reducedMotion);
  }

  /** Show a mechanism in place of the one before, at the same time. */
  private show(index: number, play: boolean): void {
    const { payload, theme } = this;
    const { scene, recordings, live } = this.groups[index]!;
    const before = this.page as Page | undefined;
    const t = before?.player.time.get();
    this.panel?.dispose();
    this.panel = null;
    before?.dispose();
    const pane = live ? livePane() : null;
    this.page = new Page({
      payload,
      scene,
      theme,
      colours: bodyColours(scene),
      runs: recordings.map(({ run }) => run),
      createStage: (host, shade) => new Stage(host, scene, payload.meshes, { theme: shade, reducedMotion: this.reducedMotion }),
      panes: pane ? [pane] : [],
      choices: this.choices(index),
      formulas: this.formulas,
      play,
    });
    const { core } = this;
    if (pane && core?.createWorker) this.panel = this.startLive(pane.root, { module: core.module, createWorker: core.createWorker });
    this.page.show(this.panel ? [this.panel.motion, ...recordings] : recordings);
    if (t !== undefined) this.page.player.seek(t);
  }

  private startLive(host: HTMLElement, core: LiveCore): LivePanel {
    const { page, payload } = this;
    const { player, stage } = page;
    let first = true; // run
    const growing = (on: boolean): void => {
      player.growing = on;
      if (!first) return;
      if (on && !this.reducedMotion) player.play();
      if (!on && stage) afterFrames(2, () => stage.view("fit")); // it has seen all rows then, not only the first ones
      first = on;
    };
    const panel = createLivePanel(host, payload, core, {
      now: () => player.time.get(),
      seek: (t) => player.seek(t),
      play: () => player.play(),
      pause: () => player.pause(),
      growing,
      rowsChanged: (motion) => page.rowsChanged(motion),
    });
    if (stage) {
      stage.draggable = true;
      stage.onDrag = (body, point, target) => panel.drag(body, point, target);
    }
    return panel;
  }

  private choices(index: number): HTMLElement | null {
    if (this.groups.length < 2) return null;
    const select = element("select", { class: "choice", "aria-label": "Mechanism", title: "Mechanism" });
    select.append(...this.groups.map(({ scene }, k) => element("option", { value: k }, scene.name)));
    select.value = String(index);
    select.addEventListener("change", () => this.show(Number(select.value), this.page.player.playing.get()));
    return select;
  }
}

/** As the stage draws them. */
function bodyColours(scene: Scene): Map<string, string> {
  return new Map([...layoutOf(scene).links].map(([body, { colour }]) => [body, `#${colour.getHexString()}`]));
}

function afterFrames(count: number, run: () => void): void {
  if (count === 0) run();
  else requestAnimationFrame(() => afterFrames(count - 1, run));
}

function livePane(): Pane {
  return { id: "live", title: "Simulation", root: element("section", { class: "pane live-pane" }) };
}

/** The mechanism that is simulated comes first. */
function groupsOf(payload: Payload, recordings: Recording[], live: LiveModel | null): Group[] {
  const groups = new Map<string, Group>();
  const group = (scene: Scene): Group => {
    const key = JSON.stringify(scene.bodies.map(({ name }) => name).sort());
    let found = groups.get(key);
    if (!found) groups.set(key, (found = { scene, recordings: [], live: false }));
    return found;
  };
  if (live) group(payload.scenes[live.scene]!).live = true;
  for (const recording of recordings) group(recording.scene).recordings.push(recording);
  if (groups.size === 0 && payload.scenes[0]) group(payload.scenes[0]);
  return [...groups.values()];
}

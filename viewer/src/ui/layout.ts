/** The frame of the page: stage, panels beside it, time line; it adapts to its size. */

import { element, oncePerFrame, onDrag } from "./dom";
import { Value } from "./value";

/** Panels above each other; one at a time by tabs; one at a time below the stage. */
export type Arrangement = "wide" | "compact" | "narrow";

export interface Pane {
  id: string;
  title: string;
  root: HTMLElement;
}

const NARROW = 600; // px
const COMPACT_WIDTH = 960;
const COMPACT_HEIGHT = 600;
const SIDE_WIDTHS: [number, number] = [240, 900];
const SHARES: [number, number] = [0.15, 0.85];

export class Layout {
  readonly root = element("div", { class: "page" });
  readonly stageHost = element("div", { class: "stage-host" });
  /** Over the stage, at its top left. */
  readonly overlay = element("div", { class: "overlay" });
  /** Over the stage, at its bottom right. */
  readonly corner = element("div", { class: "corner" });
  /** Under the stage. */
  readonly strip = element("div", { class: "strip" });
  readonly arrangement = new Value<Arrangement>("wide");
  private readonly side = element("aside", { class: "side", id: "panels", "aria-label": "Panels" });
  private readonly tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "Panels" });
  private readonly middle = element("main", { class: "middle" });
  private arranged = false;
  private active: string;
  /** What is open above the plots where both are seen. */
  private upper: string;

  /** The last pane is seen below the others where there is room for two. */
  constructor(
    topbar: HTMLElement,
    timeline: HTMLElement,
    private readonly panes: Pane[],
    private readonly sideOpen: Value<boolean>,
  ) {
    this.active = this.upper = panes[0]!.id;
    for (const pane of panes) this.addTab(pane);
    const [lower] = panes.slice(-1);
    this.side.append(this.tabs, ...panes.slice(0, -1).map(({ root }) => root), this.shareSplitter(), lower!.root);
    const stageArea = element("div", { class: "stage-area" }, element("div", { class: "stage-box" }, this.stageHost, this.overlay, this.corner), this.strip);
    this.middle.append(stageArea, this.widthSplitter(), this.side);
    this.root.append(topbar, this.middle, timeline);
    this.sideOpen.follow((open) => (this.root.dataset.side = open ? "open" : "closed"));
    this.arrangement.follow((arrangement) => {
      this.root.dataset.arrangement = arrangement;
      this.showPanes();
    });
    new ResizeObserver(oncePerFrame(() => this.arrange())).observe(this.root);
  }

  /** Bring a pane to the front of the panels, and show these if they are hidden. */
  open(id: string): void {
    this.bringForward(id);
    this.sideOpen.set(true);
  }

  /** Bring a pane to the front; hidden panels stay hidden. */
  bringForward(id: string): void {
    this.active = id;
    if (id !== this.panes[this.panes.length - 1]!.id) this.upper = id;
    this.showPanes();
  }

  arrange(): void {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (width === 0) return;
    if (!this.arranged && width < NARROW && height < COMPACT_HEIGHT - 100) this.sideOpen.set(false);
    this.arranged = true;
    this.arrangement.set(width < NARROW ? "narrow" : width < COMPACT_WIDTH || height < COMPACT_HEIGHT ? "compact" : "wide");
  }

  private showPanes(): void {
    const wide = this.arrangement.get() === "wide";
    const [lower] = this.panes.slice(-1);
    const active = wide ? this.upper : this.active;
    for (const { id, root } of this.panes) root.hidden = id !== active && !(wide && id === lower!.id);
    const tabs = [...this.tabs.children] as HTMLElement[];
    tabs.forEach((tab, k) => {
      const { id } = this.panes[k]!;
      tab.hidden = wide && id === lower!.id;
      tab.setAttribute("aria-selected", String(id === active));
      tab.tabIndex = id === active ? 0 : -1;
    });
  }

  private addTab({ id, title, root }: Pane): void {
    root.id = `pane-${id}`;
    root.setAttribute("role", "tabpanel");
    root.setAttribute("aria-labelledby", `tab-${id}`);
    const tab = element("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": root.id, on: { click: () => this.open(id) } }, title);
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const tabs = ([...this.tabs.children] as HTMLElement[]).filter((one) => !one.hidden);
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length]!;
      next.click();
      next.focus();
    });
    this.tabs.append(tab);
  }

  private widthSplitter(): HTMLElement {
    const set = (width: number): void => {
      const most = Math.min(SIDE_WIDTHS[1], this.middle.clientWidth - 200);
      this.root.style.setProperty("--side-width", `${Math.max(SIDE_WIDTHS[0], Math.min(most, width))}px`);
    };
    return splitter("vertical", "Width of the panels", {
      drag: (event) => set(this.middle.getBoundingClientRect().right - event.clientX),
      step: (direction) => set(this.side.clientWidth - 20 * direction),
      share: () => 1 - this.side.clientWidth / this.middle.clientWidth,
    });
  }

  private shareSplitter(): HTMLElement {
    const set = (share: number): void => this.side.style.setProperty("--upper-share", Math.max(SHARES[0], Math.min(SHARES[1], share)).toFixed(3));
    const share = (y: number): number => {
      const { top, height } = this.side.getBoundingClientRect();
      return (y - top) / height;
    };
    const bar = splitter("horizontal", "Height of the plots", {
      drag: (event) => set(share(event.clientY)),
      step: (direction) => set(share(bar.getBoundingClientRect().top) + 0.04 * direction),
      share: () => share(bar.getBoundingClientRect().top),
    });
    return bar;
  }
}

/** A bar that is moved by the pointer or the arrow keys; `share`: where it is, from 0 at the left or top to 1. */
function splitter(
  orientation: "vertical" | "horizontal",
  label: string,
  { drag, step, share }: { drag: (event: PointerEvent) => void; step: (direction: 1 | -1) => void; share: () => number },
): HTMLElement {
  const bar = element("div", { class: `splitter ${orientation}`, role: "separator", tabindex: "0", "aria-orientation": orientation, "aria-label": label });
  const report = (): void => bar.setAttribute("aria-valuenow", (100 * share()).toFixed());
  onDrag(bar, drag, { start: (event) => event.preventDefault(), end: report });
  bar.addEventListener("focus", report);
  bar.addEventListener("keydown", (event) => {
    const direction = ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 } as const)[event.key as "ArrowUp"];
    if (!direction) return;
    event.preventDefault();
    step(direction);
    report();
  });
  return bar;
}

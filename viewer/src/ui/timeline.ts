/** The time line: a slider with the events of the runs as marks, and the buttons of the player. */

import type { Motion } from "../motion";
import type { RunEvent } from "../payload";
import { element, oncePerFrame, onDrag, setText } from "./dom";
import { icon, type IconName } from "./icons";
import { digits, grouped, niceStep, timeDecimals } from "./numbers";
import { SPEEDS, type Player } from "./player";
import { Popover } from "./popover";

const NEAR = 5; // pixels within which a pointer means an event
const MOST_MARKS = 400;
const PIXELS_PER_TICK = 90;

export class Timeline {
  readonly root: HTMLElement;
  private readonly fill = element("div", { class: "time-fill" });
  private readonly thumb = element("div", { class: "time-slide" }, element("div", { class: "time-thumb" }));
  private readonly marks = element("div", { class: "time-marks" });
  private readonly ticks = element("div", { class: "time-ticks" });
  private readonly tip = element("div", { class: "tip", role: "tooltip", hidden: true });
  private readonly track = element("div", { class: "time-track", role: "slider", tabindex: "0", "aria-label": "Time", "aria-orientation": "horizontal" });
  private readonly now = element("output", { class: "time-now", "aria-label": "Time", "aria-live": "off" });
  private readonly eventList = element("ol", { class: "event-list" });
  private readonly eventButton = element("button", { type: "button", class: "small", title: "What happened, and when" });
  private events: RunEvent[] = [];
  private decimals = 3;
  private readonly eventPopover: Popover;

  constructor(private readonly player: Player) {
    this.track.append(element("div", { class: "time-rail" }, this.fill), this.marks, this.thumb, this.ticks, this.tip);
    this.eventPopover = new Popover(this.eventButton, "Events", this.eventList, () => this.writeEvents());
    this.root = element(
      "section",
      { class: "timeline", role: "group", "aria-label": "Time" },
      element("div", { class: "transport" }, ...this.transport()),
      element("div", { class: "time-text" }, this.now),
      this.track,
      element("div", { class: "time-tools" }, this.speed(), this.loop(), this.eventButton),
    );
    this.listen();
    const show = oncePerFrame(() => this.show());
    player.time.onChange(show);
    player.span.onChange(() => this.layOut());
    new ResizeObserver(oncePerFrame(() => this.layOut())).observe(this.track);
    this.setMotions([]);
  }

  setMotions(motions: Motion[]): void {
    const several = motions.length > 1;
    this.events = motions
      .flatMap(({ events, label }) => events.map(({ t, text }) => ({ t, text: several ? `${label}: ${text}` : text })))
      .sort((a, b) => a.t - b.t);
    const count = this.events.length;
    this.eventButton.replaceChildren(icon("event"), count === 1 ? "1 event" : `${grouped(count)} events`);
    this.eventButton.hidden = count === 0;
    if (count === 0) this.eventPopover.close();
    this.layOut();
  }

  private transport(): HTMLElement[] {
    const { player } = this;
    const play = iconButton("play", "Play (Space)", () => player.toggle());
    play.classList.add("play");
    player.playing.follow((playing) => {
      play.replaceChildren(icon(playing ? "pause" : "play"));
      play.setAttribute("aria-label", playing ? "Pause" : "Play");
      play.title = playing ? "Pause (Space)" : "Play (Space)";
    });
    return [
      iconButton("begin", "To the beginning (Home)", () => player.seek(player.begin)),
      iconButton("back", "One row back (\u2190)", () => player.step(-1)),
      play,
      iconButton("forward", "One row on (\u2192)", () => player.step(1)),
      iconButton("end", "To the end (End)", () => player.seek(player.end)),
    ];
  }

  private speed(): HTMLElement {
    const { player } = this;
    const select = element("select", { class: "speed", "aria-label": "Speed", title: "Speed ([ and ])" });
    select.append(...SPEEDS.map((speed) => element("option", { value: speed }, `${digits(speed)}\u00d7`)));
    select.addEventListener("change", () => player.speed.set(Number(select.value)));
    player.speed.follow((speed) => (select.value = String(speed)));
    return select;
  }

  private loop(): HTMLElement {
    const { player } = this;
    const button = iconButton("loop", "Repeat (L)", () => player.loop.set(!player.loop.get()));
    player.loop.follow((on) => button.setAttribute("aria-pressed", String(on)));
    return button;
  }

  private fraction(t: number): number {
    const { begin, end } = this.player;
    return end > begin ? (t - begin) / (end - begin) : 0;
  }

  private timeAt(event: PointerEvent): number {
    const { left, width } = this.marks.getBoundingClientRect();
    const { begin, end } = this.player;
    return begin + Math.max(0, Math.min(1, (event.clientX - left) / width)) * (end - begin);
  }

  private text(t: number): string {
    return t.toFixed(this.decimals).replace("-", "\u2212");
  }

  private show(): void {
    const t = this.player.time.get();
    const fraction = this.fraction(t);
    this.fill.style.transform = `scaleX(${fraction.toFixed(5)})`;
    this.thumb.style.transform = `translateX(${(100 * fraction).toFixed(3)}%)`;
    setText(this.now, `${this.text(t)}\u202fs`);
    this.track.setAttribute("aria-valuenow", t.toFixed(this.decimals));
    this.track.setAttribute("aria-valuetext", `${this.text(t)} s`);
  }

  private layOut(): void {
    const { begin, end } = this.player;
    this.decimals = timeDecimals(end - begin);
    this.track.setAttribute("aria-valuemin", begin.toFixed(this.decimals));
    this.track.setAttribute("aria-valuemax", end.toFixed(this.decimals));
    this.now.style.minWidth = `${Math.max(this.text(begin).length, this.text(end).length) + 2}ch`;
    this.writeMarks();
    this.writeTicks();
    this.show();
  }

  /** Marks at the same pixel are one. */
  private writeMarks(): void {
    const width = this.marks.clientWidth || 1;
    const pixels = new Set(this.events.map(({ t }) => Math.round(this.fraction(t) * width)));
    this.marks.replaceChildren(
      ...[...pixels].slice(0, MOST_MARKS).map((pixel) => {
        const mark = element("span", { class: "mark" });
        mark.style.left = `${((100 * pixel) / width).toFixed(3)}%`;
        return mark;
      }),
    );
  }

  private writeTicks(): void {
    const { begin, end } = this.player;
    const step = niceStep(end - begin, this.marks.clientWidth / PIXELS_PER_TICK);
    const labels: HTMLElement[] = [];
    for (let k = Math.ceil(begin / step - 1e-9); end > begin && k * step <= end + step * 1e-9; k++) {
      const label = element("span", {}, digits(k * step, 6));
      label.style.left = `${(100 * this.fraction(k * step)).toFixed(3)}%`;
      labels.push(label);
    }
    this.ticks.replaceChildren(...labels);
  }

  private listen(): void {
    const { player, track } = this;
    onDrag(track, (event) => {
      player.pause();
      player.seek(this.snapped(event));
      this.showTip(event);
    });
    track.addEventListener("pointermove", (event) => this.showTip(event));
    track.addEventListener("pointerleave", () => (this.tip.hidden = true));
    track.addEventListener("keydown", (event) => {
      const span = player.end - player.begin;
      const moves: Record<string, number> = { PageUp: 0.1, PageDown: -0.1 };
      const move = moves[event.key];
      if (move === undefined) return;
      event.preventDefault();
      player.pause();
      player.seek(player.time.get() + move * span);
    });
  }

  /** The event under the pointer, if there is one: its time is hard to hit otherwise. */
  private snapped(event: PointerEvent): number {
    return this.eventsAt(event)[0]?.t ?? this.timeAt(event);
  }

  private eventsAt(event: PointerEvent): RunEvent[] {
    const { left, width } = this.marks.getBoundingClientRect();
    const distance = ({ t }: RunEvent): number => Math.abs(left + this.fraction(t) * width - event.clientX);
    return this.events.filter((one) => distance(one) <= NEAR).sort((a, b) => distance(a) - distance(b));
  }

  private showTip(event: PointerEvent): void {
    if (event.pointerType === "touch") return;
    const near = this.eventsAt(event).sort((a, b) => a.t - b.t);
    const lines = near.slice(0, 6).map(({ t, text }) => element("div", {}, element("b", {}, `${this.text(t)}\u202fs`), ` ${text}`));
    if (near.length > 6) lines.push(element("div", { class: "muted" }, `and ${near.length - 6} more`));
    this.tip.replaceChildren(...(lines.length ? lines : [element("div", {}, `${this.text(this.timeAt(event))}\u202fs`)]));
    this.tip.hidden = false;
    const { left, width } = this.track.getBoundingClientRect();
    const half = this.tip.offsetWidth / 2;
    const middle = Math.max(half - left + 4, Math.min(event.clientX - left, Math.min(width + 120, innerWidth - left - 4) - half));
    this.tip.style.left = `${middle}px`;
  }

  private writeEvents(): void {
    const now = this.player.time.get();
    this.eventList.replaceChildren(
      ...this.events.map(({ t, text }) => {
        const button = element("button", { type: "button", class: "event-item" }, element("span", { class: "number" }, `${this.text(t)}\u202fs`), element("span", {}, text));
        button.addEventListener("click", () => {
          this.player.pause();
          this.player.seek(t);
          this.eventList.querySelectorAll("[aria-current]").forEach((one) => one.removeAttribute("aria-current"));
          button.setAttribute("aria-current", "true");
        });
        if (Math.abs(t - now) < (this.player.end - this.player.begin) * 1e-6) button.setAttribute("aria-current", "true");
        return element("li", {}, button);
      }),
    );
  }
}

export function iconButton(name: IconName, label: string, click: () => void): HTMLButtonElement {
  return element("button", { type: "button", class: "icon-button", title: label, "aria-label": label.replace(/ \([^)]*\)$/, ""), on: { click } }, icon(name));
}

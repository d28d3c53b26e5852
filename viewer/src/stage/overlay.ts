/** Names, the world's axes and a scale bar, on a flat canvas over the scene. Text is drawn, never parsed. */

import { Quaternion, Vector3, type Camera } from "three";
import { lengthText } from "../ui/numbers";

export interface Label {
  text: string;
  place: Vector3;
  colour: string; // of its dot
  rank: number; // higher ones are placed first
  italic?: boolean;
}

export interface Inks {
  text: string;
  halo: string;
  faint: string;
}

const FONT = "12.5px system-ui, -apple-system, 'Segoe UI', sans-serif";
const AXES = [["x", "#d55e00"], ["y", "#009e73"], ["z", "#3a8fd0"]] as const;

const [CORNER_WIDTH, CORNER_HEIGHT] = [190, 96];

/** A canvas that takes no part in pointing. */
function layer(): CanvasRenderingContext2D {
  const canvas = document.createElement("canvas");
  Object.assign(canvas.style, { position: "absolute", left: "0", bottom: "0", pointerEvents: "none" });
  canvas.setAttribute("aria-hidden", "true"); // the lists beside the scene have the same names
  return canvas.getContext("2d")!;
}

export class Overlay {
  /** Names; hidden where there are none, because a canvas of this size costs time in each frame. */
  private readonly context = layer();
  /** Axes and scale in the lower left corner. */
  private readonly corner = layer();
  private readonly widths = new Map<string, number>();
  private readonly seen = new Quaternion(0, 0, 0, 0); // what the corner shows
  private shown = "";
  private width = 1;
  private height = 1;

  get elements(): HTMLCanvasElement[] {
    return [this.context.canvas, this.corner.canvas];
  }

  resize(width: number, height: number, ratio: number): void {
    [this.width, this.height] = [width, height];
    for (const [context, w, h] of [[this.context, width, height], [this.corner, CORNER_WIDTH, CORNER_HEIGHT]] as const) {
      context.canvas.width = Math.max(1, Math.round(w * ratio));
      context.canvas.height = Math.max(1, Math.round(h * ratio));
      Object.assign(context.canvas.style, { width: `${w}px`, height: `${h}px` });
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.shown = "";
  }

  /** `grid`: edge of a square on the floor, m. */
  draw(camera: Camera, labels: Label[], grid: number, inks: Inks): void {
    const { context, corner } = this;
    context.canvas.hidden = labels.length === 0;
    if (labels.length > 0) {
      context.clearRect(0, 0, this.width, this.height);
      context.lineJoin = "round";
      this.labels(camera, labels, inks);
    }
    const words = `${grid} ${inks.text}`;
    if (this.seen.equals(camera.quaternion) && this.shown === words) return;
    this.seen.copy(camera.quaternion);
    this.shown = words;
    corner.clearRect(0, 0, CORNER_WIDTH, CORNER_HEIGHT);
    corner.font = FONT;
    this.triad(camera, inks);
    if (grid > 0) this.gridSize(grid, inks);
  }

  /** Draw it on another canvas, of a whole picture. */
  copyTo(target: CanvasRenderingContext2D, width: number, height: number): void {
    const ratio = height / this.height;
    if (!this.context.canvas.hidden) target.drawImage(this.context.canvas, 0, 0, width, height);
    target.drawImage(this.corner.canvas, 0, height - ratio * CORNER_HEIGHT, ratio * CORNER_WIDTH, ratio * CORNER_HEIGHT);
  }

  private labels(camera: Camera, labels: Label[], inks: Inks): void {
    const taken: [number, number, number, number][] = [[0, this.height - CORNER_HEIGHT, CORNER_WIDTH, this.height]];
    const spot = new Vector3();
    for (const label of [...labels].sort((p, q) => q.rank - p.rank)) {
      spot.copy(label.place).project(camera);
      if (!(Math.abs(spot.z) <= 1)) continue;
      const [x, y] = [((spot.x + 1) / 2) * this.width, ((1 - spot.y) / 2) * this.height];
      const width = this.widthOf(label.text);
      const free = ([[10, -9], [10, 13], [-10 - width, -9], [-10 - width, 13], [-width / 2, -16], [-width / 2, 22]] as const).find(([dx, dy]) => {
        const box = [x + dx - 3, y + dy - 12, x + dx + width + 3, y + dy + 5] as const;
        return box[0] > 0 && box[1] > 0 && box[2] < this.width && box[3] < this.height
          && taken.every((other) => box[2] < other[0] || box[0] > other[2] || box[3] < other[1] || box[1] > other[3]);
      });
      if (!free) continue;
      const [left, base] = [x + free[0], y + free[1]];
      taken.push([left - 3, base - 12, left + width + 3, base + 5]);
      this.context.font = label.italic ? `italic ${FONT}` : FONT;
      this.context.strokeStyle = inks.halo;
      this.context.lineWidth = 4;
      this.context.strokeText(label.text, left, base);
      this.context.fillStyle = label.colour;
      this.context.fillText(label.text, left, base);
    }
  }

  /** The world's axes, in the lower left corner. */
  private triad(camera: Camera, inks: Inks): void {
    const context = this.corner;
    const [x, y, length] = [46, CORNER_HEIGHT - 46, 28];
    const rotation = camera.quaternion.clone().invert();
    const axes = AXES.map(([name, colour], k) => {
      const tip = new Vector3(k === 0 ? 1 : 0, k === 1 ? 1 : 0, k === 2 ? 1 : 0).applyQuaternion(rotation);
      return { name, colour, tip };
    }).sort((p, q) => p.tip.z - q.tip.z);
    for (const { name, colour, tip } of axes) {
      const [dx, dy] = [tip.x * length, -tip.y * length];
      context.strokeStyle = colour;
      context.lineWidth = 2.4;
      context.lineCap = "round";
      context.globalAlpha = tip.z < -0.3 ? 0.55 : 1;
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + dx, y + dy);
      context.stroke();
      if (Math.hypot(tip.x, tip.y) > 0.2) {
        context.fillStyle = inks.text;
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillText(name, x + dx * 1.38, y + dy * 1.38);
        context.textAlign = "start";
        context.textBaseline = "alphabetic";
      }
      context.globalAlpha = 1;
    }
  }

  /** The size of the grid in words, beside a square that is hatched. */
  private gridSize(grid: number, inks: Inks): void {
    const context = this.corner;
    const [x, y] = [96, CORNER_HEIGHT - 29];
    context.strokeStyle = inks.faint;
    context.lineWidth = 1.2;
    context.strokeRect(x, y, 12, 12);
    context.beginPath();
    for (const k of [4, 8, 12, 16, 20]) {
      context.moveTo(x + Math.max(k - 12, 0), y + Math.min(k, 12));
      context.lineTo(x + Math.min(k, 12), y + Math.max(k - 12, 0));
    }
    context.stroke();
    context.fillStyle = inks.faint;
    context.fillText(lengthText(grid), x + 19, y + 10.5);
  }

  private widthOf(text: string): number {
    let width = this.widths.get(text);
    this.context.font = FONT;
    if (width === undefined) this.widths.set(text, (width = this.context.measureText(text).width));
    return width;
  }
}

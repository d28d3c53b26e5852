/** The ground below the mechanism: a grid of known size that fades out, and the shadows on it. */

import {
  BufferAttribute, BufferGeometry, CircleGeometry, Color, Group, LineBasicMaterial, LineSegments, Mesh, ShadowMaterial, Vector3, type Box3,
} from "three";
import { niceBelow } from "../ui/numbers";
import { frameOf } from "./geometry";

const CELLS = 14; // from the middle outwards
const PIECES = 6; // of a line

export class Floor {
  readonly group = new Group();
  /** Edge of a square of the grid, m. */
  readonly step: number;
  private readonly lines: LineSegments;
  private readonly material = new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false });
  private readonly shadow: Mesh;
  private readonly shadowMaterial = new ShadowMaterial({ opacity: 0.26, depthWrite: false });

  constructor(bounds: Box3, up: Vector3, size: number) {
    const span = Math.max(bounds.getSize(new Vector3()).length(), size);
    this.step = niceBelow(span / 8);
    const centre = bounds.getCenter(new Vector3());
    const level = lowest(bounds, up) - 0.06 * size;
    // the origin of the world is on a line of the grid
    const frame = frameOf(new Vector3(), up, Math.abs(up.x) < 0.9 ? new Vector3(1, 0, 0) : new Vector3(0, 0, 1));
    const local = centre.clone().applyMatrix4(frame.clone().invert());
    const [cx, cy] = [Math.round(local.x / this.step) * this.step, Math.round(local.y / this.step) * this.step];
    this.group.matrixAutoUpdate = false;
    this.group.matrix.copy(frame).setPosition(new Vector3(cx, cy, level).applyMatrix4(frame));
    this.lines = new LineSegments(grid(this.step), this.material);
    this.lines.renderOrder = -1;
    this.shadow = new Mesh(new CircleGeometry(0.8 * span, 40), this.shadowMaterial);
    this.shadow.position.set(local.x - cx, local.y - cy, -1e-4 * size);
    this.shadow.receiveShadow = true;
    this.shadow.renderOrder = -2;
    for (const one of [this.lines, this.shadow]) one.raycast = () => {};
    this.group.add(this.shadow, this.lines);
  }

  setColours(line: Color, shadow: number): void {
    this.material.color = line;
    this.shadowMaterial.opacity = shadow;
  }

  showShadow(on: boolean): void {
    this.shadow.visible = on;
  }

  dispose(): void {
    this.lines.geometry.dispose();
    this.shadow.geometry.dispose();
    this.material.dispose();
    this.shadowMaterial.dispose();
    this.group.removeFromParent();
  }
}

/** Lines in pieces, so that each end of a piece has its own transparency; every fifth is stronger. */
function grid(step: number): BufferGeometry {
  const positions: number[] = [];
  const colours: number[] = [];
  const reach = CELLS;
  const vertex = (u: number, v: number, strong: boolean): void => {
    positions.push(u * step, v * step, 0);
    const fade = Math.max(0, 1 - Math.hypot(u, v) / reach);
    colours.push(1, 1, 1, (strong ? 1.0 : 0.6) * fade ** 1.2);
  };
  for (let k = 1 - reach; k < reach; k++) {
    const half = Math.sqrt(reach * reach - k * k); // lines end on the circle
    for (let m = 0; m < PIECES; m++) {
      const [from, to] = [half * ((2 * m) / PIECES - 1), half * ((2 * (m + 1)) / PIECES - 1)];
      vertex(k, from, k % 5 === 0);
      vertex(k, to, k % 5 === 0);
      vertex(from, k, k % 5 === 0);
      vertex(to, k, k % 5 === 0);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute("color", new BufferAttribute(new Float32Array(colours), 4));
  return geometry;
}

function lowest(bounds: Box3, up: Vector3): number {
  let low = Infinity;
  for (let k = 0; k < 8; k++) {
    const corner = new Vector3(k & 1 ? bounds.max.x : bounds.min.x, k & 2 ? bounds.max.y : bounds.min.y, k & 4 ? bounds.max.z : bounds.min.z);
    low = Math.min(low, corner.dot(up));
  }
  return low;
}

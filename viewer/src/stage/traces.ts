/** Paths of points over the run: up to now, and faintly all of it. */

import { Color, Group, InstancedMesh, Matrix4, MeshBasicMaterial, Vector3, type BufferGeometry } from "three";
import type { Motion } from "../motion";
import { poseOf, type Pose } from "../motion";
import type { Scene, Vector } from "../payload";
import { rotation, vector } from "./frames";
import { Solid, anyAcross } from "./geometry";
import { GROUND } from "./names";

const MOST = 3000; // segments
const WIDTH = 0.0016; // of the size

export interface TracedPoint {
  body: string;
  point: Vector;
}

/** One trace of one run: a thin rod for each segment, so that it has a width on every screen. */
class Trace {
  readonly group = new Group();
  private rows: number[] = [];
  private readonly material: MeshBasicMaterial;
  private readonly faint: MeshBasicMaterial;
  private now: InstancedMesh | null = null; // up to the time that is shown
  private all: InstancedMesh | null = null;
  private tail: InstancedMesh | null = null; // from the last row to where the point is
  private first = new Vector3();
  private builtRows = 0;

  constructor(
    private readonly motion: Motion,
    private readonly traced: TracedPoint,
    private readonly geometry: BufferGeometry,
    private readonly size: number,
    colour: Color,
  ) {
    this.material = new MeshBasicMaterial({ color: colour });
    this.faint = new MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.22, depthWrite: false });
  }

  show(t: number, poses: Map<string, Matrix4>): void {
    if (!this.now || this.motion.rows < this.builtRows || this.motion.rows > 1.1 * this.builtRows + 20) this.build();
    const [now, tail] = [this.now!, this.tail!];
    const row = this.motion.rowAt(t);
    let done = 0;
    while (done < this.rows.length && this.rows[done]! <= row) done++;
    const body = poses.get(this.traced.body);
    now.count = Math.max(done - 1, 0);
    tail.visible = false;
    if (!body || done === 0) return;
    now.getMatrixAt(Math.max(done - 2, 0), scratch);
    const from = done >= 2 ? new Vector3(0, 0, 1).applyMatrix4(scratch) : this.first;
    const to = vector(this.traced.point).applyMatrix4(body);
    if (from.distanceTo(to) <= 1e-9 * this.size) return;
    tail.matrix.copy(segment(from, to, WIDTH * this.size));
    tail.matrixWorldNeedsUpdate = true;
    tail.visible = true;
  }

  dispose(): void {
    this.clear();
    this.material.dispose();
    this.faint.dispose();
    this.group.removeFromParent();
  }

  private clear(): void {
    for (const mesh of [this.now, this.all, this.tail]) mesh?.dispose();
    this.group.clear();
  }

  private build(): void {
    this.clear();
    const { rows, points } = this.points();
    this.rows = rows;
    this.first = points[0] ?? new Vector3();
    const count = Math.max(points.length - 1, 1);
    this.now = new InstancedMesh(this.geometry, this.material, count);
    this.all = new InstancedMesh(this.geometry, this.faint, count);
    this.tail = new InstancedMesh(this.geometry, this.material, 1);
    this.tail.setMatrixAt(0, new Matrix4());
    this.tail.matrixAutoUpdate = false;
    for (let k = 0; k + 1 < points.length; k++) {
      this.now.setMatrixAt(k, segment(points[k]!, points[k + 1]!, WIDTH * this.size));
      this.all.setMatrixAt(k, segment(points[k]!, points[k + 1]!, 0.7 * WIDTH * this.size));
    }
    this.all.count = Math.max(points.length - 1, 0);
    for (const mesh of [this.now, this.all, this.tail]) {
      mesh.frustumCulled = false;
      mesh.raycast = () => {};
      this.group.add(mesh);
    }
    this.builtRows = this.motion.rows;
  }

  /** Points at rows, as many as are seen apart. */
  private points(): { rows: number[]; points: Vector3[] } {
    const body = this.motion.scene.bodies.find(({ name }) => name === this.traced.body);
    const rows: number[] = [];
    const points: Vector3[] = [];
    if (!body) return { rows, points };
    const pose: Pose = { r: [0, 0, 0], Q: [1, 0, 0, 0] };
    const step = Math.max(1, this.motion.rows / MOST);
    for (let k = 0; k < this.motion.rows; k += step) {
      const row = Math.floor(k);
      if (!poseOf(this.motion, body, { row, fraction: 0 }, pose)) continue;
      const place = vector(this.traced.point).applyQuaternion(rotation(pose.Q)).add(vector(pose.r));
      if (points.length > 0 && place.distanceTo(points.at(-1)!) < 2e-4 * this.size && row < this.motion.rows - 1) continue;
      rows.push(row);
      points.push(place);
    }
    return { rows, points };
  }
}

const scratch = new Matrix4();

function segment(from: Vector3, to: Vector3, width: number): Matrix4 {
  const along = to.clone().sub(from);
  const z = along.clone().normalize();
  if (z.lengthSq() === 0) z.set(0, 0, 1);
  const x = anyAcross(z);
  const y = new Vector3().crossVectors(z, x);
  return new Matrix4().makeBasis(x.multiplyScalar(width), y.multiplyScalar(width), along).setPosition(from);
}

export class Traces {
  readonly group = new Group();
  private readonly points: TracedPoint[] = [];
  private traces: Trace[] = [];
  private motions: { motion: Motion; colour: (body: string) => Color }[] = [];
  private readonly geometry: BufferGeometry;

  constructor(scene: Scene, private readonly size: number) {
    this.geometry = new Solid().at(new Matrix4()).lathe([[1, 0], [1, 1]], false, 5).build();
    for (const { body, point } of scene.points) if (body !== GROUND) this.points.push({ body, point });
  }

  setMotions(motions: { motion: Motion; colour: (body: string) => Color }[]): void {
    this.motions = motions;
    this.rebuild();
  }

  set(point: TracedPoint, on: boolean): void {
    const k = this.points.findIndex((one) => one.body === point.body && one.point.every((x, i) => Math.abs(x - point.point[i]!) < 1e-12));
    if (on === k >= 0) return;
    if (on) this.points.push(point);
    else this.points.splice(k, 1);
    this.rebuild();
  }

  show(t: number, poses: Map<string, Matrix4>[]): void {
    if (!this.group.visible) return;
    this.traces.forEach((trace, k) => trace.show(t, poses[Math.floor(k / Math.max(this.points.length, 1))]!));
  }

  dispose(): void {
    for (const trace of this.traces) trace.dispose();
    this.traces = [];
    this.geometry.dispose();
    this.group.removeFromParent();
  }

  private rebuild(): void {
    for (const trace of this.traces) trace.dispose();
    this.traces = this.motions.flatMap(({ motion, colour }) =>
      this.points.map((point) => new Trace(motion, point, this.geometry, this.size, colour(point.body))));
    for (const trace of this.traces) this.group.add(trace.group);
  }
}

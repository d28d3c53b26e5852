/** Forces and torques as arrows. Those behind bodies are seen through them, faintly. */

import {
  BufferGeometry, Color, DoubleSide, DynamicDrawUsage, GreaterDepth, Group, InstancedMesh, Matrix4, MeshLambertMaterial, Vector3,
} from "three";
import type { Motion } from "../motion";
import { piecesOf, type Scene } from "../payload";
import { vector } from "./frames";
import { Solid, anyAcross } from "./geometry";
import { GROUND } from "./names";
import type { Scales } from "./scales";

export type ArrowLayer = "reactions" | "springs" | "loads" | "gravity";

export const ARROW_COLOURS: Record<ArrowLayer, string> = { reactions: "#d55e00", springs: "#009e73", loads: "#cc3d94", gravity: "#3a8fd0" };

/** What an arrow stands for: columns, or a constant; its sign. */
interface Source {
  layer: ArrowLayer;
  body: string;
  point: Vector3;
  columns: string[];
  constant: Vector3 | null;
  torque: boolean;
  /** Of a spring: the other end, to which the force is directed. */
  other: { body: string; point: Vector3; factor: number } | null;
}

type Poses = Map<string, Matrix4>;

export class Arrows {
  readonly group = new Group();
  private readonly sources: Source[];
  private readonly shafts: Instances;
  private readonly heads: Instances;
  private readonly colours: Record<ArrowLayer, Color>;

  constructor(scene: Scene, private readonly size: number) {
    this.sources = sourcesOf(scene);
    this.colours = Object.fromEntries(Object.entries(ARROW_COLOURS).map(([layer, hex]) => [layer, new Color(hex)])) as Record<ArrowLayer, Color>;
    const shaft = plain(new Solid().at(new Matrix4()).lathe([[0, 0], [1, 0], [1, 1], [0, 1]], false, 10));
    const head = plain(new Solid().at(new Matrix4()).lathe([[0, -1], [1, -1], [0, 0]], false, 16));
    this.shafts = new Instances(shaft, this.sources.length);
    this.heads = new Instances(head, 2 * this.sources.length);
    this.group.add(...this.shafts.meshes, ...this.heads.meshes);
  }

  place(motion: Motion, t: number, poses: Poses, scales: Scales, shown: Record<ArrowLayer, boolean>): void {
    this.shafts.begin();
    this.heads.begin();
    const from = new Vector3();
    const along = new Vector3();
    for (const source of this.sources) {
      const pose = poses.get(source.body);
      if (!shown[source.layer] || !pose) continue;
      from.copy(source.point).applyMatrix4(pose);
      if (!this.vectorOf(source, motion, t, poses, from, along)) continue;
      const length = along.length() * (source.torque ? scales.torque : scales.force);
      if (!(length > 0.004 * this.size) || !Number.isFinite(length)) continue;
      this.draw(from, along.normalize(), Math.min(length, this.size), this.colours[source.layer], source.torque);
    }
    this.shafts.end();
    this.heads.end();
  }

  dispose(): void {
    this.shafts.dispose();
    this.heads.dispose();
    this.group.removeFromParent();
  }

  private vectorOf(source: Source, motion: Motion, t: number, poses: Poses, from: Vector3, result: Vector3): boolean {
    if (source.constant) {
      result.copy(source.constant);
      return true;
    }
    if (source.other) {
      const pose = poses.get(source.other.body);
      const pull = motion.at(source.columns[0]!, t);
      if (!pose || !Number.isFinite(pull)) return false;
      result.copy(source.other.point).applyMatrix4(pose).sub(from);
      const length = result.length();
      if (!(length > 0)) return false;
      result.multiplyScalar((source.other.factor * pull) / length);
      return true;
    }
    result.set(motion.at(source.columns[0]!, t), motion.at(source.columns[1]!, t), motion.at(source.columns[2]!, t));
    return Number.isFinite(result.x + result.y + result.z);
  }

  private draw(from: Vector3, direction: Vector3, length: number, colour: Color, torque: boolean): void {
    const head = Math.min(0.036 * this.size, 0.5 * length);
    const side = anyAcross(direction);
    const other = new Vector3().crossVectors(direction, side);
    const place = (at: number, radius: number, long: number): Matrix4 =>
      new Matrix4().makeBasis(side, other, direction).scale(new Vector3(radius, radius, long)).setPosition(from.clone().addScaledVector(direction, at));
    const thin = Math.min(0.0048 * this.size, 0.16 * head);
    this.shafts.add(place(0, thin, length - 0.9 * head), colour);
    this.heads.add(place(length, 2.5 * thin, head), colour);
    if (torque && length > 1.2 * head) this.heads.add(place(length - 0.75 * head, 2.5 * thin, head), colour);
  }
}

type ArrowMesh = InstancedMesh<BufferGeometry, MeshLambertMaterial>;

/** Many of one geometry, drawn twice: what is seen, and faintly what is behind something. */
class Instances {
  readonly meshes: [ArrowMesh, ArrowMesh];
  private count = 0;

  constructor(private readonly geometry: BufferGeometry, most: number) {
    const seen = new MeshLambertMaterial({ side: DoubleSide, emissive: 0xffffff, emissiveIntensity: 0.06 });
    const behind = new MeshLambertMaterial({ depthFunc: GreaterDepth, depthWrite: false, transparent: true, opacity: 0.55 });
    const first = new InstancedMesh(geometry, seen, Math.max(most, 1));
    first.instanceMatrix.setUsage(DynamicDrawUsage);
    first.setColorAt(0, new Color());
    const second = new InstancedMesh(geometry, behind, Math.max(most, 1));
    second.instanceMatrix = first.instanceMatrix;
    second.instanceColor = first.instanceColor;
    second.renderOrder = 2;
    this.meshes = [first, second];
    for (const mesh of this.meshes) {
      mesh.frustumCulled = false;
      mesh.raycast = () => {};
    }
  }

  begin(): void {
    this.count = 0;
  }

  add(matrix: Matrix4, colour: Color): void {
    this.meshes[0].setMatrixAt(this.count, matrix);
    this.meshes[0].setColorAt(this.count, colour);
    this.count++;
  }

  end(): void {
    for (const mesh of this.meshes) {
      mesh.count = this.count;
      mesh.visible = this.count > 0;
    }
    this.meshes[0].instanceMatrix.needsUpdate = true;
    this.meshes[0].instanceColor!.needsUpdate = true;
  }

  dispose(): void {
    this.geometry.dispose();
    for (const mesh of this.meshes) {
      mesh.material.dispose();
      mesh.dispose();
    }
  }
}

/** Without the attributes of paint. */
function plain(solid: Solid): BufferGeometry {
  const geometry = solid.build();
  geometry.deleteAttribute("color");
  geometry.deleteAttribute("metal");
  return geometry;
}

function sourcesOf(scene: Scene): Source[] {
  const sources: Source[] = [];
  const add = (layer: ArrowLayer, body: string, point: Vector3, columns: string[], torque: boolean): void => {
    if (columns.length === 3) sources.push({ layer, body, point, columns, constant: null, torque, other: null });
  };
  for (const { child, childFrame, f, t, type } of scene.joints) {
    if (type === "free") continue;
    add("reactions", child, vector(childFrame.r), f, false);
    add("reactions", child, vector(childFrame.r), t, true);
  }
  for (const { body, point, F, T } of scene.wrenches) {
    add("loads", body, vector(point), F, false);
    add("loads", body, vector(point), T, true);
  }
  const ties = [...scene.springs.filter((one) => !one.mount), ...scene.distances].map((tie) => ({ ...tie, factor: 1 }));
  for (const tie of [...ties, ...piecesOf(scene.cables)]) {
    for (const k of [0, 1] as const) {
      const body = tie.bodies[k];
      if (body === GROUND) continue;
      const other = { body: tie.bodies[1 - k]!, point: vector(tie.points[1 - k]!), factor: tie.factor };
      sources.push({ layer: "springs", body, point: vector(tie.points[k]), columns: [tie.force], constant: null, torque: false, other });
    }
  }
  const gravity = vector(scene.gravity);
  if (gravity.lengthSq() > 0) {
    for (const { name, com, mass } of scene.bodies) {
      sources.push({ layer: "gravity", body: name, point: vector(com), columns: [], constant: gravity.clone().multiplyScalar(mass), torque: false, other: null });
    }
  }
  return sources;
}

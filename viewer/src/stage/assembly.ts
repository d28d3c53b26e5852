/** The solids of a mechanism: one mesh for each body, placed by its pose. */

import {
  Box3, BufferAttribute, BufferGeometry, Group, Matrix4, Mesh, Vector3, type Intersection, type Material, type MeshLambertMaterial, type Object3D,
} from "three";
import type { Joint, Vector } from "../payload";
import { drawBody, drawShapes, type Meshes } from "./bodies";
import { DARK } from "./finishes";
import { rotation, vector } from "./frames";
import { drawGear, gearPair } from "./gears";
import { Solid, frameOf, type Part } from "./geometry";
import { drawJoint } from "./joints";
import type { Layout } from "./layout";
import { GROUND, type Selectable } from "./names";
import type { Travel } from "./travel";

export interface Picked {
  kind: Selectable;
  name: string;
  body: string; // which moves it
}

/** A body as it is drawn. */
interface Node {
  group: Group;
  mesh: Mesh;
  parts: Part[];
  bodyCount: number; // indices of the body itself; those of joints follow
}

/** The two halves of a joint that opens. */
interface Opening {
  joint: Joint;
  meshes: Mesh[];
  material: MeshLambertMaterial;
}

export class Assembly {
  readonly group = new Group();
  readonly nodes = new Map<string, Node>();
  private readonly openings: Opening[] = [];
  private jointsShown = true;

  constructor(
    readonly layout: Layout,
    travels: Map<Joint, Travel>,
    meshes: Meshes,
    private readonly material: MeshLambertMaterial,
  ) {
    const { scene } = layout;
    const solids = new Map<string, Solid>();
    const pairs = scene.couplings.map((coupling) => gearPair(coupling, scene.joints)).filter((pair) => pair !== null);
    const geared = new Set(pairs.flatMap(({ gears }) => gears.map(({ body }) => body)));
    for (const link of layout.links.values()) {
      const solid = new Solid(layout.detail);
      solid.begin("body", link.name);
      const shapes = link.body ? link.body.shapes : scene.groundShapes;
      if (shapes.length > 0) drawShapes(solid, shapes, link.colour, meshes);
      else if (link.body) drawBody(solid, link, layout, geared.has(link.name));
      solids.set(link.name, solid);
    }
    for (const pair of pairs) {
      if (pair.gears.some(({ body }) => !solids.has(body))) continue;
      for (const gear of pair.gears) {
        solids.get(gear.body)!.begin("body", gear.body);
        drawGear(solids.get(gear.body)!, gear, layout, gearLevel(gear, pair.gears.map(({ body }) => body), layout));
      }
    }
    const bodyCounts = new Map([...solids].map(([name, solid]) => [name, solid.count]));
    const opening: [Joint, Solid, Solid][] = [];
    for (const joint of scene.joints) {
      const travel = travels.get(joint);
      const [parent, child] = [solids.get(joint.parent), solids.get(joint.child)];
      if (!travel || !parent || !child) continue;
      if (joint.closed === null) drawJoint(joint, layout, travel, parent, child);
      else {
        opening.push([joint, new Solid(layout.detail), new Solid(layout.detail)]);
        drawJoint(joint, layout, travel, opening.at(-1)![1], opening.at(-1)![2]);
      }
    }
    for (const { name, body, point, axis } of scene.points) {
      const solid = solids.get(body);
      if (solid) drawPoint(solid.begin("point", name), point, axis, layout);
    }
    for (const [name, solid] of solids) this.add(name, solid, bodyCounts.get(name)!);
    for (const [joint, onParent, onChild] of opening) this.addOpening(joint, onParent, onChild);
  }

  /** Put bodies at their poses; those without one are not drawn. */
  place(poses: Map<string, Matrix4>): void {
    for (const [name, { group }] of this.nodes) {
      const pose = poses.get(name);
      group.visible = pose !== undefined;
      if (pose) group.matrix.copy(pose);
      group.matrixWorldNeedsUpdate = true;
    }
    this.group.updateMatrixWorld();
  }

  /** Fade joints that are open; `closed` of a joint: 1 or, where it is unknown, NaN. */
  fade(closed: (joint: Joint) => number): void {
    for (const { joint, material } of this.openings) {
      const open = closed(joint) < 0.5;
      material.opacity = open ? 0.25 : 1;
      material.transparent = open;
      material.depthWrite = !open;
    }
  }

  showJoints(shown: boolean): void {
    this.jointsShown = shown;
    for (const { mesh, bodyCount } of this.nodes.values()) mesh.geometry.setDrawRange(0, shown ? Infinity : bodyCount);
    for (const { meshes } of this.openings) for (const mesh of meshes) mesh.visible = shown;
  }

  castShadows(on: boolean): void {
    this.group.traverse((one) => {
      if (one instanceof Mesh) one.castShadow = one.receiveShadow = on;
    });
  }

  /** What a ray hit; null: nothing of a name. */
  picked({ object, faceIndex }: Intersection): Picked | null {
    const parts = object.userData.parts as Part[] | undefined;
    const body = object.userData.body as string | undefined;
    if (!parts || body === undefined || faceIndex === undefined || faceIndex === null) return null;
    const index = 3 * faceIndex;
    const part = parts.find(({ start, count }) => index >= start && index < start + count);
    if (!part || (part.kind === "body" && part.name === GROUND) || (part.kind === "joint" && !this.jointsShown)) return null;
    return { kind: part.kind, name: part.name, body };
  }

  /** Meshes of what has a name, to draw over it. */
  outline(name: string, kind: Selectable, material: Material): { parent: Object3D; mesh: Mesh }[] {
    const found: { parent: Object3D; mesh: Mesh }[] = [];
    this.group.traverse((one) => {
      if (!(one instanceof Mesh) || !one.userData.parts) return;
      const own = (one.userData.parts as Part[]).filter((part) => part.name === name && part.kind === kind && part.count > 0);
      if (own.length === 0) return;
      const source = one.geometry as BufferGeometry;
      const index = source.getIndex()!.array;
      const chosen = own.flatMap(({ start, count }) => Array.from(index.slice(start, start + count)));
      const geometry = new BufferGeometry();
      for (const key of ["position", "normal"]) geometry.setAttribute(key, source.getAttribute(key));
      geometry.setIndex(new BufferAttribute(new Uint32Array(chosen), 1));
      found.push({ parent: one.parent!, mesh: new Mesh(geometry, material) });
    });
    return found;
  }

  /** Boxes around what is drawn of each body, in its axes. */
  boxes(): Map<string, Box3> {
    return new Map([...this.nodes].map(([name, { mesh }]) => [name, mesh.geometry.boundingBox ?? new Box3()]));
  }

  dispose(): void {
    this.group.traverse((one) => {
      if (one instanceof Mesh) one.geometry.dispose();
    });
    for (const { material } of this.openings) material.dispose();
    this.group.removeFromParent();
  }

  private add(name: string, solid: Solid, bodyCount: number): void {
    const group = new Group();
    group.matrixAutoUpdate = false;
    const mesh = new Mesh(solid.build(), this.material);
    mesh.visible = !solid.empty;
    mesh.userData = { parts: solid.parts, body: name };
    group.add(mesh);
    this.group.add(group);
    this.nodes.set(name, { group, mesh, parts: solid.parts, bodyCount });
  }

  private addOpening(joint: Joint, onParent: Solid, onChild: Solid): void {
    const material = this.material.clone();
    material.onBeforeCompile = this.material.onBeforeCompile;
    const meshes: Mesh[] = [];
    for (const [body, solid] of [[joint.parent, onParent], [joint.child, onChild]] as const) {
      if (solid.empty) continue;
      const mesh = new Mesh(solid.build(), material);
      mesh.userData = { parts: solid.parts, body };
      this.nodes.get(body)!.group.add(mesh);
      meshes.push(mesh);
    }
    this.openings.push({ joint, meshes, material });
  }
}

/** Both gears of a pair are in front of the bodies that turn. */
function gearLevel(gear: { joint: Joint; body: string }, bodies: string[], layout: Layout): number {
  const links = bodies.map((body) => layout.links.get(body)!);
  const link = layout.links.get(gear.body)!;
  if (!link.normal) return 2.2 * layout.radiusOf(gear.joint);
  const layer = Math.max(...links.map((one) => (one.normal ? one.layer : 0)));
  const frame = gear.joint.parent === gear.body ? gear.joint.parentFrame : gear.joint.childFrame;
  const axis = new Vector3(0, 0, 1).applyQuaternion(rotation(frame.Q));
  return Math.sign(axis.dot(link.normal)) * layer * layout.pitch;
}

/** A point of interest, and its direction. */
function drawPoint(solid: Solid, point: Vector, axis: Vector | null, layout: Layout): void {
  const r = 0.45 * layout.radius;
  solid.in(DARK).at(new Matrix4()).sphere(vector(point), r, 14);
  if (!axis) return;
  solid.at(frameOf(vector(point), vector(axis))).lathe([[0.3 * r, 0], [0.3 * r, 6 * r], [0.9 * r, 6 * r], [0, 9 * r]], false, 12);
}

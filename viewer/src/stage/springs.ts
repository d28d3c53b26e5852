/** Springs, dampers and distances: they are stretched between bodies, so that they are shaped anew at each time. */

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Group, Matrix4, Mesh, Vector3, type MeshLambertMaterial } from "three";
import { piecesOf, type Joint, type Spring } from "../payload";
import { DARK, STEEL, WIRE } from "./finishes";
import { matrix, vector } from "./frames";
import { Solid, anyAcross, bend, tube, type Finish, type Tube } from "./geometry";
import { shift, type Layout } from "./layout";
import type { Selectable } from "./names";
import type { Travel } from "./travel";

const MOST_WITH_SHADOWS = 19; // springs and distances

type Poses = Map<string, Matrix4>;

/** Something that is shaped by poses; false: it cannot be drawn. */
interface Shaped {
  object: Mesh | Group;
  shape(poses: Poses, angle: (joint: Joint) => number): boolean;
}

export class Springs {
  readonly group = new Group();
  readonly distances = new Group();
  private readonly all: Shaped[] = [];

  constructor(layout: Layout, travels: Map<Joint, Travel>, material: MeshLambertMaterial) {
    const { scene } = layout;
    for (const spring of scene.springs) {
      const ends = endsOf(layout, spring.bodies, spring.points);
      if (spring.mount) {
        this.add(mount(ends, layout, material), spring.name, "spring");
        continue;
      }
      if (spring.stiffness !== 0 || spring.damping === 0) this.add(coil(spring, ends, layout, material), spring.name, "spring");
      if (spring.damping !== 0) this.add(damper(spring, ends, layout, material), spring.name, "spring");
    }
    for (const { name, bodies, points } of piecesOf(scene.cables)) {
      this.add(thinRod(endsOf(layout, bodies, points), layout, material), name, "spring");
    }
    for (const { name, bodies, points } of scene.distances) {
      this.add(thinRod(endsOf(layout, bodies, points), layout, material), name, "distance", this.distances);
    }
    for (const joint of scene.joints) {
      if (!joint.spring) continue;
      if (joint.type === "revolute") this.add(spiral(joint, layout, material), joint.name, "joint");
      const travel = travels.get(joint);
      if (joint.type === "prismatic" && travel) this.add(onRail(joint, travel, layout, material), joint.name, "joint");
    }
  }

  /** `angle`: of a hinge, with its revolutions; NaN where it is unknown. */
  place(poses: Poses, angle: (joint: Joint) => number): void {
    for (const one of this.all) one.object.visible = one.shape(poses, angle);
  }

  /** Wires throw hardly any shadow; where they are many they throw none. */
  castShadows(on: boolean): void {
    const shadows = on && this.all.length <= MOST_WITH_SHADOWS;
    for (const group of [this.group, this.distances]) group.traverse((one) => (one.castShadow = one.receiveShadow = shadows));
  }

  dispose(): void {
    for (const group of [this.group, this.distances]) {
      group.traverse((one) => {
        if (one instanceof Mesh) one.geometry.dispose();
      });
      group.removeFromParent();
    }
  }

  private add(one: Shaped, name: string, kind: Selectable, group = this.group): void {
    one.object.userData = { spring: name, kind };
    this.all.push(one);
    group.add(one.object);
  }
}

type Ends = (poses: Poses) => [Vector3, Vector3] | null;

/** The two ends in the world, in the layers of their bodies. */
function endsOf(layout: Layout, bodies: [string, string], points: Spring["points"]): Ends {
  const local = bodies.map((body, k) => {
    const link = layout.links.get(body);
    return link ? vector(points[k]!).add(shift(link, layout)) : null;
  });
  return (poses) => {
    const [p, q] = bodies.map((body, k) => {
      const pose = poses.get(body);
      return pose && local[k] ? local[k].clone().applyMatrix4(pose) : null;
    });
    return p && q ? [p, q] : null;
  };
}

/** A wire whose shape changes. */
class Wire {
  readonly mesh: Mesh;
  private readonly tube: Tube;

  constructor(count: number, private readonly radius: number, private readonly segments: number, material: MeshLambertMaterial, finish: Finish) {
    const straight = Array.from({ length: count }, (_, k) => new Vector3(0, 0, k));
    this.tube = tube(straight, radius, segments);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(this.tube.positions, 3).setUsage(DynamicDrawUsage));
    geometry.setAttribute("normal", new BufferAttribute(this.tube.normals, 3).setUsage(DynamicDrawUsage));
    const vertices = this.tube.positions.length / 3;
    const { colour, metal } = finish;
    geometry.setAttribute("color", new BufferAttribute(new Float32Array(3 * vertices).map((_, k) => [colour.r, colour.g, colour.b][k % 3]!), 3));
    geometry.setAttribute("metal", new BufferAttribute(new Float32Array(vertices).fill(metal), 1));
    geometry.setIndex(new BufferAttribute(this.tube.index, 1));
    this.mesh = new Mesh(geometry, material);
    this.mesh.matrixAutoUpdate = false;
    this.mesh.frustumCulled = false;
  }

  bend(points: Vector3[]): void {
    bend(this.tube, points, this.radius, this.segments);
    const { position, normal } = this.mesh.geometry.attributes;
    position!.needsUpdate = true;
    normal!.needsUpdate = true;
    this.mesh.geometry.boundingSphere = null;
  }
}

/** A frame from one point to another that does not spin about the line from time to time. */
class Along {
  private side: Vector3 | null = null;

  frame(from: Vector3, to: Vector3): Matrix4 {
    const z = to.clone().sub(from).normalize();
    const side = (this.side ??= anyAcross(z));
    side.addScaledVector(z, -side.dot(z));
    if (side.lengthSq() < 1e-6) side.copy(anyAcross(z));
    side.normalize();
    return new Matrix4().makeBasis(side, new Vector3().crossVectors(z, side), z).setPosition(from);
  }
}

/** A helix of constant wire: it gets thinner as it stretches. */
class Helix {
  private readonly points: Vector3[];
  private readonly wireLength: number; // of the turns
  private readonly steps: number; // points of a turn
  readonly wire: Wire;

  constructor(private readonly nominal: number, private readonly radius: number, private readonly turns: number, thick: number, layout: Layout, material: MeshLambertMaterial) {
    const fine = layout.detail > 0.8 && layout.scene.springs.length < 12;
    this.steps = fine ? 18 : 11;
    this.wireLength = Math.hypot(0.8 * nominal, 2 * Math.PI * turns * radius);
    this.points = Array.from({ length: turns * this.steps + 5 }, () => new Vector3());
    this.wire = new Wire(this.points.length, thick, fine ? 7 : 5, material, WIRE);
  }

  shape(length: number): void {
    const end = Math.min(0.1 * this.nominal, 0.25 * length);
    const height = length - 2 * end;
    const round = 2 * Math.PI * this.turns;
    const widest = 1.3 * this.radius;
    const radius = Math.min(Math.max(Math.sqrt(Math.max(this.wireLength ** 2 - height ** 2, 0)) / round, 0.3 * this.radius), widest);
    const n = this.turns * this.steps;
    this.points[0]!.set(0, 0, 0);
    this.points[1]!.set(0, 0, 0.9 * end);
    for (let k = 0; k <= n; k++) {
      const angle = (round * k) / n;
      const ramp = Math.min(1, Math.min(k, n - k) / (0.35 * this.steps)); // the ends lead to the middle
      this.points[k + 2]!.set(radius * ramp * Math.cos(angle), radius * ramp * Math.sin(angle), end + (height * k) / n);
    }
    this.points[n + 3]!.set(0, 0, length - 0.9 * end);
    this.points[n + 4]!.set(0, 0, length);
    this.wire.bend(this.points);
  }
}

/** What is stretched between two points: its meshes, and where they are at a distance of the points. */
interface Stretch {
  meshes: Mesh[];
  place(frame: Matrix4, length: number): void;
}

/**
 * Something between two points. It is made when it is first drawn, for its usual length: the free length, or that of the
 * first drawing where the free length is 0.
 */
function stretched(free: number, ends: Ends, layout: Layout, make: (usual: number) => Stretch): Shaped {
  const along = new Along();
  const holder = new Group();
  let made: Stretch | null = null;
  return {
    object: holder,
    shape(poses) {
      const pair = ends(poses);
      const length = pair ? pair[0].distanceTo(pair[1]) : 0;
      if (!pair || length < 1e-9 * layout.size) return false;
      if (!made) {
        made = make(free > 0.02 * layout.size ? free : Math.max(length, 0.05 * layout.size));
        for (const mesh of made.meshes) {
          mesh.userData = holder.userData;
          mesh.castShadow = mesh.receiveShadow = holder.castShadow;
        }
        holder.add(...made.meshes);
      }
      made.place(along.frame(...pair), length);
      for (const mesh of made.meshes) mesh.matrixWorldNeedsUpdate = true;
      return true;
    },
  };
}

function coil(spring: Spring, ends: Ends, layout: Layout, material: MeshLambertMaterial): Shaped {
  return stretched(spring.free, ends, layout, (usual) => {
    const r = coilRadius(usual, layout);
    const helix = new Helix(usual, r, turnsOf(usual, r), 0.16 * r, layout, material);
    return {
      meshes: [helix.wire.mesh],
      place(frame, length) {
        helix.shape(length);
        helix.wire.mesh.matrix.copy(frame);
      },
    };
  });
}

function coilRadius(length: number, layout: Layout): number {
  return Math.min(Math.max(0.075 * length, 0.5 * layout.radius), 1.35 * layout.radius, 0.16 * length);
}

function turnsOf(length: number, radius: number): number {
  return Math.min(Math.max(Math.round((0.8 * length) / (0.95 * radius)), 5), 16);
}

/** A cylinder on the first body, and a piston on the second one that slides in it. */
function damper(spring: Spring, ends: Ends, layout: Layout, material: MeshLambertMaterial): Shaped {
  return stretched(spring.free, ends, layout, (usual) => {
    const r = (spring.stiffness !== 0 ? 0.52 : 0.85) * coilRadius(usual, layout);
    const cylinder = still(new Solid().in(DARK).at(new Matrix4()).cylinder(r, 0.1 * usual, 0.6 * usual, 20).in(STEEL).cylinder(0.35 * r, 0, 0.12 * usual, 12), material);
    const piston = still(new Solid().in(STEEL).at(new Matrix4()).cylinder(0.42 * r, -0.6 * usual, 0, 14), material);
    return {
      meshes: [cylinder, piston],
      place(frame, length) {
        // a stroke that is longer than the parts scales them rather than pull them apart
        const share = Math.min(length / (0.65 * usual), 1);
        const reach = Math.max(length / (1.15 * usual), 1);
        cylinder.matrix.copy(frame).scale(new Vector3(1, 1, share));
        piston.matrix.copy(frame).multiply(new Matrix4().makeTranslation(0, 0, length)).scale(new Vector3(1, 1, share * reach));
      },
    };
  });
}

function still(solid: Solid, material: MeshLambertMaterial): Mesh {
  const mesh = new Mesh(solid.build(), material);
  mesh.matrixAutoUpdate = false;
  return mesh;
}

/** The rubber of a bushing, in the middle of its ends, which may coincide. */
function mount(ends: Ends, layout: Layout, material: MeshLambertMaterial): Shaped {
  const r = 1.3 * layout.radius;
  const mesh = still(new Solid().in(DARK).at(new Matrix4()).sphere(new Vector3(), r, 18), material);
  return {
    object: mesh,
    shape(poses) {
      const pair = ends(poses);
      if (!pair) return false;
      mesh.matrix.makeTranslation(pair[0].add(pair[1]).multiplyScalar(0.5));
      mesh.matrixWorldNeedsUpdate = true;
      return true;
    },
  };
}

/** A massless rod of constant length with a ball at either end. */
function thinRod(ends: Ends, layout: Layout, material: MeshLambertMaterial): Shaped {
  return stretched(0, ends, layout, () => {
    const r = layout.radius;
    const ball = (): Mesh => still(new Solid().in(STEEL).at(new Matrix4()).sphere(new Vector3(), 0.62 * r, 14), material);
    const rod = still(new Solid().in(DARK).at(new Matrix4()).cylinder(0.3 * r, 0, 1, 12), material);
    const [from, to] = [ball(), ball()];
    return {
      meshes: [rod, from, to],
      place(frame, length) {
        rod.matrix.copy(frame).scale(new Vector3(1, 1, length));
        from.matrix.copy(frame);
        to.matrix.copy(frame).multiply(new Matrix4().makeTranslation(0, 0, length));
      },
    };
  });
}

/** A flat spiral in front of a hinge: its outer end is on the parent, its inner one on the child. */
function spiral(joint: Joint, layout: Layout, material: MeshLambertMaterial): Shaped {
  const r = layout.radiusOf(joint);
  const fine = layout.detail > 0.8;
  const [turns, count] = [3, fine ? 68 : 34];
  const wire = new Wire(count, 0.1 * r, fine ? 6 : 3, material, WIRE);
  let drawn = NaN; // the angle for which it is bent
  const points = Array.from({ length: count }, () => new Vector3());
  const frame = matrix(joint.parentFrame);
  const level = levelInFront(joint, layout, r);
  return {
    object: wire.mesh,
    shape(poses, angle) {
      const [parent, child] = [poses.get(joint.parent), poses.get(joint.child)];
      if (!parent || !child) return false;
      const world = parent.clone().multiply(frame);
      let q = angle(joint);
      if (!Number.isFinite(q)) {
        const turned = world.clone().invert().multiply(child).multiply(matrix(joint.childFrame));
        q = Math.atan2(turned.elements[1], turned.elements[0]);
      }
      const wound = Math.min(Math.max(q, -2 * Math.PI), 4 * Math.PI);
      wire.mesh.matrix.copy(world);
      wire.mesh.matrixWorldNeedsUpdate = true;
      if (Math.abs(wound - drawn) < (fine ? 1e-4 : 0.03)) return true;
      drawn = wound;
      for (let k = 0; k < count; k++) {
        const s = k / (count - 1);
        const phi = (1 - s) * (wound - 2 * Math.PI * turns);
        const radius = r * (0.75 + 1.25 * s);
        points[k]!.set(radius * Math.cos(phi), radius * Math.sin(phi), level);
      }
      wire.bend(points);
      return true;
    },
  };
}

/** The height of what is in front of the bodies at a hinge, along its axis. */
function levelInFront(joint: Joint, layout: Layout, r: number): number {
  const links = [layout.links.get(joint.parent), layout.links.get(joint.child)];
  const flat = links.find((link) => link?.normal);
  if (!flat?.normal) return 2.15 * r;
  const frame = matrix(flat === links[0] ? joint.parentFrame : joint.childFrame);
  const sense = Math.sign(flat.normal.clone().transformDirection(frame.invert()).z) || 1;
  const layer = Math.max(...links.map((link) => (link?.normal ? link.layer : 0)));
  return sense * (layer * layout.pitch + 0.9 * layout.thickness);
}

/** A coil around a rail, between its end and the block. */
function onRail(joint: Joint, travel: Travel, layout: Layout, material: MeshLambertMaterial): Shaped {
  const r = layout.radiusOf(joint);
  const low = travel.way.min.z - 3.2 * r;
  const middle = (travel.way.min.z + travel.way.max.z) / 2 - low - 2 * r;
  const coils = Math.min(Math.max(Math.round(middle / (0.75 * r)), 4), 14);
  const helix = new Helix(Math.max(middle, r), 1.15 * r, coils, 0.14 * r, layout, material);
  const link = layout.links.get(joint.child)!;
  return {
    object: helix.wire.mesh,
    shape(poses) {
      const [parent, child] = [poses.get(joint.parent), poses.get(joint.child)];
      if (!parent || !child) return false;
      const world = parent.clone().multiply(matrix(joint.parentFrame));
      const place = vector(joint.childFrame.r).add(shift(link, layout)).applyMatrix4(child).applyMatrix4(world.clone().invert());
      helix.shape(Math.max(place.z - 2 * r - low, 0.3 * r));
      helix.wire.mesh.matrix.copy(world).multiply(new Matrix4().makeTranslation(place.x, place.y, low));
      helix.wire.mesh.matrixWorldNeedsUpdate = true;
      return true;
    },
  };
}

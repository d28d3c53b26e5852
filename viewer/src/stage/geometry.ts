/** Solids of many simple parts in one geometry, so that a body is one draw call; each part remembers what it belongs to. */

import { BufferAttribute, BufferGeometry, Color, Matrix4, Vector3 } from "three";
import type { Selectable } from "./names";

/** A range of the index: these triangles belong to a body or a joint. */
export interface Part {
  kind: Selectable;
  name: string;
  start: number;
  count: number;
}

/** How a surface looks: its colour and how much it is like metal, 0 to 1. */
export interface Finish {
  colour: Color;
  metal: number;
}

/** A vertex of an outline in the plane and the outward normal there. Corners are two vertices at one point. */
export interface Corner {
  x: number;
  y: number;
  nx: number;
  ny: number;
}

/** [radius, z] along an axis of revolution. */
export type Profile = [number, number][];

const COARSE = 0.75; // of the detail: below it edges have no chamfer

const a = new Vector3();
const b = new Vector3();
const n = new Vector3();

export class Solid {
  readonly parts: Part[] = [];
  private readonly positions: number[] = [];
  private readonly normals: number[] = [];
  private readonly colours: number[] = [];
  private readonly metals: number[] = [];
  private readonly index: number[] = [];
  private frame = new Matrix4();
  private finish: Finish = { colour: new Color("white"), metal: 0 };

  /** `detail`: 1, or less where there are many bodies, each of which is small in the picture. */
  constructor(private readonly detail = 1) {}

  /** So many bodies that fine parts are not seen. */
  get coarse(): boolean {
    return this.detail < 0.45;
  }

  get empty(): boolean {
    return this.index.length === 0;
  }

  /** Number of indices so far. */
  get count(): number {
    return this.index.length;
  }

  /** What follows belongs to this. */
  begin(kind: Selectable, name: string): this {
    this.parts.push({ kind, name, start: this.index.length, count: 0 });
    return this;
  }

  /** What follows is in this frame. */
  at(frame: Matrix4): this {
    this.frame = frame;
    return this;
  }

  in(finish: Finish): this {
    this.finish = finish;
    return this;
  }

  /** Any triangles: positions and normals, three numbers a vertex. */
  triangles(positions: ArrayLike<number>, normals: ArrayLike<number>, index: ArrayLike<number>): this {
    const base = this.positions.length / 3;
    for (let i = 0; i < positions.length; i += 3) {
      a.set(positions[i]!, positions[i + 1]!, positions[i + 2]!);
      n.set(normals[i]!, normals[i + 1]!, normals[i + 2]!);
      this.vertex(a, n);
    }
    for (let i = 0; i < index.length; i++) this.index.push(base + index[i]!);
    return this.closePart();
  }

  /** A surface of revolution about z; smooth: its profile is round, else each of its edges is sharp. */
  lathe(profile: Profile, smooth = false, most = 24, arc = 2 * Math.PI): this {
    const segments = Math.max(Math.round(this.detail * most), Math.min(most, 7));
    const rings: { r: number; z: number; nr: number; nz: number }[] = [];
    const slope = (k: number): [number, number] => {
      const [from, to] = [profile[k]!, profile[k + 1]!];
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
      return [(to[1] - from[1]) / length, -(to[0] - from[0]) / length];
    };
    const last = profile.length - 1;
    for (let k = 0; k <= last; k++) {
      const [r, z] = profile[k]!;
      if (smooth) {
        const before = slope(Math.max(k - 1, 0));
        const after = slope(Math.min(k, last - 1));
        const length = Math.hypot(before[0] + after[0], before[1] + after[1]) || 1;
        rings.push({ r, z, nr: (before[0] + after[0]) / length, nz: (before[1] + after[1]) / length });
      } else {
        if (k > 0) rings.push({ r, z, nr: slope(k - 1)[0], nz: slope(k - 1)[1] });
        if (k < last) rings.push({ r, z, nr: slope(k)[0], nz: slope(k)[1] });
      }
    }
    const base = this.positions.length / 3;
    for (const { r, z, nr, nz } of rings) {
      for (let s = 0; s <= segments; s++) {
        const angle = (arc * s) / segments;
        const [c, d] = [Math.cos(angle), Math.sin(angle)];
        this.vertex(a.set(r * c, r * d, z), n.set(nr * c, nr * d, nz));
      }
    }
    const step = smooth ? 1 : 2;
    for (let k = 0; k + 1 < rings.length; k += step) this.strip(base + k * (segments + 1), base + (k + 1) * (segments + 1), segments);
    return this.closePart();
  }

  cylinder(radius: number, z0: number, z1: number, segments = 24): this {
    const c = 0.12 * Math.min(radius, z1 - z0);
    if (this.detail < COARSE) return this.lathe([[0, z0], [radius, z0], [radius, z1], [0, z1]], false, segments);
    return this.lathe([[0, z0], [radius - c, z0], [radius, z0 + c], [radius, z1 - c], [radius - c, z1], [0, z1]], false, segments);
  }

  /** A tube about z that is open at neither end. */
  sleeve(inner: number, outer: number, z0: number, z1: number, segments = 24): this {
    return this.lathe([[inner, z0], [outer, z0], [outer, z1], [inner, z1], [inner, z0]], false, segments);
  }

  sphere(centre: Vector3, radius: number, segments = 20): this {
    const steps = Math.max(5, Math.round(0.5 * segments * this.detail));
    const profile: Profile = Array.from({ length: steps + 1 }, (_, k) => {
      const angle = -Math.PI / 2 + (Math.PI * k) / steps;
      return [radius * Math.cos(angle), centre.z + radius * Math.sin(angle)];
    });
    const frame = this.frame;
    this.frame = frame.clone().multiply(new Matrix4().makeTranslation(centre.x, centre.y, 0));
    this.lathe(profile, true, segments);
    this.frame = frame;
    return this;
  }

  /** A cylinder with round ends about z; `half` of its cylindrical part. */
  capsule(radius: number, half: number, segments = 20): this {
    const profile: Profile = [];
    for (let k = 0; k <= 6; k++) profile.push([radius * Math.sin((Math.PI * k) / 12), -half - radius * Math.cos((Math.PI * k) / 12)]);
    for (let k = 0; k <= 6; k++) profile.push([radius * Math.cos((Math.PI * k) / 12), half + radius * Math.sin((Math.PI * k) / 12)]);
    return this.lathe(profile, true, segments);
  }

  /** A plate across z with an outline that is star-shaped about its middle; its edges are chamfered. */
  plate(full: Corner[], z0: number, z1: number, chamfer = 0): this {
    const outline = this.fewer(full, full).map((k) => full[k]!);
    const bevel = this.detail < COARSE ? 0 : chamfer;
    const m = outline.length;
    let [cx, cy] = [0, 0];
    for (const { x, y } of outline) [cx, cy] = [cx + x / m, cy + y / m];
    const rims: [number, number, number, number][] = bevel > 0
      ? [[z0, bevel, 0.7, -0.7], [z0 + bevel, 0, 0.7, -0.7], [z0 + bevel, 0, 1, 0], [z1 - bevel, 0, 1, 0], [z1 - bevel, 0, 0.7, 0.7], [z1, bevel, 0.7, 0.7]]
      : [[z0, 0, 1, 0], [z1, 0, 1, 0]];
    const base = this.positions.length / 3;
    for (const [z, inset, across, up] of rims) this.rim(outline, z, inset, across, up);
    for (let k = 0; k + 1 < rims.length; k += 2) this.strip(base + k * (m + 1), base + (k + 1) * (m + 1), m);
    for (const [z, direction] of [[z0, -1], [z1, 1]] as const) {
      const centre = this.vertex(a.set(cx, cy, z), n.set(0, 0, direction));
      const rim = this.rim(outline, z, bevel, 0, direction);
      for (let k = 0; k < m; k++) {
        if (direction > 0) this.index.push(centre, rim + k, rim + k + 1);
        else this.index.push(centre, rim + k + 1, rim + k);
      }
    }
    return this.closePart();
  }

  /** A plate with a hole: two outlines with as many vertices. */
  ring(outline: Corner[], hole: Corner[], z0: number, z1: number): this {
    const kept = this.fewer(hole, outline);
    const [outer, inner] = [kept.map((k) => outline[k]!), kept.map((k) => hole[k]!)];
    const m = outer.length;
    const side = this.rim(outer, z0, 0, 1, 0);
    this.rim(outer, z1, 0, 1, 0);
    this.strip(side, side + m + 1, m);
    const wall = this.rim(inner, z1, 0, -1, 0);
    this.rim(inner, z0, 0, -1, 0);
    this.strip(wall, wall + m + 1, m);
    const top = this.rim(outer, z1, 0, 0, 1);
    this.rim(inner, z1, 0, 0, 1);
    this.strip(top, top + m + 1, m);
    const bottom = this.rim(inner, z0, 0, 0, -1);
    this.rim(outer, z0, 0, 0, -1);
    this.strip(bottom, bottom + m + 1, m);
    return this.closePart();
  }

  /** A block with chamfered edges, its middle in the frame's origin. */
  block(x: number, y: number, z: number, bevel = 0.08 * Math.min(x, y, z)): this {
    return this.plate(rectangle(x, y, bevel), -z / 2, z / 2, bevel);
  }

  /** A wire along points of the frame. */
  tube(points: Vector3[], radius: number, segments = 8): this {
    const { positions, normals, index } = tube(points, radius, this.detail < COARSE ? Math.min(segments, 5) : segments);
    return this.triangles(positions, normals, index);
  }

  build(): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(this.positions), 3));
    geometry.setAttribute("normal", new BufferAttribute(new Float32Array(this.normals), 3));
    geometry.setAttribute("color", new BufferAttribute(new Float32Array(this.colours), 3));
    geometry.setAttribute("metal", new BufferAttribute(new Float32Array(this.metals), 1));
    const many = this.positions.length / 3 > 65535;
    geometry.setIndex(new BufferAttribute(many ? new Uint32Array(this.index) : new Uint16Array(this.index), 1));
    geometry.computeBoundingSphere();
    geometry.computeBoundingBox();
    return geometry;
  }

  /** The corners of an outline that are worth drawing: all ends of straight edges, of arcs some. */
  private fewer(outline: Corner[], other: Corner[]): number[] {
    const kept: number[] = [];
    const m = outline.length;
    if (this.detail >= 1 || other.length !== m) return outline.map((_, k) => k);
    const least = Math.cos((2 * Math.PI) / Math.max(26 * this.detail, 8) - 1e-6);
    const cosine = (p: Corner, q: Corner): number => p.nx * q.nx + p.ny * q.ny;
    for (let k = 0; k < m; k++) {
      const [before, here, after] = [outline[(k + m - 1) % m]!, outline[k]!, outline[(k + 1) % m]!];
      const end = cosine(before, here) > 1 - 1e-9 || cosine(here, after) > 1 - 1e-9;
      if (end || kept.length === 0 || cosine(outline[kept.at(-1)!]!, here) <= least) kept.push(k);
    }
    return kept;
  }

  private rim(outline: Corner[], z: number, inset: number, across: number, up: number): number {
    const base = this.positions.length / 3;
    for (let k = 0; k <= outline.length; k++) {
      const { x, y, nx, ny } = outline[k % outline.length]!;
      this.vertex(a.set(x - inset * nx, y - inset * ny, z), n.set(across * nx, across * ny, up));
    }
    return base;
  }

  /** Quadrilaterals between two rows of vertices. */
  private strip(low: number, high: number, segments: number): void {
    for (let s = 0; s < segments; s++) {
      this.index.push(low + s, low + s + 1, high + s + 1, low + s, high + s + 1, high + s);
    }
  }

  private vertex(position: Vector3, normal: Vector3): number {
    const p = b.copy(position).applyMatrix4(this.frame);
    this.positions.push(p.x, p.y, p.z);
    const d = b.copy(normal).transformDirection(this.frame);
    this.normals.push(d.x, d.y, d.z);
    const { colour, metal } = this.finish;
    this.colours.push(colour.r, colour.g, colour.b);
    this.metals.push(metal);
    return this.positions.length / 3 - 1;
  }

  private closePart(): this {
    const part = this.parts[this.parts.length - 1];
    if (part) part.count = this.index.length - part.start;
    return this;
  }
}

/** A frame at a point with a given z; x is nearest to `x`, by default any. */
export function frameOf(origin: Vector3, z: Vector3, x?: Vector3): Matrix4 {
  const up = z.clone().normalize();
  let side = (x ?? anyAcross(up)).clone();
  side.addScaledVector(up, -side.dot(up));
  if (side.lengthSq() < 1e-12) side = anyAcross(up);
  side.normalize();
  const y = new Vector3().crossVectors(up, side);
  return new Matrix4().makeBasis(side, y, up).setPosition(origin);
}

/** A unit vector across another one. */
export function anyAcross(z: Vector3): Vector3 {
  const axis = Math.abs(z.x) < 0.7 ? new Vector3(1, 0, 0) : new Vector3(0, 1, 0);
  return axis.addScaledVector(z, -axis.dot(z) / z.lengthSq()).normalize();
}

/** The outline at a distance around the convex hull of points in the plane. */
export function around(points: { x: number; y: number }[], radius: number, segments = 24): Corner[] {
  const hull = convexHull(points);
  const corner = (p: { x: number; y: number }, angle: number): Corner => {
    const [nx, ny] = [Math.cos(angle), Math.sin(angle)];
    return { x: p.x + radius * nx, y: p.y + radius * ny, nx, ny };
  };
  if (hull.length === 1) {
    return Array.from({ length: segments }, (_, k) => corner(hull[0]!, (2 * Math.PI * k) / segments));
  }
  const outline: Corner[] = [];
  for (let k = 0; k < hull.length; k++) {
    const [before, here, after] = [hull[(k + hull.length - 1) % hull.length]!, hull[k]!, hull[(k + 1) % hull.length]!];
    const start = Math.atan2(here.y - before.y, here.x - before.x) - Math.PI / 2;
    let turn = Math.atan2(after.y - here.y, after.x - here.x) - Math.PI / 2 - start;
    while (turn <= 1e-9) turn += 2 * Math.PI;
    const steps = Math.max(2, Math.ceil((segments * turn) / (2 * Math.PI)));
    for (let s = 0; s <= steps; s++) outline.push(corner(here, start + (turn * s) / steps));
  }
  return outline;
}

export function rectangle(x: number, y: number, radius: number): Corner[] {
  const [u, v] = [x / 2 - radius, y / 2 - radius];
  return around([{ x: -u, y: -v }, { x: u, y: -v }, { x: u, y: v }, { x: -u, y: v }], radius, 8);
}

export function circle(radius: number, segments = 32): Corner[] {
  return around([{ x: 0, y: 0 }], radius, segments);
}

/** The outline of a straight-sided gear: a tooth is around angle `phase`. Negative `height`: teeth point inwards. */
export function gearOutline(radius: number, teeth: number, height: number, phase: number): Corner[] {
  const step = (2 * Math.PI) / teeth;
  const [root, tip] = [radius - 0.55 * height, radius + 0.45 * height];
  const knots: { x: number; y: number }[] = [];
  for (let k = 0; k < teeth; k++) {
    const middle = phase + k * step;
    for (const [share, r] of [[-0.29, root], [-0.13, tip], [0.13, tip], [0.29, root]] as const) {
      knots.push({ x: r * Math.cos(middle + share * step), y: r * Math.sin(middle + share * step) });
    }
  }
  return sharp(knots);
}

/** An outline each of whose corners is sharp. */
export function sharp(knots: { x: number; y: number }[]): Corner[] {
  const outline: Corner[] = [];
  for (let k = 0; k < knots.length; k++) {
    const [p, q] = [knots[k]!, knots[(k + 1) % knots.length]!];
    const length = Math.hypot(q.x - p.x, q.y - p.y) || 1;
    const [nx, ny] = [(q.y - p.y) / length, -(q.x - p.x) / length];
    outline.push({ ...p, nx, ny }, { ...q, nx, ny });
  }
  return outline;
}

/** The convex hull, counter-clockwise, without points on its edges. */
export function convexHull(points: { x: number; y: number }[]): { x: number; y: number }[] {
  const sorted = [...points].sort((p, q) => p.x - q.x || p.y - q.y);
  const size = sorted.length > 0 ? Math.hypot(sorted[sorted.length - 1]!.x - sorted[0]!.x, 1e-30) : 0;
  const distinct = sorted.filter((p, k) => k === 0 || Math.hypot(p.x - sorted[k - 1]!.x, p.y - sorted[k - 1]!.y) > 1e-9 * size);
  if (distinct.length < 3) return distinct;
  const half = (list: { x: number; y: number }[]): { x: number; y: number }[] => {
    const chain: { x: number; y: number }[] = [];
    for (const p of list) {
      while (chain.length > 1) {
        const [o, q] = [chain[chain.length - 2]!, chain[chain.length - 1]!];
        const turn = (q.x - o.x) * (p.y - o.y) - (q.y - o.y) * (p.x - o.x);
        if (turn > 1e-9 * Math.hypot(q.x - o.x, q.y - o.y) * Math.hypot(p.x - o.x, p.y - o.y)) break;
        chain.pop();
      }
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...half(distinct), ...half([...distinct].reverse())];
}

export interface Tube {
  positions: Float32Array<ArrayBuffer>;
  normals: Float32Array<ArrayBuffer>;
  index: Uint32Array<ArrayBuffer>;
}

/** A wire along points; the cross-section is carried along without twist. Its buffers can be filled again by `bend`. */
export function tube(points: Vector3[], radius: number, segments = 8): Tube {
  const [m, k] = [points.length, segments + 1];
  const index = new Uint32Array((m - 1) * segments * 6);
  let i = 0;
  for (let p = 0; p + 1 < m; p++) {
    for (let s = 0; s < segments; s++) {
      const [low, high] = [p * k + s, (p + 1) * k + s];
      index.set([low, low + 1, high + 1, low, high + 1, high], i);
      i += 6;
    }
  }
  const made = { positions: new Float32Array(3 * m * k), normals: new Float32Array(3 * m * k), index };
  bend(made, points, radius, segments);
  return made;
}

export function bend(wire: Tube, points: Vector3[], radius: number, segments = 8): void {
  const tangent = new Vector3();
  const side = new Vector3();
  const other = new Vector3();
  const normal = new Vector3();
  let i = 0;
  for (let p = 0; p < points.length; p++) {
    tangent.subVectors(points[Math.min(p + 1, points.length - 1)]!, points[Math.max(p - 1, 0)]!).normalize();
    if (p === 0) side.copy(anyAcross(tangent.lengthSq() > 0 ? tangent : tangent.set(0, 0, 1)));
    side.addScaledVector(tangent, -side.dot(tangent)).normalize();
    other.crossVectors(tangent, side);
    for (let s = 0; s <= segments; s++) {
      const angle = (2 * Math.PI * s) / segments;
      normal.copy(side).multiplyScalar(Math.cos(angle)).addScaledVector(other, Math.sin(angle));
      const point = points[p]!;
      wire.positions[i] = point.x + radius * normal.x;
      wire.positions[i + 1] = point.y + radius * normal.y;
      wire.positions[i + 2] = point.z + radius * normal.z;
      wire.normals[i] = normal.x;
      wire.normals[i + 1] = normal.y;
      wire.normals[i + 2] = normal.z;
      i += 3;
    }
  }
}

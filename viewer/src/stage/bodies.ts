/** Bodies: their shapes; else bars and plates between their joints; else the box with their inertia. */

import { Color, Matrix4, Vector3, type BufferGeometry } from "three";
import type { Body, Shape } from "../payload";
import { painted } from "./finishes";
import { matrix, rotation, vector } from "./frames";
import { anyAcross, around, circle, convexHull, frameOf, type Solid } from "./geometry";
import { distinct, shift, type Layout, type Link } from "./layout";

/** Meshes by their index in the payload; null: it is not unpacked yet. */
export type Meshes = (BufferGeometry | null)[];

export function drawShapes(solid: Solid, shapes: Shape[], colour: Color, meshes: Meshes): void {
  for (const shape of shapes) {
    solid.at(matrix(shape.frame)).in(painted(shape.colour ? colourOf(shape.colour, colour) : colour));
    switch (shape.type) {
      case "box": solid.block(...shape.size, 0.03 * Math.min(...shape.size)); break;
      case "cylinder": solid.cylinder(shape.radius, -shape.length / 2, shape.length / 2, 36); break;
      case "capsule": solid.capsule(shape.radius, shape.length / 2, 28); break;
      case "sphere": solid.sphere(new Vector3(), shape.radius, 32); break;
      case "mesh": drawMesh(solid, meshes[shape.mesh]); break;
    }
  }
}

/** A colour as the page's data gives it; one that cannot be read is that of the body. */
function colourOf(text: string, otherwise: Color): Color {
  return /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text) ? new Color(text) : otherwise;
}

function drawMesh(solid: Solid, mesh: BufferGeometry | null | undefined): void {
  if (!mesh) return;
  const index = mesh.getIndex();
  const positions = mesh.getAttribute("position").array;
  const order = index ? index.array : Uint32Array.from({ length: positions.length / 3 }, (_, k) => k);
  solid.triangles(positions, mesh.getAttribute("normal").array, order);
}

/** A body without shapes; `geared`: it has the wheel of a gear. */
export function drawBody(solid: Solid, link: Link, layout: Layout, geared: boolean): void {
  const body = link.body!;
  solid.in(painted(link.colour));
  if (link.points.length === 0) drawInertia(solid, body, layout);
  else if (link.normal) drawFlat(solid, link, body, layout, geared);
  else drawSpatial(solid, link, body, layout);
}

/** The radius that suits the joints of a body. */
export function radiusFor(link: Link, layout: Layout): number {
  const radii = link.attachments.flatMap(({ joint }) => (joint ? [layout.radiusOf(joint)] : []));
  return radii.length > 0 ? Math.min(...radii) : layout.radius;
}

/** A body that nothing holds: the box that has its inertia. */
function drawInertia(solid: Solid, body: Body, layout: Layout): void {
  const least = 0.02 * layout.size;
  if (!body.box) {
    solid.at(new Matrix4()).sphere(vector(body.com), 1.5 * least);
    return;
  }
  const [x, y, z] = body.box.size.map((edge) => Math.min(Math.max(edge, least), layout.size)) as [number, number, number];
  solid.at(new Matrix4().compose(vector(body.com), rotation(body.box.Q).normalize(), new Vector3(1, 1, 1)));
  solid.block(x, y, z, 0.12 * Math.min(x, y, z));
}

/** A link of a planar mechanism: a flat bar or plate across the common axis. */
function drawFlat(solid: Solid, link: Link, body: Body, layout: Layout, geared: boolean): void {
  const r = radiusFor(link, layout);
  const h = layout.thickness / 2;
  const frame = frameOf(link.points[0]!.clone().add(shift(link, layout)), link.normal!);
  const inPlane = frame.clone().setPosition(link.points[0]!).invert();
  const flat = (point: Vector3): Vector3 => point.clone().applyMatrix4(inPlane).setZ(0);
  const points = distinct(link.points.map(flat), 1e-4 * layout.size);
  const com = flat(vector(body.com));
  solid.at(frame);
  const ends = endsOf(points, com, body, r, layout);
  if (ends.points.length === 1) {
    const disc = discRadius(body, link.normal!, layout);
    solid.at(frame.clone().multiply(new Matrix4().makeTranslation(points[0]!.x, points[0]!.y, 0)));
    if (disc > 1.6 * r && slides(link) === 0 && !geared) wheel(solid, disc, r, h);
    else solid.plate(circle(1.3 * r), -h, h, 0.25 * h);
    return;
  }
  const hull = convexHull(ends.points);
  if (hull.length === 2) solid.plate(around(hull, 0.72 * r), -0.8 * h, 0.8 * h, 0.2 * h);
  else solid.plate(around(hull, 0.9 * r), -0.62 * h, 0.62 * h, 0.2 * h);
  for (const point of points) {
    solid.at(frame.clone().multiply(new Matrix4().makeTranslation(point.x, point.y, 0)));
    solid.plate(circle(1.3 * r, 28), -h, h, 0.2 * h);
  }
  if (ends.bob > 0) {
    solid.at(frame.clone().multiply(new Matrix4().makeTranslation(com.x, com.y, 0)));
    solid.plate(circle(ends.bob, 40), -1.25 * h, 1.25 * h, 0.35 * h);
  }
}

/** A body of a spatial mechanism: round rods, or a plate where its joints are in one plane. */
function drawSpatial(solid: Solid, link: Link, body: Body, layout: Layout): void {
  const r = radiusFor(link, layout);
  const points = distinct(link.points, 1e-4 * layout.size);
  const com = vector(body.com);
  const ends = endsOf(points, com, body, r, layout);
  solid.at(new Matrix4());
  if (ends.points.length === 1) {
    if (slides(link) < link.attachments.length || !slides(link)) solid.sphere(points[0]!, 1.5 * r, 24);
    return;
  }
  if (ends.points.length === 2) {
    bar(solid, ends.points[0]!, ends.points[1]!, thickness(ends.points[0]!.distanceTo(ends.points[1]!), r));
  } else {
    const frame = planeOf(ends.points);
    if (frame) {
      const inverse = frame.clone().invert();
      const outline = around(ends.points.map((point) => point.clone().applyMatrix4(inverse)), 0.85 * r);
      solid.at(frame).plate(outline, -0.42 * r, 0.42 * r, 0.12 * r);
    } else {
      const middle = ends.points.reduce((sum, point) => sum.add(point), new Vector3()).divideScalar(ends.points.length);
      for (const point of ends.points) bar(solid, middle, point, thickness(middle.distanceTo(point), r));
      solid.at(new Matrix4()).sphere(middle, 0.95 * r);
    }
  }
  if (ends.bob > 0) solid.at(new Matrix4()).sphere(com, ends.bob, 28);
}

/** A round rod that is thinner at its ends, where it meets joints. */
function bar(solid: Solid, from: Vector3, to: Vector3, radius: number): void {
  const [length, thin] = [from.distanceTo(to), 0.72 * radius];
  const knee = Math.min(2.2 * radius, 0.3 * length);
  solid.at(frameOf(from, to.clone().sub(from)));
  solid.lathe([[0, -0.7 * thin], [0.7 * thin, -0.5 * thin], [thin, 0], [radius, knee], [radius, length - knee], [thin, length], [0.7 * thin, length + 0.5 * thin], [0, length + 0.7 * thin]], true, 16);
}

/** The radius of a rod: long ones are stouter than their joints ask for. */
function thickness(length: number, r: number): number {
  return Math.min(Math.max(0.055 * length, 0.62 * r), 1.35 * r);
}

interface Ends {
  points: Vector3[];
  bob: number; // radius of a mass at the centre of mass; 0: none
}

/** What a bar or plate reaches: the joints, and the centre of mass where it is aside. */
function endsOf(points: Vector3[], com: Vector3, body: Body, r: number, layout: Layout): Ends {
  const first = points[0]!;
  if (points.length === 1) {
    const arm = com.distanceTo(first);
    if (arm < 1.2 * r) return { points: [first], bob: 0 };
    const direction = com.clone().sub(first).divideScalar(arm);
    const { along, across } = reach(body, direction);
    if (along > 0.5 * arm && across < 0.6 * along) {
      return { points: [first, first.clone().addScaledVector(direction, Math.min(arm + along, 2.1 * arm))], bob: 0 };
    }
    const volume = body.box ? Math.cbrt(body.box.size[0] * body.box.size[1] * body.box.size[2]) : 0;
    return { points: [first, com], bob: Math.min(Math.max(0.6 * volume, 1.5 * r), Math.max(0.3 * arm, 1.5 * r), 0.055 * layout.size) };
  }
  if (points.length === 2) {
    const along = points[1]!.clone().sub(first);
    const share = Math.min(Math.max(com.clone().sub(first).dot(along) / along.lengthSq(), 0), 1);
    const aside = com.distanceTo(first.clone().addScaledVector(along, share));
    if (aside > 2 * r) return { points: [...points, com], bob: 0 };
  }
  return { points, bob: 0 };
}

/** Half the length of the inertia's box along a direction, and at most across it. */
function reach(body: Body, direction: Vector3): { along: number; across: number } {
  if (!body.box) return { along: 0, across: 0 };
  const axes = new Matrix4().makeRotationFromQuaternion(rotation(body.box.Q).normalize());
  let along = 0;
  let across = 0;
  body.box.size.forEach((edge, k) => {
    const cosine = Math.abs(new Vector3().setFromMatrixColumn(axes, k).dot(direction));
    along += (cosine * edge) / 2;
    across = Math.max(across, (Math.sqrt(Math.max(1 - cosine * cosine, 0)) * edge) / 2);
  });
  return { along, across };
}

/** The radius of a disc with the body's inertia: sqrt(1/3) of the edge of the box that has it. */
function discRadius(body: Body, axis: Vector3, layout: Layout): number {
  const radius = reach(body, axis).across * 2 * Math.sqrt(1 / 3);
  return radius < 0.25 * layout.size ? radius : 0;
}

/** A disc with a rim and marks, so that its turning is seen. */
function wheel(solid: Solid, radius: number, r: number, h: number): void {
  solid.lathe([[0, -0.55 * h], [0.82 * radius, -0.55 * h], [0.82 * radius, -h], [radius, -h], [radius, h], [0.82 * radius, h], [0.82 * radius, 0.55 * h], [0, 0.55 * h]], false, 48);
  solid.cylinder(Math.min(1.3 * r, 0.5 * radius), -h, h);
  const from = Math.min(1.3 * r, 0.4 * radius);
  for (let k = 0; k < 3; k++) {
    const angle = (2 * Math.PI * k) / 3;
    const middle = (from + 0.84 * radius) / 2;
    const outline = around([{ x: -(middle - from), y: 0 }, { x: middle - from, y: 0 }], 0.06 * radius, 12)
      .map((c) => turned({ ...c, x: c.x + middle }, angle));
    solid.plate(outline, -0.8 * h, 0.8 * h);
  }
}

function turned<C extends { x: number; y: number; nx: number; ny: number }>(c: C, angle: number): C {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return { ...c, x: cos * c.x - sin * c.y, y: sin * c.x + cos * c.y, nx: cos * c.nx - sin * c.ny, ny: sin * c.nx + cos * c.ny };
}

/** Number of slides whose block is on this body. */
function slides(link: Link): number {
  return link.attachments.filter(({ joint, onParent }) => !onParent && (joint?.type === "prismatic" || joint?.type === "cylindrical" || joint?.type === "screw" || joint?.type === "planar" || joint?.type === "curved_slide")).length;
}

/** The frame of the plane in which points are; null: they are not in one. */
function planeOf(points: Vector3[]): Matrix4 | null {
  const origin = points[0]!;
  let normal = new Vector3();
  let size = 0;
  for (const p of points) {
    size = Math.max(size, p.distanceTo(origin));
    for (const q of points) {
      const cross = p.clone().sub(origin).cross(q.clone().sub(origin));
      if (cross.lengthSq() > normal.lengthSq()) normal = cross;
    }
  }
  if (normal.length() < 1e-6 * size * size) normal = anyAcross(points[1]!.clone().sub(origin)); // all on one line
  normal.normalize();
  for (const p of points) if (Math.abs(p.clone().sub(origin).dot(normal)) > 0.02 * size) return null;
  return frameOf(origin, normal);
}

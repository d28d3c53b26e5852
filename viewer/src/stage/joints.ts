/**
 * Joints by their type. Each has a part that moves with the parent and one that moves with the child, both drawn from
 * their own joint frame, whose z is the joint's axis: where a loop is not closed, the two do not meet.
 */

import { Matrix4, Vector3 } from "three";
import type { Joint, JointType } from "../payload";
import { BASE, DARK, STEEL, darker, painted } from "./finishes";
import { matrix } from "./frames";
import { around, circle, frameOf, rectangle, type Solid } from "./geometry";
import { axisOn, type Layout, type Link } from "./layout";
import { GROUND } from "./names";
import type { Travel } from "./travel";

/** What a joint is drawn with. */
interface Drawing {
  joint: Joint;
  layout: Layout;
  r: number;
  parent: Link;
  child: Link;
  onParent: Solid;
  onChild: Solid;
  parentFrame: Matrix4; // in the layer of the child where the mechanism is planar
  childFrame: Matrix4;
  /** Heights of the two bodies' layers along the axis of the joint, from that of the child. */
  layers: [number, number] | null;
  travel: Travel;
}

type Draw = (drawing: Drawing) => void;

const DRAW: Record<JointType, Draw | null> = {
  fixed: drawFixed,
  revolute: drawRevolute,
  prismatic: drawPrismatic,
  universal: drawUniversal,
  cylindrical: drawCylindrical,
  planar: drawPlanar,
  spherical: drawSpherical,
  free: null,
  screw: drawScrew,
  pin_in_slot: drawPinInSlot,
  curved_slide: drawCurvedSlide,
  curved_slot: drawCurvedSlot,
  path_slide: drawCurvedSlide,
  path_slot: drawCurvedSlot,
};

export function drawJoint(joint: Joint, layout: Layout, travel: Travel, onParent: Solid, onChild: Solid): void {
  const draw = DRAW[joint.type];
  const [parent, child] = [layout.links.get(joint.parent), layout.links.get(joint.child)];
  if (!draw || !parent || !child) return;
  const [parentFrame, childFrame] = [matrix(joint.parentFrame), matrix(joint.childFrame)];
  let layers: [number, number] | null = null;
  // normals of the layer that the joint is drawn in; the ground has none of its own
  const flat = child.normal ? child : parent;
  if (flat.normal) {
    const onFlat = flat === child ? childFrame : parentFrame;
    const local = flat.normal.clone().transformDirection(onFlat.clone().invert());
    const height = local.clone().multiplyScalar(flat.layer * layout.pitch);
    childFrame.multiply(new Matrix4().makeTranslation(height.x, height.y, height.z));
    parentFrame.multiply(new Matrix4().makeTranslation(height.x, height.y, height.z));
    const other = flat === child ? parent : child;
    const difference = other.normal ? other.layer - flat.layer : -1; // the ground is behind
    if (Math.abs(local.z) > 0.99) layers = [0, Math.sign(local.z) * difference * layout.pitch];
  }
  const r = layout.radiusOf(joint);
  onParent.begin("joint", joint.name);
  onChild.begin("joint", joint.name);
  draw({ joint, layout, r, parent, child, onParent, onChild, parentFrame, childFrame, layers, travel });
}

function drawFixed({ joint, r, onChild, onParent, childFrame, parentFrame, layout, travel }: Drawing): void {
  onChild.at(childFrame).in(DARK).sphere(new Vector3(), 0.95 * r, 16);
  if (joint.parent === GROUND) stand(onParent, parentFrame, r, layout, travel.toward);
  if (joint.child === GROUND) stand(onChild, childFrame, r, layout);
}

function drawRevolute(drawing: Drawing): void {
  const { joint, r, layers, layout, onParent, onChild, parentFrame, childFrame, parent, child } = drawing;
  if (layers) {
    const h = layout.thickness / 2;
    const [low, high] = [Math.min(...layers) - h, Math.max(...layers) + h];
    pin(onChild, childFrame, r, low, high);
    if (joint.parent === GROUND) bearing(onParent, parentFrame, r, layers[1] - 0.8 * h, layers[1] + 0.8 * h, layout);
    if (joint.child === GROUND) bearing(onChild, childFrame, r, layers[1] - 0.8 * h, layers[1] + 0.8 * h, layout);
    return;
  }
  onChild.at(childFrame).in(painted(child.colour)).cylinder(1.12 * r, -0.8 * r, 0.8 * r, 24);
  pin(onChild, childFrame, r, -1.55 * r, 1.55 * r);
  onParent.in(parent.name === GROUND ? BASE : darker(parent.colour, 0.85));
  const onGround = joint.parent === GROUND;
  for (const side of [-1, 1]) {
    const [z0, z1] = side < 0 ? [-1.45 * r, -0.9 * r] : [0.9 * r, 1.45 * r];
    if (onGround) bearing(onParent, parentFrame, r, z0, z1, layout);
    else onParent.at(parentFrame).cylinder(1.12 * r, z0, z1, 24);
  }
  if (joint.child === GROUND) stand(onChild, childFrame, r, layout);
}

/** A pin along z with a head at either end. */
function pin(solid: Solid, frame: Matrix4, r: number, low: number, high: number): void {
  const [c, head] = [0.5 * r, 0.72 * r];
  const d = 0.32 * r;
  solid.at(frame).in(STEEL);
  if (solid.coarse) {
    solid.cylinder(0.62 * r, low - d, high + d, 20);
    return;
  }
  solid.lathe([
    [0, low - d], [0.85 * head, low - d], [head, low - 0.7 * d], [head, low], [c, low],
    [c, high], [head, high], [head, high + 0.7 * d], [0.85 * head, high + d], [0, high + d],
  ], false, 20);
}

/** A bearing on the ground: a wall with a foot below, hatched. Where the axis is upright, a stand. */
function bearing(solid: Solid, frame: Matrix4, r: number, z0: number, z1: number, layout: Layout): void {
  const down = downIn(frame, layout);
  if (Math.abs(down.z) > 0.8) {
    const from = down.z < 0 ? z0 : z1;
    column3(solid, frame, from, Math.sign(down.z), r, Math.max(z1 - z0, 0.5 * r));
    return;
  }
  const turned = frame.clone().multiply(frameOf(new Vector3(), new Vector3(0, 0, 1), down.setZ(0).normalize()));
  const drop = 3.1 * r;
  solid.in(BASE).at(turned).plate(around([{ x: 0, y: 0 }, { x: drop - 0.3 * r, y: -1.5 * r }, { x: drop - 0.3 * r, y: 1.5 * r }], 1.15 * r * 0.9), z0, z1, 0.12 * (z1 - z0));
  foot(solid, turned, drop + 0.7 * r, 3.3 * r, z0 - 0.35 * r, z1 + 0.35 * r, r);
}

/** A slab across x at a distance along it, hatched on the far side. */
function foot(solid: Solid, frame: Matrix4, x: number, half: number, z0: number, z1: number, r: number): void {
  const middle = (z0 + z1) / 2;
  solid.in(DARK).at(frame.clone().multiply(new Matrix4().makeTranslation(x, 0, middle))).block(0.4 * r, 2 * half, z1 - z0, 0.06 * r);
  for (let k = -3; k <= 3; k++) {
    const y = (k * half) / 3.6 + 0.2 * r;
    const from = new Vector3(x, y, middle);
    const to = new Vector3(x + 1.0 * r, y - 0.75 * r, middle);
    const bar = frameOf(from.clone().add(to).multiplyScalar(0.5), to.clone().sub(from), new Vector3(0, 0, 1));
    solid.at(frame.clone().multiply(bar)).block(0.8 * (z1 - z0), 0.09 * r, from.distanceTo(to), 0);
  }
}

/** A round stand along z, from a height on, with a foot. */
function column3(solid: Solid, frame: Matrix4, from: number, direction: number, r: number, thick: number): void {
  const flip = direction < 0 ? new Matrix4().makeRotationX(Math.PI) : new Matrix4();
  const local = frame.clone().multiply(new Matrix4().makeTranslation(0, 0, from)).multiply(flip);
  solid.in(BASE).at(local).cylinder(1.1 * r, -thick, 1.6 * r);
  solid.in(DARK).cylinder(2.3 * r, 1.6 * r, 2.0 * r, 32);
  for (let k = 0; k < 12; k++) {
    const angle = (2 * Math.PI * k) / 12;
    const spot = new Vector3(1.75 * r * Math.cos(angle), 1.75 * r * Math.sin(angle), 1.9 * r);
    const tip = spot.clone().add(new Vector3(-0.5 * r * Math.sin(angle), 0.5 * r * Math.cos(angle), 0.75 * r));
    solid.at(local.clone().multiply(frameOf(spot.clone().add(tip).multiplyScalar(0.5), tip.clone().sub(spot)))).block(0.1 * r, 0.1 * r, spot.distanceTo(tip), 0);
  }
}

function downIn(frame: Matrix4, layout: Layout): Vector3 {
  return layout.up.clone().negate().transformDirection(frame.clone().invert());
}

/** A stand on the ground for a joint that is neither a hinge nor a slide; above where the child hangs below. */
function stand(solid: Solid, frame: Matrix4, r: number, layout: Layout, toward?: Vector3): void {
  const down = downIn(frame, layout);
  if (toward && toward.dot(down) > 0.3) down.negate();
  const local = frame.clone().multiply(frameOf(new Vector3(), down));
  column3(solid, local, 0.6 * r, 1, r, 0.3 * r);
}

/** The part of the axis along which a block moves, with room for the block. */
function railOf({ travel, r }: Drawing): [number, number] {
  const [low, high] = [travel.way.min.z, travel.way.max.z];
  return [low - 3.4 * r, high + 3.4 * r];
}

/** Feet of a rail on the ground, at its ends. */
function feet(drawing: Drawing, low: number, high: number): void {
  const { joint, onParent, parentFrame, r, layout } = drawing;
  if (joint.parent !== GROUND) return;
  const down = downIn(parentFrame, layout);
  const aside = Math.abs(down.z) > 0.8 ? sideways(drawing) : down.setZ(0).normalize();
  for (const z of [low + 0.45 * r, high - 0.45 * r]) {
    const local = parentFrame.clone().multiply(new Matrix4().makeTranslation(0, 0, z)).multiply(frameOf(new Vector3(), new Vector3(0, 0, 1), aside));
    onParent.in(BASE).at(local).plate(around([{ x: 0, y: 0 }, { x: 2.4 * r, y: -0.5 * r }, { x: 2.4 * r, y: 0.5 * r }], 0.75 * r, 20), -0.4 * r, 0.4 * r, 0.1 * r);
    foot(onParent, local, 3.2 * r, 2 * r, -0.55 * r, 0.55 * r, r);
  }
}

/** Where an upright rail is held: behind, as seen first. */
function sideways({ child, childFrame, parentFrame, layout }: Drawing): Vector3 {
  if (child.normal) {
    const back = child.normal.clone().negate().transformDirection(childFrame.clone().invert());
    if (Math.abs(back.z) < 0.5) return back.setZ(0).normalize();
  }
  const y = new Vector3(0, 1, 0).transformDirection(parentFrame.clone().invert());
  return Math.abs(y.z) < 0.8 ? y.setZ(0).normalize() : new Vector3(1, 0, 0).addScaledVector(layout.up, 0);
}

/** The frame of a rail whose y is across the plane of a planar mechanism. */
function railFrame(drawing: Drawing, frame: Matrix4): Matrix4 {
  const { child, childFrame, parent, parentFrame } = drawing;
  const flat = child.normal ? child : parent;
  if (!flat.normal) return frame;
  const across = flat.normal.clone().transformDirection((flat === child ? childFrame : parentFrame).clone().invert());
  if (Math.abs(across.z) > 0.5) return frame;
  return frame.clone().multiply(frameOf(new Vector3(), new Vector3(0, 0, 1), across));
}

function drawPrismatic(drawing: Drawing): void {
  const { r, onParent, onChild, parentFrame, childFrame, child, parent, joint } = drawing;
  const [low, high] = railOf(drawing);
  const rail = railFrame(drawing, parentFrame).multiply(new Matrix4().makeTranslation(0, 0, (low + high) / 2));
  onParent.in(joint.parent === GROUND ? STEEL : { ...darker(parent.colour, 0.85), metal: 0.5 }).at(rail).block(0.85 * r, 0.85 * r, high - low, 0.1 * r);
  for (const end of [-1, 1]) {
    onParent.in(DARK).at(rail.clone().multiply(new Matrix4().makeTranslation(0, 0, (end * (high - low)) / 2))).block(1.25 * r, 1.25 * r, 0.35 * r, 0.08 * r);
  }
  feet(drawing, low, high);
  onChild.in(painted(child.colour)).at(railFrame(drawing, childFrame)).block(2.3 * r, 2.3 * r, 4.0 * r, 0.22 * r);
  onChild.in(darker(child.colour, 0.55));
  for (const end of [-1, 1]) onChild.at(railFrame(drawing, childFrame).multiply(new Matrix4().makeTranslation(0, 0, end * 2.0 * r))).block(1.4 * r, 1.4 * r, 0.3 * r, 0.08 * r);
}

function drawCylindrical(drawing: Drawing): void {
  const { r, onChild, childFrame, child } = drawing;
  const [low, high] = railOf(drawing);
  shaft(drawing, low, high);
  onChild.in(painted(child.colour)).at(childFrame).sleeve(0.58 * r, 1.35 * r, -1.9 * r, 1.9 * r, 28);
  onChild.in(darker(child.colour, 0.6));
  for (const z of [-1.9, 1.6]) onChild.at(childFrame).sleeve(0.58 * r, 1.5 * r, z * r, (z + 0.3) * r, 28);
  // a key, so that its turning is seen
  onChild.at(childFrame.clone().multiply(new Matrix4().makeTranslation(1.35 * r, 0, 0))).block(0.35 * r, 0.4 * r, 2.6 * r, 0.06 * r);
}

/** A round rail. */
function shaft(drawing: Drawing, low: number, high: number): void {
  const { onParent, parentFrame, r, parent, joint } = drawing;
  onParent.in(joint.parent === GROUND ? STEEL : { ...darker(parent.colour, 0.85), metal: 0.5 }).at(parentFrame).cylinder(0.55 * r, low, high, 20);
  onParent.in(DARK).at(parentFrame);
  onParent.cylinder(0.8 * r, low - 0.2 * r, low + 0.15 * r, 20).cylinder(0.8 * r, high - 0.15 * r, high + 0.2 * r, 20);
  feet(drawing, low, high);
}

function drawScrew(drawing: Drawing): void {
  const { r, joint, onParent, onChild, parentFrame, childFrame, child } = drawing;
  const [low, high] = railOf(drawing);
  shaft(drawing, low, high);
  const lead = Math.min(Math.max(2 * Math.PI * Math.abs(joint.pitch), 0.55 * r), 6 * r);
  const turns = (high - low - 1.2 * r) / lead;
  const steps = Math.min(Math.ceil(turns * 16), 2400);
  const sense = joint.pitch < 0 ? -1 : 1;
  const thread = Array.from({ length: steps + 1 }, (_, k) => {
    const angle = (sense * 2 * Math.PI * turns * k) / steps;
    return new Vector3(0.56 * r * Math.cos(angle), 0.56 * r * Math.sin(angle), low + 0.6 * r + ((high - low - 1.2 * r) * k) / steps);
  });
  onParent.in(STEEL).at(parentFrame).tube(thread, 0.13 * r, 5);
  const hexagon = Array.from({ length: 6 }, (_, k) => ({ x: 1.35 * r * Math.cos((Math.PI * k) / 3), y: 1.35 * r * Math.sin((Math.PI * k) / 3) }));
  onChild.in(painted(child.colour)).at(childFrame).plate(around(hexagon, 0.12 * r, 12), -1.3 * r, 1.3 * r, 0.14 * r);
}

function drawUniversal(drawing: Drawing): void {
  const { r, onParent, onChild, parentFrame, childFrame, parent, child, travel, joint, layout } = drawing;
  const alongX = new Matrix4().makeRotationY(Math.PI / 2);
  onParent.in(STEEL).at(parentFrame).cylinder(0.42 * r, -1.75 * r, 1.75 * r, 16);
  onChild.in(STEEL).at(childFrame.clone().multiply(alongX)).cylinder(0.42 * r, -1.75 * r, 1.75 * r, 16);
  onChild.at(childFrame).sphere(new Vector3(), 0.7 * r, 16);
  const away = parentAway(drawing, travel.toward);
  const up = downIn(parentFrame, layout).negate();
  if (joint.parent === GROUND) away.copy(travel.toward.dot(up) < -0.3 ? up : up.clone().negate());
  yoke(onParent, parentFrame, new Vector3(0, 0, 1), away, r, parent.name === GROUND ? BASE : darker(parent.colour, 0.85));
  yoke(onChild, childFrame, new Vector3(1, 0, 0), childAway(child, childFrame), r, painted(child.colour));
  if (joint.parent === GROUND) {
    const local = parentFrame.clone().multiply(frameOf(new Vector3(), away.setZ(0)));
    column3(onParent, local, 1.7 * r, 1, 0.8 * r, 0.3 * r);
  }
}

/** Half a ring from one end of an axis to the other, on the side of a direction. */
function yoke(solid: Solid, frame: Matrix4, axis: Vector3, toward: Vector3, r: number, finish: Parameters<Solid["in"]>[0]): void {
  const local = frame.clone().multiply(frameOf(new Vector3(), axis, toward));
  const arc = Array.from({ length: 17 }, (_, k) => {
    const angle = (Math.PI * k) / 16;
    return new Vector3(1.55 * r * Math.sin(angle), 0, 1.55 * r * Math.cos(angle));
  });
  solid.in(finish).at(local).tube(arc, 0.36 * r, 10);
  solid.cylinder(0.7 * r, 1.3 * r, 1.85 * r, 16).cylinder(0.7 * r, -1.85 * r, -1.3 * r, 16);
}

/** From the joint to the rest of the parent, in its joint frame. */
function parentAway({ parent, parentFrame }: Drawing, toward: Vector3): Vector3 {
  const direction = middle(parent).applyMatrix4(parentFrame.clone().invert());
  return direction.lengthSq() > 0 ? direction : toward.clone().negate();
}

function childAway(child: Link, childFrame: Matrix4): Vector3 {
  return middle(child).applyMatrix4(childFrame.clone().invert());
}

function middle(link: Link): Vector3 {
  const sum = new Vector3();
  for (const point of link.points) sum.add(point);
  if (link.body) sum.add(new Vector3(...link.body.com));
  return sum.divideScalar(Math.max(link.points.length + (link.body ? 1 : 0), 1));
}

function drawSpherical(drawing: Drawing): void {
  const { r, onParent, onChild, parentFrame, childFrame, parent, travel, joint } = drawing;
  onChild.in(STEEL).at(childFrame).sphere(new Vector3(), 1.12 * r, 24);
  const open = travel.toward.lengthSq() > 0.25 ? travel.toward : parentAway(drawing, new Vector3(0, 0, 1)).negate();
  const cup: [number, number][] = [];
  for (let k = 0; k <= 9; k++) {
    const angle = (Math.PI * (0.02 + (0.56 * k) / 9));
    cup.push([1.5 * r * Math.sin(angle), -1.5 * r * Math.cos(angle)]);
  }
  for (let k = 9; k >= 0; k--) {
    const angle = (Math.PI * (0.02 + (0.56 * k) / 9));
    cup.push([1.17 * r * Math.sin(angle), -1.17 * r * Math.cos(angle)]);
  }
  const local = parentFrame.clone().multiply(frameOf(new Vector3(), open));
  onParent.in(joint.parent === GROUND ? BASE : darker(parent.colour, 0.85)).at(local).lathe(cup, false, 28);
  if (joint.parent === GROUND) {
    const down = downIn(parentFrame, drawing.layout);
    const away = down.dot(open) > 0.3 ? down.negate() : down;
    column3(onParent, parentFrame.clone().multiply(frameOf(new Vector3(), away)), 1.5 * r, 1, 0.9 * r, 0.3 * r);
  }
}

function drawPlanar(drawing: Drawing): void {
  const { r, onParent, onChild, parentFrame, childFrame, child, parent, travel, joint } = drawing;
  const { min, max } = travel.way;
  const half = 0.45 * r;
  const plate = parentFrame.clone().multiply(new Matrix4().makeTranslation((min.x + max.x) / 2, (min.y + max.y) / 2, -1.35 * half - 0.25 * r));
  const [x, y] = [max.x - min.x + 7 * r, max.y - min.y + 7 * r];
  onParent.in(joint.parent === GROUND ? BASE : darker(parent.colour, 0.85)).at(plate).ring(rectangle(x, y, 1.2 * r), rectangle(x - 3.2 * r, y - 3.2 * r, 0.6 * r), -0.25 * r, 0.25 * r); // open, since it covers others
  if (joint.parent === GROUND) {
    onParent.in(DARK);
    for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]] as const) {
      onParent.at(plate.clone().multiply(new Matrix4().makeTranslation(u * (x / 2 - 1.3 * r), v * (y / 2 - 1.3 * r), 0))).cylinder(0.6 * r, -1.0 * r, -0.25 * r, 16);
    }
  }
  onChild.in(painted(child.colour)).at(childFrame).plate(circle(2.0 * r, 36), -1.35 * half, 1.35 * half, 0.2 * half);
  onChild.in(STEEL).cylinder(0.5 * r, 1.35 * half, 1.35 * half + 0.35 * r, 18);
  onChild.in(DARK).at(childFrame.clone().multiply(new Matrix4().makeTranslation(1.35 * r, 0, 1.35 * half))).cylinder(0.22 * r, -0.1 * r, 0.08 * r, 12);
}

function drawPinInSlot(drawing: Drawing): void {
  const { r, onParent, onChild, parentFrame, childFrame, parent, travel, layers, layout, joint, child } = drawing;
  const ends = [{ x: travel.way.min.x - 0.3 * r, y: 0 }, { x: travel.way.max.x + 0.3 * r, y: 0 }];
  const [outer, inner] = [around(ends, 1.55 * r, 40), around(ends, 0.62 * r, 40)];
  const h = layers ? layout.thickness / 2 : 0.45 * r;
  const level = layers ? (child.normal ? layers[1] : layers[0]) : 0;
  onParent.in(joint.parent === GROUND ? BASE : painted(parent.colour)).at(parentFrame).ring(outer, inner, level - h, level + h);
  if (layers) {
    const pinLevel = child.normal ? layers : ([layers[1], layers[0]] as const);
    pin(onChild, childFrame, r, Math.min(...pinLevel) - h, Math.max(...pinLevel) + h);
  } else {
    onChild.in(painted(child.colour)).at(childFrame).cylinder(1.1 * r, 0.6 * r, 1.3 * r).cylinder(1.1 * r, -1.3 * r, -0.6 * r);
    pin(onChild, childFrame, r, -1.3 * r, 1.3 * r);
  }
  if (joint.parent !== GROUND) return;
  const down = downIn(parentFrame, layout);
  const aside = Math.abs(down.y) > 0.3 ? new Vector3(0, Math.sign(down.y), 0) : new Vector3(0, -1, 0);
  for (const { x } of ends) {
    const local = parentFrame.clone().multiply(new Matrix4().makeTranslation(x, 0, level)).multiply(frameOf(new Vector3(), new Vector3(0, 0, 1), aside));
    onParent.in(BASE).at(local.clone().multiply(new Matrix4().makeTranslation(2.2 * r, 0, 0))).block(1.9 * r, 1.0 * r, 1.4 * h, 0.1 * r);
    foot(onParent, local, 3.3 * r, 1.8 * r, -h - 0.2 * r, h + 0.2 * r, r);
  }
}

/** The wire along which a child slides. */
function drawGuide({ r, onParent, parentFrame, joint }: Drawing): void {
  const points = joint.guide.map(([x, y, z]) => new Vector3(x, y, z));
  onParent.in(joint.parent === GROUND ? BASE : STEEL).at(parentFrame).tube(points, 0.4 * r, 10);
}

function drawCurvedSlide(drawing: Drawing): void {
  const { r, onChild, childFrame, child } = drawing;
  drawGuide(drawing);
  onChild.in(painted(child.colour)).at(childFrame).block(3.2 * r, 2.0 * r, 2.0 * r, 0.2 * r);
}

function drawCurvedSlot(drawing: Drawing): void {
  const { r, onChild, childFrame, child } = drawing;
  drawGuide(drawing);
  onChild.in(painted(child.colour)).at(childFrame).cylinder(1.1 * r, 0.6 * r, 1.3 * r).cylinder(1.1 * r, -1.3 * r, -0.6 * r);
  pin(onChild, childFrame, r, -1.3 * r, 1.3 * r);
}

/** Whether two joints turn about parallel axes of a body. */
export function parallelOn(first: Joint, second: Joint, body: string): number {
  const cosine = axisOn(first, first.parent === body).dot(axisOn(second, second.parent === body));
  return Math.abs(cosine) > 1 - 1e-6 ? Math.sign(cosine) : 0;
}

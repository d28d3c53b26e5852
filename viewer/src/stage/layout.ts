/**
 * Proportions of a drawn mechanism: how thick bodies and joints are, and in which layer each body of a planar mechanism
 * is. Only the drawn solids are shifted, along the common axis; pins stay on the joints' true axes and pass through.
 */

import { Color, Vector3 } from "three";
import type { Body, Joint, Scene } from "../payload";
import { rotation, vector } from "./frames";
import { GROUND } from "./names";

/** Those of the two-dimensional pictures. */
export const COLOURS = ["#2f6da8", "#c8553d", "#3f8f5b", "#8a5aa8", "#b98a1d", "#2b8f96", "#a84a78", "#6b7280"] as const;

const LARGEST = 0.024; // of the size: radius of a hinge
const SMALLEST = 0.0025;
const SHARE = 0.13; // of the shorter body at a hinge: its radius
const PARALLEL = 1 - 1e-6;

/** A point at which a joint, spring or distance holds a body, in body axes. */
export interface Attachment {
  point: Vector3;
  joint: Joint | null;
  onParent: boolean;
}

/** How a body is drawn. */
export interface Link {
  name: string;
  body: Body | null; // null: the ground
  colour: Color;
  attachments: Attachment[];
  points: Vector3[]; // distinct points of the attachments
  extent: number; // m
  normal: Vector3 | null; // body axes; across it lie the plates of a planar mechanism
  layer: number;
}

export interface Layout {
  scene: Scene;
  size: number;
  /** Radius of a usual hinge, m. */
  radius: number;
  /** Of plates, and distance between layers, m. */
  thickness: number;
  pitch: number;
  up: Vector3;
  links: Map<string, Link>;
  /** Of solids: 1, less where there are many. */
  detail: number;
  /** Radius of the pin's bearing. */
  radiusOf(joint: Joint): number;
}

export function layoutOf(scene: Scene): Layout {
  const size = scene.size > 0 && Number.isFinite(scene.size) ? scene.size : 1;
  const links = new Map<string, Link>();
  links.set(GROUND, linkOf(GROUND, null, scene, -1, size));
  scene.bodies.forEach((body, k) => links.set(body.name, linkOf(body.name, body, scene, k, size)));
  const radii = radiiOf(scene, links, size);
  const usual = share([...radii.values()], 0.5) ?? LARGEST * size;
  const layout: Layout = {
    scene, size, links, radius: usual, thickness: 1.1 * usual, pitch: 1.32 * usual, up: upOf(scene),
    detail: Math.min(Math.max(Math.sqrt(9 / Math.max(scene.bodies.length, 1)), 0.3), 1),
    radiusOf: (joint) => radii.get(joint) ?? usual,
  };
  const toward = firstView(layout);
  for (const group of groupsOf(scene)) {
    const shaped = group.some((name) => hasShapes(links.get(name))); // shapes stay where they are
    if (!shaped && orient(group, links) && group.every((name) => isFlat(links.get(name)!, 0.5 * usual))) {
      stack(group, scene, links);
      const normal = links.get(GROUND)!.normal; // layers grow towards the viewer
      if (normal && normal.dot(toward) < 0) for (const name of group) links.get(name)!.normal!.negate();
    } else for (const name of group) links.get(name)!.normal = null;
  }
  links.get(GROUND)!.normal = null;
  return layout;
}

/** Against gravity; z without. */
export function upOf(scene: Scene): Vector3 {
  const up = vector(scene.gravity).negate();
  return up.lengthSq() > 0 ? up.normalize() : new Vector3(0, 0, 1);
}

/** A vector along the axis of a joint, in the axes of its parent or child. */
export function axisOn(joint: Joint, onParent: boolean): Vector3 {
  return new Vector3(0, 0, 1).applyQuaternion(rotation((onParent ? joint.parentFrame : joint.childFrame).Q));
}

/** How far a body of a planar mechanism is shifted, in its own axes. */
export function shift(link: Link, layout: Layout): Vector3 {
  return link.normal ? link.normal.clone().multiplyScalar(link.layer * layout.pitch) : new Vector3();
}

function linkOf(name: string, body: Body | null, scene: Scene, k: number, size: number): Link {
  const attachments: Attachment[] = [];
  for (const joint of scene.joints) {
    if (joint.type === "free") continue;
    if (joint.parent === name) attachments.push({ point: vector(joint.parentFrame.r), joint, onParent: true });
    if (joint.child === name) attachments.push({ point: vector(joint.childFrame.r), joint, onParent: false });
  }
  for (const tie of [...scene.springs, ...scene.cables, ...scene.distances]) {
    tie.bodies.forEach((one, i) => {
      if (one === name) attachments.push({ point: vector(tie.points[i]!), joint: null, onParent: false });
    });
  }
  for (const point of body?.anchors ?? []) attachments.push({ point: vector(point), joint: null, onParent: false });
  const points = distinct(attachments.map((one) => one.point), 1e-5 * size);
  const colour = new Color(k < 0 ? "#7d848c" : COLOURS[k % COLOURS.length]);
  return { name, body, colour, attachments, points, extent: extentOf(body, points), normal: null, layer: 0 };
}

/** The length of what is drawn of a body without shapes. */
function extentOf(body: Body | null, points: Vector3[]): number {
  if (!body) return Infinity;
  const all = [...points, vector(body.com)];
  let extent = 0;
  for (const p of all) for (const q of all) extent = Math.max(extent, p.distanceTo(q));
  return extent > 0 ? extent : Math.max(...(body.box?.size ?? [0]));
}

/** Radii of hinges: those of short bodies are smaller, but not so much that they look like those of another mechanism. */
function radiiOf(scene: Scene, links: Map<string, Link>, size: number): Map<Joint, number> {
  const shorter = (joint: Joint): number =>
    Math.min(...[joint.parent, joint.child].map((name) => links.get(name)?.extent ?? 0).filter((extent) => extent > 1e-4 * size), size);
  const joints = scene.joints.filter(({ type }) => type !== "free");
  const wanted = joints.map((joint) => Math.min(Math.max(SHARE * shorter(joint), SMALLEST * size), LARGEST * size));
  const usual = Math.max(share(wanted, 0.7) ?? LARGEST * size, 0.4 * LARGEST * size);
  return new Map(joints.map((joint, k) => {
    const fitting = Math.min(Math.max(wanted[k]!, 0.75 * usual), 1.25 * usual);
    const shaped = hasShapes(links.get(joint.parent)) || hasShapes(links.get(joint.child)); // a mark on it is enough
    return [joint, Math.max(Math.min(fitting, 0.3 * shorter(joint)) * (shaped ? 0.6 : 1), SMALLEST * size)];
  }));
}

function hasShapes(link: Link | undefined): boolean {
  return (link?.body?.shapes.length ?? 0) > 0;
}

/** Bodies that joints connect, the ground apart. */
function groupsOf(scene: Scene): string[][] {
  const groups: string[][] = [];
  const seen = new Set<string>([GROUND]);
  for (const { name } of scene.bodies) {
    if (seen.has(name)) continue;
    const group = [name];
    seen.add(name);
    for (let i = 0; i < group.length; i++) {
      for (const joint of scene.joints) {
        if (joint.type === "free") continue;
        for (const [here, there] of [[joint.parent, joint.child], [joint.child, joint.parent]] as const) {
          if (here === group[i] && !seen.has(there)) {
            seen.add(there);
            group.push(there);
          }
        }
      }
    }
    groups.push(group);
  }
  return groups;
}

/** Give the bodies of a group their common axis; false: there is none. */
function orient(group: string[], links: Map<string, Link>): boolean {
  const joints = new Set(group.flatMap((name) => links.get(name)!.attachments.flatMap(({ joint }) => (joint ? [joint] : []))));
  const first = [...joints].find((joint) => joint.type === "revolute");
  if (!first) return false;
  links.get(GROUND)!.normal = null;
  const start = links.get(first.parent)!;
  start.normal = axisOn(first, true);
  const queue = [start];
  while (queue.length > 0) {
    const link = queue.pop()!;
    for (const { joint, onParent } of link.attachments) {
      if (!joint || !joints.has(joint)) continue;
      const other = links.get(onParent ? joint.child : joint.parent)!;
      const across = carried(joint, link.normal!, onParent);
      if (across === null) {
        if (!sameGroup(other, group)) continue;
        return false;
      }
      if (other.normal) {
        if (other.normal.dot(across) < -PARALLEL) continue; // a loop that turns over: the first path counts
        if (other.normal.dot(across) < PARALLEL) return false;
      } else {
        other.normal = across;
        queue.push(other);
      }
    }
  }
  return group.every((name) => links.get(name)!.normal !== null);
}

function sameGroup(link: Link, group: string[]): boolean {
  return link.name === GROUND || group.includes(link.name);
}

/** A normal of one body in the axes of the other one; null where the joint lets it turn away. */
function carried(joint: Joint, normal: Vector3, fromParent: boolean): Vector3 | null {
  const [near, far] = fromParent ? [joint.parentFrame, joint.childFrame] : [joint.childFrame, joint.parentFrame];
  const inFrame = normal.clone().applyQuaternion(rotation(near.Q).normalize().invert());
  if (joint.keeps === "z") {
    if (Math.abs(inFrame.z) < PARALLEL) return null;
  } else if (joint.keeps !== "all") return null;
  return inFrame.applyQuaternion(rotation(far.Q).normalize());
}

function isFlat(link: Link, tolerance: number): boolean {
  if (!link.normal || !link.body) return false;
  const heights = link.points.map((point) => point.dot(link.normal!));
  return heights.length === 0 || Math.max(...heights) - Math.min(...heights) < tolerance;
}

/** Neighbours in different layers, as few of them as possible. */
function stack(group: string[], scene: Scene, links: Map<string, Link>): void {
  const placed = new Set<string>();
  for (const name of group) {
    const taken = new Set<number>();
    for (const joint of scene.joints) {
      const other = joint.parent === name ? joint.child : joint.child === name ? joint.parent : null;
      if (other !== null && placed.has(other) && joint.type !== "fixed") taken.add(links.get(other)!.layer);
    }
    let layer = 0;
    while (taken.has(layer)) layer++;
    links.get(name)!.layer = layer;
    placed.add(name);
  }
}

export function distinct(points: Vector3[], apart: number): Vector3[] {
  const found: Vector3[] = [];
  for (const point of points) if (found.every((other) => other.distanceTo(point) > apart)) found.push(point);
  return found;
}

/** The value below which a share of all lies; null of none. */
function share(values: number[], part: number): number | null {
  const sorted = [...values].sort((p, q) => p - q);
  return sorted[Math.min(Math.floor(part * sorted.length), sorted.length - 1)] ?? null;
}

/** Direction from which a mechanism is seen first: across its plane, from a little aside and above. */
export function firstView(layout: Layout): Vector3 {
  const { scene, up } = layout;
  const axes = scene.joints.filter((joint) => joint.type === "revolute" && joint.parent === GROUND).map((joint) => axisOn(joint, true));
  const preferred = new Vector3(0.2, -0.5, 0.3);
  if (Math.abs(up.y) > 0.9) preferred.set(0.2, 0.3, 0.5);
  if (Math.abs(up.x) > 0.9) preferred.set(0.3, -0.5, 0.2);
  const across = (v: Vector3): Vector3 => v.clone().addScaledVector(up, -v.dot(up)).normalize();
  const first = axes[0];
  const common = first && axes.every((axis) => Math.abs(axis.dot(first)) > PARALLEL) && Math.abs(first.dot(up)) < 0.5;
  if (common) {
    const toward = across(first.dot(preferred) < 0 ? first.clone().negate() : first);
    const right = new Vector3().crossVectors(up, toward);
    return toward.addScaledVector(right, 0.42).addScaledVector(up, 0.34).normalize();
  }
  const toward = across(preferred);
  const right = new Vector3().crossVectors(up, toward);
  return toward.addScaledVector(right, 0.35).addScaledVector(up, 0.5).normalize();
}

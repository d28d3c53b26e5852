/** Couplings of two hinges about parallel axes of one body, drawn as a pair of gears. */

import { Matrix4, Vector3 } from "three";
import type { Coupling, Joint } from "../payload";
import { darker } from "./finishes";
import { matrix } from "./frames";
import { around, circle, gearOutline, type Solid } from "./geometry";
import { parallelOn } from "./joints";
import type { Layout } from "./layout";

const FEWEST = 17; // teeth of the smaller gear
const MOST = 140;

/** A gear in the frame of its joint on the body that turns. */
interface Gear {
  joint: Joint;
  body: string;
  radius: number;
  teeth: number;
  inner: boolean; // its teeth point inwards
  phase: number;
}

export interface GearPair {
  gears: [Gear, Gear];
}

/** The pair that a coupling is; null: it is drawn as nothing. */
export function gearPair(coupling: Coupling, joints: Joint[]): GearPair | null {
  const [one, two] = coupling.terms.map((term) => joints.find(({ name }) => name === term.joint));
  if (coupling.terms.length !== 2 || !one || !two || one === two) return null;
  if (one.type !== "revolute" || two.type !== "revolute") return null;
  const carrier = [one.parent, one.child].find((body) => body === two.parent || body === two.child);
  if (carrier === undefined) return null;
  const sense = parallelOn(one, two, carrier);
  if (sense === 0) return null;
  const [c1, c2] = coupling.terms.map(({ coefficient }) => coefficient) as [number, number];
  if (c1 === 0 || c2 === 0) return null;
  const turns = (joint: Joint): number => (joint.parent === carrier ? 1 : -1); // of what turns, relative to the carrier
  const ratio = ((-c1 / c2) * turns(two) * sense) / turns(one); // speed of the second by that of the first
  const [first, second] = [placeOn(one, carrier), placeOn(two, carrier)];
  const between = new Vector3().subVectors(second.origin, first.origin);
  const z = new Vector3().setFromMatrixColumn(first.frame, 2);
  between.addScaledVector(z, -between.dot(z));
  const distance = between.length();
  if (!(distance > 1e-9)) return null;
  const outside = ratio < 0;
  const share = Math.abs(ratio);
  if (!outside && Math.abs(share - 1) < 0.05) return null; // it would need wheels of any size: a belt
  const r1 = outside ? (distance * share) / (1 + share) : (distance * share) / Math.abs(1 - share);
  const r2 = r1 / share;
  const smaller = Math.min(r1, r2);
  let teeth = FEWEST;
  while (teeth < 36 && Math.abs((teeth * Math.max(share, 1 / share)) % 1 - 0.5) < 0.499) teeth++;
  const [n1, n2] = [Math.round((teeth * r1) / smaller), Math.round((teeth * r2) / smaller)];
  if (Math.max(n1, n2) > MOST) return null;
  return {
    gears: [
      { joint: one, body: one.parent === carrier ? one.child : one.parent, radius: r1, teeth: n1, inner: !outside && r1 > r2, phase: angleIn(first.frame, between, !outside && r2 > r1) },
      { joint: two, body: two.parent === carrier ? two.child : two.parent, radius: r2, teeth: n2, inner: !outside && r2 > r1, phase: angleIn(second.frame, between.clone().negate(), !outside && r1 > r2) + Math.PI / n2 },
    ],
  };
}

/** A gear on the solid of the body that turns; `level` along the joint's axis. */
export function drawGear(solid: Solid, gear: Gear, layout: Layout, level: number): void {
  const { joint, radius, teeth, inner, phase } = gear;
  const frame = matrix(joint.parent === gear.body ? joint.parentFrame : joint.childFrame);
  const link = layout.links.get(gear.body)!;
  const height = (2.25 * 2 * radius) / teeth;
  const h = 0.45 * layout.thickness;
  const r = Math.min(layout.radiusOf(joint), 0.4 * radius);
  solid.at(frame.multiply(new Matrix4().makeTranslation(0, 0, level))).in(darker(link.colour, 0.9));
  if (inner) {
    const hole = gearOutline(radius, teeth, -height, phase);
    solid.ring(hole.map(({ x, y }) => rimOf(x, y, radius + 1.4 * height)), hole, -h, h);
    return;
  }
  solid.plate(gearOutline(radius, teeth, height, phase), -h, h);
  const web = radius - 1.6 * height;
  if (web > 1.8 * r) solid.in(darker(link.colour, 0.7)).ring(circle(web, 40), circle(Math.max(1.5 * r, 0.7 * web), 40), -1.04 * h, 1.04 * h);
  // spokes, so that its turning is seen
  solid.in(darker(link.colour, 0.55));
  for (let k = 0; k < 3 && web > 2.2 * r; k++) {
    const spoke = new Matrix4().makeRotationZ(phase + (2 * Math.PI * k) / 3);
    const from = 1.4 * r;
    solid.at(frame.clone().multiply(spoke).multiply(new Matrix4().makeTranslation((from + web) / 2, 0, 0)));
    solid.plate(around([{ x: (from - web) / 2, y: 0 }, { x: (web - from) / 2, y: 0 }], 0.07 * web, 10), -1.08 * h, 1.08 * h);
  }
}

function rimOf(x: number, y: number, radius: number): { x: number; y: number; nx: number; ny: number } {
  const length = Math.hypot(x, y);
  return { x: (x / length) * radius, y: (y / length) * radius, nx: x / length, ny: y / length };
}

function placeOn(joint: Joint, body: string): { frame: Matrix4; origin: Vector3 } {
  const frame = matrix(joint.parent === body ? joint.parentFrame : joint.childFrame);
  return { frame, origin: new Vector3().setFromMatrixPosition(frame) };
}

/** The direction of a vector of the carrier about the axis of a joint frame: there a tooth is at angle 0. */
function angleIn(frame: Matrix4, direction: Vector3, behind: boolean): number {
  const local = direction.clone().transformDirection(frame.clone().invert());
  return Math.atan2(local.y, local.x) + (behind ? Math.PI : 0);
}

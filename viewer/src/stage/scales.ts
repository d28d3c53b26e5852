/** Lengths of arrows: one length for a newton and one for a newton metre in the whole run, from its largest usual ones. */

import type { Motion } from "../motion";
import type { Scene } from "../payload";
import { niceBelow } from "../ui/numbers";
import { someRows } from "./travel";

const FORCE = 0.32; // of the size: the arrow of the largest usual force
const TORQUE = 0.25;
const USUAL = 0.75; // share of the rows that are below: an impact must not hide all others

export interface Scales {
  force: number; // m of arrow for 1 N
  torque: number; // m for 1 N m
}

export function scalesOf(scene: Scene, motion: Motion): Scales {
  const forces = [...scene.joints.map(({ f }) => f), ...scene.wrenches.map(({ F }) => F)];
  const torques = [...scene.joints.map(({ t }) => t), ...scene.wrenches.map(({ T }) => T)];
  const pulls = [...scene.springs, ...scene.cables, ...scene.distances].map(({ force }) => [force]);
  const g = Math.hypot(...scene.gravity);
  const weight = Math.max(0, ...scene.bodies.map(({ mass }) => mass * g));
  return {
    force: scaleFor(FORCE * scene.size, usual(motion, [...forces, ...pulls], weight)),
    torque: scaleFor(TORQUE * scene.size, usual(motion, torques, 0)),
  };
}

/** The largest magnitude of each row, and of these one that few exceed. */
function usual(motion: Motion, vectors: string[][], otherwise: number): number {
  const known = vectors.filter((names) => names.length > 0 && names.every((name) => motion.has(name)));
  const columns = known.map((names) => names.map((name) => motion.column(name)));
  const largest = someRows(motion, 300).map((row) => {
    let most = 0;
    for (const vector of columns) {
      const magnitude = Math.hypot(...vector.map((values) => values[row]!));
      if (magnitude > most) most = magnitude;
    }
    return most;
  });
  largest.sort((p, q) => p - q);
  const found = largest[Math.floor(USUAL * (largest.length - 1))] ?? 0;
  return found > 1e-9 ? found : otherwise;
}

/** 1, 2 or 5 times a power of ten, at most `length` for `magnitude`: it can be written down. */
function scaleFor(length: number, magnitude: number): number {
  return magnitude > 0 && length > 0 ? niceBelow(length / magnitude) : 0;
}

/** How far joints move in a run: rails are as long as the way of their block. */

import { Box3, Matrix4, Vector3 } from "three";
import { poseOf, type Instant, type Motion, type Pose } from "../motion";
import type { Joint, Scene } from "../payload";
import { matrix, rotation, vector } from "./frames";
import { GROUND } from "./names";

const MOST = 150; // rows that are looked at
const ONE = new Vector3(1, 1, 1);

/** Positions of the child's joint frame in the parent's, and the mean direction of the child's mass there. */
export interface Travel {
  way: Box3;
  toward: Vector3;
}

/** Poses of all bodies of a scene at a time; bodies without a pose are missing. */
export function posesAt(motion: Motion, scene: Scene, instant: Instant): Map<string, Matrix4> {
  const poses = new Map([[GROUND, new Matrix4()]]);
  const pose: Pose = { r: [0, 0, 0], Q: [1, 0, 0, 0] };
  if (motion.rows === 0) return poses;
  for (const body of scene.bodies) {
    if (poseOf(motion, body, instant, pose)) {
      poses.set(body.name, new Matrix4().compose(vector(pose.r), rotation(pose.Q), ONE));
    }
  }
  return poses;
}

/** Rows spread over the run. */
export function someRows(motion: Motion, most = MOST): number[] {
  const count = Math.min(motion.rows, most);
  return Array.from({ length: count }, (_, k) => Math.round((k * (motion.rows - 1)) / Math.max(count - 1, 1)));
}

/** What slides has a way, and what hangs from a ball or cross a direction: these are looked for. */
function hasTravel(joint: Joint): boolean {
  return joint.guide.length === 0 && joint.type !== "revolute" && joint.type !== "free";
}

/** Poses at rows that are spread over the runs: the fewer, the more bodies there are. */
export function posesOver(scene: Scene, motions: Motion[], most: number): Map<string, Matrix4>[] {
  const rows = Math.min(Math.max(Math.round(most / Math.max(scene.bodies.length * motions.length, 1)), 12), MOST);
  return motions.flatMap((motion) => someRows(motion, rows).map((row) => posesAt(motion, scene, { row, fraction: 0 })));
}

export function travelsOf(scene: Scene, poses: Map<string, Matrix4>[]): Map<Joint, Travel> {
  const travels = new Map<Joint, Travel>();
  for (const joint of scene.joints) {
    const travel = { way: new Box3(), toward: new Vector3() };
    travels.set(joint, travel);
    const body = scene.bodies.find(({ name }) => name === joint.child);
    const middle = body ? middleOf(body.com, body.anchors) : null;
    if (hasTravel(joint)) {
      const [frame, place] = [matrix(joint.parentFrame).invert(), vector(joint.childFrame.r)];
      for (const pose of poses) {
        const [parent, child] = [pose.get(joint.parent), pose.get(joint.child)];
        if (!parent || !child) continue;
        const inFrame = frame.clone().multiply(parent.clone().invert()).multiply(child);
        const at = place.clone().applyMatrix4(inFrame);
        travel.way.expandByPoint(at);
        if (middle) travel.toward.add(middle.clone().applyMatrix4(inFrame).sub(at).normalize());
      }
    }
    if (travel.way.isEmpty()) travel.way.expandByPoint(new Vector3());
    if (travel.toward.lengthSq() > 1e-12) travel.toward.normalize();
  }
  return travels;
}

/** Points that stand for all that is seen: corners of boxes around the solids, where they are in the run. */
export function cloudOf(scene: Scene, poses: Map<string, Matrix4>[], boxes: Map<string, Box3>): Vector3[] {
  const cloud: Vector3[] = [];
  for (const [name, box] of boxes) {
    if (box.isEmpty()) continue;
    const corners = Array.from({ length: 8 }, (_, k) => new Vector3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z));
    for (const pose of name === GROUND ? poses.slice(0, 1) : poses) {
      const matrix = pose.get(name);
      if (matrix) cloud.push(...corners.map((corner) => corner.clone().applyMatrix4(matrix)));
    }
  }
  for (const tie of [...scene.springs, ...scene.cables, ...scene.distances]) {
    tie.bodies.forEach((body, i) => body === GROUND && cloud.push(vector(tie.points[i]!)));
  }
  return cloud;
}

function middleOf(com: readonly number[], anchors: readonly (readonly number[])[]): Vector3 {
  const middle = vector(com);
  for (const anchor of anchors) middle.add(vector(anchor));
  return middle.divideScalar(1 + anchors.length);
}

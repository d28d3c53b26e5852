/** Between the payload's numbers and three's. */

import { Matrix4, Quaternion as Rotation, Vector3 } from "three";
import type { Frame, Quaternion, Vector } from "../payload";

export function vector(v: Vector | readonly number[]): Vector3 {
  return new Vector3(v[0], v[1], v[2]);
}

/** [w, x, y, z] as three has it. */
export function rotation(Q: Quaternion): Rotation {
  return new Rotation(Q[1], Q[2], Q[3], Q[0]);
}

export function matrix(frame: Frame): Matrix4 {
  return new Matrix4().compose(vector(frame.r), rotation(frame.Q).normalize(), new Vector3(1, 1, 1));
}

export function array(v: Vector3): Vector {
  return [v.x, v.y, v.z];
}

/**
 * A spring and a damper between a point of a body and the pointer, as a wrench that is held between samples:
 * F = k (target - p) - c v with k = m w^2, c = 2 m w, critically damped for the mass m of the body alone.
 */

import type { Model } from "../core/model";
import { Stage } from "../core/model";
import type { State } from "../core/state";
import type { Vector } from "../payload";

export const SAMPLE = 1 / 60; // s
const FREQUENCY = 1.5; // Hz
const LEAST_SHARE = 0.05; // of the mass of all bodies: a lighter body is pulled as though it had this mass

export class Drag {
  private readonly body: number;
  private readonly mass: number;

  /** `offsets`: of the force and of the point of a wrench on the body; `point` in body axes, `target` in the world. */
  constructor(
    private readonly model: Model,
    body: string,
    private readonly offsets: { point: number; force: number },
    private readonly point: Vector,
    public target: Vector,
    masses: Float64Array,
  ) {
    this.body = model.names("body").indexOf(body);
    const total = masses.reduce((sum, mass) => sum + mass, 0);
    this.mass = Math.max(masses[this.body]!, LEAST_SHARE * total);
  }

  /** The inputs with the force at the states that a block has; it is evaluated. */
  apply(state: State, inputs: Float64Array): Float64Array {
    state.evaluate(Stage.OUTPUTS);
    const held = inputs.slice();
    const { arm, position, velocity } = this.motion(state);
    const w = 2 * Math.PI * FREQUENCY;
    const force = this.target.map(
      (target, i) => this.mass * w * (w * (target - position[i]!) - 2 * velocity[i]!),
    ) as Vector;
    const [forces, torques] = [this.model.field("applied_force"), this.model.field("applied_torque")];
    const at = this.offsets.force - this.model.inputs.first;
    held.set(force, at);
    held.set(cross(arm, force), at + torques.first - forces.first); // about the point of the wrench
    return held;
  }

  /** Of the point that is held, in world axes; `arm` is from the point of the wrench to it. */
  private motion(state: State): { arm: Vector; position: Vector; velocity: Vector } {
    const numbers = (field: string, count: number): number[] =>
      [...state.at(field).subarray(count * this.body, count * (this.body + 1))];
    const orientation = numbers("body_orientation", 4);
    const from = [...state.reals.subarray(this.offsets.point, this.offsets.point + 3)];
    const lever = rotated(orientation, this.point);
    const arm = rotated(orientation, this.point.map((value, i) => value - from[i]!) as Vector);
    const spin = cross(numbers("body_angular_velocity", 3) as Vector, lever);
    return {
      arm,
      position: numbers("body_position", 3).map((value, i) => value + lever[i]!) as Vector,
      velocity: numbers("body_velocity", 3).map((value, i) => value + spin[i]!) as Vector,
    };
  }
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** A vector in world axes from one in body axes, by a unit quaternion. */
function rotated(quaternion: number[], vector: Vector): Vector {
  const [w, ...axis] = quaternion as [number, number, number, number];
  const twice = cross(axis, vector).map((value) => 2 * value) as Vector;
  const again = cross(axis, twice);
  return vector.map((value, i) => value + w * twice[i]! + again[i]!) as Vector;
}

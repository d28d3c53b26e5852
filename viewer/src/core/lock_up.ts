/**
 * Lock-up of a driven mechanism: the pose beyond which it cannot follow its prescribed motions, found by assembly from
 * pose to pose, as in linkwork/simulation/lock_up.py.
 */

import { AssemblyError, LinkworkError } from "./errors";
import { general } from "./numbers";
import type { Simulation } from "./simulation";
import { State } from "./state";

const AHEAD = 1e-3; // part of the run: distance beyond the time that was reached in which a lock-up explains the failure
const FIRST_STEP = 1e-4; // of the run: steps from pose to pose
const LAST_STEP = 1e-14;
const MOST_POSES = 1000; // to be assembled
const ON_MOTION = 1e-3; // rad or m by which a row of the run may miss its assembled pose
const SMALL = 1e-2; // rad or m: change of a coordinate that any step may make
const FAR = 0.5; // and that no step may make

interface Pose {
  t: number;
  q: Float64Array; // coordinates of all joints
  rate: Float64Array;
}

/** The lock-up at which a failed run ended; null if the loops allow the motions, or there are none. */
export function lockUp(run: Simulation): string | null {
  const drives = drivesOf(run);
  const begin = run.rows[0]?.t;
  if (drives.length === 0 || begin === undefined) return null;
  const follower = new Follower(run, run.t_end - begin);
  try {
    const pose = follower.lastFollowed();
    const end = pose && follower.endOfRange(pose, run.t + AHEAD * (run.t_end - begin));
    return end === null ? null : described(drives, end);
  } finally {
    follower.free();
  }
}

/** Names of the couplings that have a motion. */
function drivesOf(run: Simulation): string[] {
  const motion = run.state.at("coupling_motion").slice();
  const width = motion.length / Math.max(run.model.sizes.couplings, 1);
  return run.model.names("coupling").filter((_, k) => motion.subarray(k * width, (k + 1) * width).some((one) => one !== 0));
}

function described(drives: string[], t: number): string {
  const [drive, motion, it] = drives.length === 1 ? ["drive", "its motion", "it"] : ["drives", "motions", "them"];
  return (
    `The mechanism locks up: ${drive} ${drives.map((name) => `'${name}'`).join(", ")} cannot move its joints beyond the ` +
    `pose reached at t = ${general(t, 9)} s, where its loops are at the end of their range. Keep ${motion} within that ` +
    `range, or drive another joint instead of ${it}`
  );
}

/** Follows the prescribed motions of a run from pose to pose. */
class Follower {
  private readonly state: State;

  constructor(
    private readonly run: Simulation,
    private readonly span: number,
  ) {
    this.state = new State(run.model);
    if (run.model.sizes.transitions) this.state.putDiscrete(run.state.discrete);
    for (const field of ["q_priority", "u_priority", "u_start"]) this.state.at(field).fill(0);
  }

  free(): void {
    this.state.free();
  }

  /** The pose of the last row that is on the motions, of those since the last event. */
  lastFollowed(): Pose | null {
    const { rows, events } = this.run;
    const since = events.at(-1)?.t ?? -Infinity;
    for (let row = rows.length - 1, back = 1; row >= 0 && rows[row]!.t >= since; row -= back, back *= 2) {
      const q = this.coordinates(rows[row]!);
      const pose = q && this.assembled(rows[row]!.t, q);
      if (q && isPose(pose) && largestChange(pose.q, q) <= ON_MOTION) return pose;
    }
    return null;
  }

  /** The time of the last pose that can be reached from one on; null if `end` is reached. */
  endOfRange(from: Pose, end: number): number | null {
    let [pose, step, fault] = [from, FIRST_STEP * this.span, false];
    const least = Math.max(LAST_STEP * this.span, 4 * Number.EPSILON * Math.abs(end));
    for (let k = 0; k < MOST_POSES && step >= least; k++) {
      if (pose.t >= end) return null;
      const found = this.assembled(Math.min(pose.t + step, end), pose.q);
      if (isPose(found) && continues(pose, found)) {
        [pose, step] = [found, 2 * step];
        continue;
      }
      step /= 4;
      if (found instanceof AssemblyError) fault = true;
    }
    return fault && step < least ? pose.t : null;
  }

  private coordinates(row: { t: number; y: Float64Array }): Float64Array | null {
    try {
      this.run.enter(row.t, row.y);
      return joined(this.run.state, "q");
    } catch (error) {
      return refused(error) && null;
    }
  }

  /** The pose at a time that is nearest to a guess, or why there is none. */
  private assembled(t: number, guess: Float64Array): Pose | LinkworkError {
    const { state } = this;
    try {
      state.put("q_start", guess);
      state.putMotion(t, this.run.state.at("motion_in").slice());
      state.assemble();
      return { t, q: joined(state, "q"), rate: joined(state, "u") };
    } catch (error) {
      return refused(error);
    }
  }
}

function joined(state: State, field: "q" | "u"): Float64Array {
  return new Float64Array([...state.get(field), ...state.get(`${field}_cut`)]);
}

function refused(error: unknown): LinkworkError {
  if (error instanceof LinkworkError) return error;
  throw error;
}

function isPose(found: Pose | LinkworkError | null): found is Pose {
  return found !== null && !(found instanceof LinkworkError);
}

/** Whether a pose is the next one of the same motion, rather than one of another branch. */
function continues(before: Pose, after: Pose): boolean {
  const linear = (after.t - before.t) * before.rate.reduce((size, rate) => Math.max(size, Math.abs(rate)), 0);
  return largestChange(after.q, before.q) <= Math.min(2 * linear + SMALL, FAR);
}

function largestChange(a: Float64Array, b: Float64Array): number {
  return a.reduce((size, value, i) => Math.max(size, Math.abs(value - b[i]!)), 0);
}

/** Causes of failed runs, as far as the mechanics know them, in the words of Python. */

import { ChatteringError } from "./chattering";
import { LinkworkError, SolverError } from "./errors";
import { TOO_MANY_STEPS } from "./integrator";
import { lockUp } from "./lock_up";
import { Stage } from "./model";
import { general } from "./numbers";
import type { Simulation } from "./simulation";

const NEARLY_SINGULAR = 1e-3; // conditioning of a loop below which a singular pose is the probable cause
const CHATTERING_REMEDY =
  "; lower the restitution, do not let a lock and its release cause each other, or raise the limit";

/** The error with the cause of the failure in its message. */
export function explained(error: LinkworkError, run: Simulation): LinkworkError {
  if (!(error instanceof SolverError)) return error;
  const fault = faultOf(run);
  let message = error.message;
  if (error instanceof ChatteringError && run.events.length > 0) {
    run.enter(run.t, run.y);
    message = `${message}. The last transitions were ${run.state.recentTransitions()}${CHATTERING_REMEDY}`;
  }
  const locked = lockUp(run);
  if (locked !== null) message = `${message}. ${locked}`;
  else if (fault !== null) message = `${message}. There, ${fault}`;
  else if (!message.includes(TOO_MANY_STEPS)) message += nearSingular(run);
  return new SolverError(message, { cause: error });
}

/** The message at the last state that the integrator tried, if there is one. */
function faultOf(run: Simulation): string | null {
  try {
    run.state.evaluate(Stage.DERIVATIVES);
    return null;
  } catch (error) {
    if (error instanceof LinkworkError) return error.message;
    throw error;
  }
}

/** The loop that is nearest to a singular pose at the last row. */
function nearSingular(run: Simulation): string {
  const row = run.rows.at(-1);
  if (!row || run.model.sizes.loops === 0) return "";
  try {
    run.enter(row.t, row.y);
    const conditioning = run.state.get("loop_conditioning");
    const least = Math.min(...conditioning);
    if (!(least <= NEARLY_SINGULAR)) return "";
    const name = run.model.loopName(conditioning.indexOf(least), run.state);
    return (
      `. There, the loop closed by joint '${name}' is the nearest to a singular pose, with conditioning ` +
      general(least, 2)
    );
  } catch (error) {
    if (error instanceof LinkworkError) return "";
    throw error;
  }
}

/** Errors of the core, by the names that they have in Python. */

export class LinkworkError extends Error {
  override readonly name: string = "LinkworkError";
}

export class MechanismError extends LinkworkError {
  override readonly name = "MechanismError";
}

export class AssemblyError extends LinkworkError {
  override readonly name = "AssemblyError";
}

export class SingularityError extends LinkworkError {
  override readonly name = "SingularityError";
}

export class SolverError extends LinkworkError {
  override readonly name = "SolverError";
}

export class MemoryError extends LinkworkError {
  override readonly name = "MemoryError";
}

/** By lw_status, from 1. */
const CLASSES = [
  MemoryError,
  MechanismError,
  MechanismError,
  MechanismError,
  MechanismError,
  AssemblyError,
  SingularityError,
  SolverError,
];

/** The error of a status of the core other than LW_OK. */
export function errorOf(status: number, message: string): LinkworkError {
  const type = CLASSES[status - 1] ?? LinkworkError;
  return new type(type === MemoryError ? "the simulation needs more memory than this page may use" : message);
}

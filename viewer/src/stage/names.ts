/** What can be picked in the scene. */
export type Selectable = "body" | "joint" | "spring" | "point";

export const GROUND = "ground";

/** What can be picked in the scene. */
export type Selectable = "body" | "joint" | "spring" | "distance" | "point";

export const GROUND = "ground";

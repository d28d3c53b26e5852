/** Colours of the parts that do not have that of a body. */

import { Color } from "three";
import type { Finish } from "./geometry";

export const STEEL: Finish = { colour: new Color("#aab2bb"), metal: 0.9 };
export const DARK: Finish = { colour: new Color("#3a4048"), metal: 0.35 };
export const BASE: Finish = { colour: new Color("#868d96"), metal: 0.1 };
export const WIRE: Finish = { colour: new Color("#8e969f"), metal: 0.85 };

export function painted(colour: Color): Finish {
  return { colour, metal: 0.06 };
}

/** The same paint, darker: what is a joint's part of a body. */
export function darker(colour: Color, share = 0.72): Finish {
  return { colour: colour.clone().multiplyScalar(share), metal: 0.2 };
}

/** What the arrows of the scene mean: their colours, and their length in words, as "0.1 m of arrow = 50 N". */

import type { Scene } from "../payload";
import type { Scales } from "../stage/scales";
import { ARROW_COLOURS, type Layers } from "../stage/stage";
import { element } from "./dom";
import { digits, lengthText, niceNear } from "./numbers";

type ArrowLayer = keyof typeof ARROW_COLOURS;

const WORDS: Record<ArrowLayer, string> = { reactions: "reaction", springs: "spring", loads: "load", gravity: "gravity" };

/** Nothing where no arrows are drawn. */
export function arrowLegend(scales: Scales, scene: Scene, layers: Layers): HTMLElement[] {
  const kinds = (Object.keys(WORDS) as ArrowLayer[]).filter((kind) => layers[kind] && has(scene, kind));
  const scale = scaleText(scales, scene);
  if (kinds.length === 0 || !scale) return [];
  const words = kinds.map((kind) => {
    const swatch = element("i", {});
    swatch.style.background = ARROW_COLOURS[kind];
    return element("span", { class: "arrow-kind" }, swatch, WORDS[kind]);
  });
  return [...words, element("span", {}, scale)];
}

function has(scene: Scene, kind: ArrowLayer): boolean {
  const counts: Record<ArrowLayer, number> = {
    reactions: scene.joints.length,
    springs: scene.springs.length + scene.cables.length + scene.distances.length,
    loads: scene.wrenches.length,
    gravity: Math.hypot(...scene.gravity),
  };
  return counts[kind] > 0;
}

function scaleText({ force, torque }: Scales, scene: Scene): string {
  const length = niceNear((scene.size || 1) / 10);
  const parts: string[] = [];
  if (force > 0) parts.push(`${digits(length / force, 3)}\u202fN`);
  if (torque > 0) parts.push(`${digits(length / torque, 3)}\u202fN\u00b7m`);
  return parts.length ? `${lengthText(length)} of arrow = ${parts.join(" or ")}` : "";
}

/** The legend of several runs, with a switch for each. */

import type { Motion } from "../motion";
import { TINTS } from "../stage/stage";
import { element } from "./dom";
import { dashes } from "./palette";

const SVG = "http://www.w3.org/2000/svg";

/** `onChange` gets the runs that are switched on, in their order; the last one cannot be switched off. */
export function runLegend(motions: Motion[], onChange: (shown: Motion[]) => void): HTMLElement | null {
  if (motions.length < 2) return null;
  const boxes = motions.map(() => element("input", { type: "checkbox" }));
  const change = (): void => {
    const shown = motions.filter((_, k) => boxes[k]!.checked);
    boxes.forEach((box) => (box.disabled = shown.length === 1 && box.checked));
    items.forEach((item, k) => item.replaceChild(line(Math.max(0, shown.indexOf(motions[k]!))), item.querySelector("svg")!));
    onChange(shown);
  };
  const items = motions.map((motion, k) => {
    const box = boxes[k]!;
    box.checked = true;
    box.addEventListener("change", change);
    return element("label", {}, box, line(k), element("span", { title: motion.label }, motion.label));
  });
  return element("fieldset", { class: "runs" }, element("legend", { class: "hidden" }, "Runs"), ...items);
}

/** A piece of a curve of the run as the plots draw it, in the colour of its bodies where these are tinted. */
function line(run: number): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "run-line");
  svg.setAttribute("viewBox", "0 0 28 8");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", "M1 4h26");
  path.setAttribute("stroke-dasharray", dashes(run).join(" "));
  if (run > 0) path.setAttribute("stroke", TINTS[(run - 1) % TINTS.length]!);
  svg.append(path);
  return svg;
}

/** The style sheets of the page. */

import plotStyles from "uplot/dist/uPlot.min.css";
import { element } from "./dom";
import controls from "./controls.css";
import frame from "./frame.css";
import panels from "./panels.css";

export function addStyles(): void {
  document.head.append(element("style", {}, plotStyles, frame, controls, panels));
}

/** Pictograms: paths on a grid of 16, drawn as lines of 1.5 in the colour of the text. */

const PATHS = {
  play: "M5 3.2v9.6l7.5-4.8z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  begin: "M4 3.5v9M12.5 3.5v9L6 8z",
  end: "M12 3.5v9M3.5 3.5v9L10 8z",
  back: "M10.5 3.5 6 8l4.5 4.5",
  forward: "M5.5 3.5 10 8l-4.5 4.5",
  loop: "M3 8a4 4 0 0 1 4-4h5.5M10.5 2l2 2-2 2M13 8a4 4 0 0 1-4 4H3.5M5.5 14l-2-2 2-2",
  event: "M8 2.5 12.5 8 8 13.5 3.5 8z",
  layers: "M8 2.5 14 6 8 9.5 2 6zM2.5 9 8 12.5 13.5 9",
  trace: "M2.5 12.5c1-7 4.5-9 5.5-4s4 3 5.5-5M12 3.5h1.5V5",
  camera: "M2.5 5h3l1-1.5h3l1 1.5h3v7.5h-11zM8 6.5a2.3 2.3 0 1 0 0 4.6 2.3 2.3 0 0 0 0-4.6",
  screen: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  help: "M5.8 6.2a2.2 2.2 0 1 1 3.3 1.9c-.7.4-1.1.8-1.1 1.6M8 12v.1",
  sun: "M8 5.3a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  panel: "M2.5 3.5h11v9h-11zM9.5 3.5v9",
  plot: "M2.5 2.5v11h11M4.5 10.5l3-4 2.5 2 3.5-5",
  plus: "M8 3.5v9M3.5 8h9",
  close: "M4 4l8 8M12 4l-8 8",
  note: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 7.5v3.5M8 5v.1",
  warning: "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.8v.1",
  zoomOut: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.3 10.3l3.2 3.2M5 7h4",
  body: "M3.5 10.5a2 2 0 0 1 0-3.5l6.5-4a2 2 0 0 1 2.5 3.5l-6.5 4a2 2 0 0 1-2.5 0z",
  revolute: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 8v.1M2.5 13.5l3.5-3.5M10 6l3.5-3.5",
  prismatic: "M1.5 8h13M4.5 5h7v6h-7z",
  spherical: "M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M2.5 13.5l3-3M5 8.5c2 1 4 1 6 0",
  universal: "M8 2.5v11M2.5 8h11M5.5 5.5h5v5h-5z",
  cylindrical: "M1.5 8h3M11.5 8h3M4.5 5h7v6h-7zM7 5v6",
  planar: "M2 11l3-6h9l-3 6zM8 8v.1",
  fixed: "M4 4h8v8H4zM4 12l8-8",
  free: "M8 2v12M2 8h12M8 2 6.5 3.5M8 2l1.5 1.5M14 8l-1.5-1.5M14 8l-1.5 1.5",
  screw: "M1.5 8h2M12.5 8h2M3.5 5.5l2 5M6 5.5l2 5M8.5 5.5l2 5M11 5.5l1.5 5",
  pin_in_slot: "M4.5 5h7a3 3 0 0 1 0 6h-7a3 3 0 0 1 0-6M8 8v.1",
  curved_slide: "M1.5 12.5a8 8 0 0 1 13 0M5.5 4h5v5h-5z",
  curved_slot: "M2 12.5a2 2 0 0 1-.5-2.5 8 8 0 0 1 13 0 2 2 0 0 1-.5 2.5M8 8v.1",
  path_slide: "M1.5 12c3-8 5 2 7-2s3-5 6-3M5.5 5h5v5h-5z",
  path_slot: "M1.5 12c3-8 5 2 7-2s3-5 6-3M8 8.5v.1",
  spring: "M1.5 8h2l1-3 2 6 2-6 2 6 1-3h3",
  distance: "M3 6.5v3M13 6.5v3M3 8h10",
  coupling: "M5.5 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M11.5 6.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4",
  wrench: "M2.5 13.5l9-9M7 3.5h5.5V9",
  point: "M8 4v8M4 8h8",
} as const;

export type IconName = keyof typeof PATHS;

const SVG = "http://www.w3.org/2000/svg";
const FILLED: ReadonlySet<IconName> = new Set<IconName>(["play", "begin", "end", "event", "body"]);

/** The picture alone: its button has the name. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", FILLED.has(name) ? "icon filled" : "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** The bar at the top: title, views, layers and what concerns the whole page. */

import type { Layers, ViewName } from "../stage/stage";
import { element } from "./dom";
import { icon, type IconName } from "./icons";
import { LAYERS, type LayerStates } from "./layers";
import type { Theme } from "./palette";
import { Popover } from "./popover";
import { iconButton } from "./timeline";
import type { Value } from "./value";

export const VIEWS: { name: ViewName; label: string; words: string }[] = [
  { name: "iso", label: "Iso", words: "View from a corner" },
  { name: "x", label: "X", words: "View along x" },
  { name: "y", label: "Y", words: "View along y" },
  { name: "z", label: "Z", words: "View along z, from above" },
  { name: "fit", label: "Fit", words: "Show the whole motion" },
];

export interface ToolbarActions {
  view(name: ViewName): void;
  trace(): void;
  toggleTheme(): void;
  savePicture(): void;
  toggleFullScreen(): void;
  help(): void;
  toggleSide(): void;
}

export class Toolbar {
  readonly root = element("header", { class: "topbar" });
  /** Behind the title, for notes and choices. */
  readonly afterTitle = element("div", { class: "after-title" });

  constructor(title: string, layers: LayerStates, theme: Value<Theme>, canTrace: Value<boolean>, sideOpen: Value<boolean>, actions: ToolbarActions) {
    const trace = iconButton("trace", "Path of the selected part (P)", actions.trace);
    canTrace.follow((can) => (trace.disabled = !can));
    const themeButton = iconButton("moon", "Dark or light", actions.toggleTheme);
    theme.follow((value) => themeButton.replaceChildren(icon(value === "dark" ? "sun" : "moon")));
    const side = iconButton("panel", "Show or hide the panels (H)", actions.toggleSide);
    sideOpen.follow((open) => side.setAttribute("aria-pressed", String(open)));
    this.root.append(
      element("h1", { title }, title),
      this.afterTitle,
      element("div", { class: "spacer" }),
      viewButtons("segmented views", actions),
      layersButton(layers, actions),
      trace,
      element("span", { class: "separator" }),
      themeButton,
      iconButton("camera", "Save a picture (PNG)", actions.savePicture),
      ...(document.fullscreenEnabled ? [iconButton("screen", "Full screen", actions.toggleFullScreen)] : []),
      iconButton("help", "Keys and gestures (?)", actions.help),
      side,
    );
  }
}

function viewButtons(style: string, actions: ToolbarActions): HTMLElement {
  const buttons = VIEWS.map(({ name, label, words }, k) =>
    element("button", { type: "button", title: `${words} (${k + 1})`, "aria-label": words, on: { click: () => actions.view(name) } }, label),
  );
  return element("div", { class: style, role: "group", "aria-label": "Views" }, ...buttons);
}

function layersButton(layers: LayerStates, actions: ToolbarActions): HTMLElement {
  const button = labelled("layers", "Show");
  button.title = "What is drawn";
  const list = element("div", { class: "layer-list" }, viewButtons("segmented views-inside", actions), ...LAYERS.map(({ name, label, key }) => layerBox(name, label, key, layers)));
  new Popover(button, "What is drawn", list);
  return button;
}

function layerBox(name: keyof Layers, label: string, key: string, layers: LayerStates): HTMLElement {
  const box = element("input", { type: "checkbox" });
  const state = layers.of(name);
  box.addEventListener("change", () => state.set(box.checked));
  state.follow((on) => (box.checked = on));
  return element("label", {}, box, element("span", {}, label), element("kbd", {}, key.toUpperCase()));
}

export function labelled(name: IconName, label: string): HTMLButtonElement {
  return element("button", { type: "button", class: "labelled" }, icon(name), element("span", { class: "label" }, label));
}

/** The dialog of all keys and gestures. */

import { element } from "./dom";
import { icon } from "./icons";
import { keyName, type Command } from "./keys";

const PULLING: [string, string] = ["Drag a body", "pull it by a spring while the simulation runs"];
const GESTURES: [string, string][] = [
  ["Drag", "turn the view"],
  ["Right drag, or two fingers", "move the view"],
  ["Wheel, or pinch", "zoom"],
  ["Click a body, joint, spring or point", "select it: its numbers show in the list"],
  ["Click or drag in a plot", "go to that time"],
  ["Shift and drag in a plot", "zoom into a span; a double click shows all"],
];

export class Help {
  readonly root = element("dialog", { class: "help", "aria-label": "Help" });

  /** `live`: bodies can be pulled. */
  constructor(commands: Command[], version: string, live: boolean) {
    const close = element("button", { type: "button", class: "icon-button", "aria-label": "Close", title: "Close (Esc)" }, icon("close"));
    close.addEventListener("click", () => this.root.close());
    const keys = element("dl", { class: "keys" });
    for (const { keys: names, words } of commands) {
      keys.append(element("dt", {}, ...names.map((name) => element("kbd", {}, keyName(name)))), element("dd", {}, words));
    }
    const gestures = element("dl", { class: "keys gestures" });
    for (const [gesture, words] of live ? [PULLING, ...GESTURES] : GESTURES) gestures.append(element("dt", {}, gesture), element("dd", {}, words));
    this.root.append(
      element("header", {}, element("h2", {}, "Keys and gestures"), close),
      element("div", { class: "help-body" }, keys, gestures),
      element("footer", { class: "muted" }, `Made by Linkwork ${version}. The page needs no network.`),
    );
    this.root.addEventListener("click", (event) => {
      if (event.target === this.root) this.root.close(); // outside of it
    });
  }

  show(): void {
    if (!this.root.open) this.root.showModal();
  }
}

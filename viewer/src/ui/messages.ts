/** What the page has to say: why a run ended, rows that were left out, warnings. */

import type { RecordedRun, Scene } from "../payload";
import { element } from "./dom";
import { icon } from "./icons";
import { grouped } from "./numbers";
import { Popover } from "./popover";
import { labelled } from "./toolbar";

/** "2 000 of 10 000 rows"; null where none were left out. */
export function rowsText(run: Pick<RecordedRun, "rows" | "rowsOfResult">): string | null {
  return run.rows < run.rowsOfResult ? `${grouped(run.rows)} of ${grouped(run.rowsOfResult)} rows` : null;
}

export function notesOf(runs: RecordedRun[], scenes: Scene[]): string[] {
  const several = runs.length > 1;
  const ofRuns = runs.flatMap((run) => {
    const name = several ? `${run.label}: ` : "";
    const rows = rowsText(run);
    return rows ? [`${name}${rows} are in this page. The result has all of them.`] : [];
  });
  return [...ofRuns, ...new Set(scenes.flatMap(({ warnings }) => warnings))];
}

/** A button that opens the notes; null where there are none. */
export function notesButton(notes: string[]): HTMLElement | null {
  if (notes.length === 0) return null;
  const button = labelled("note", notes.length === 1 ? "1 note" : `${notes.length} notes`);
  button.classList.add("quiet");
  new Popover(button, "Notes", element("ul", { class: "note-list" }, ...notes.map((note) => element("li", {}, note))));
  return button;
}

/** A line over the stage that can be closed. */
export function banner(text: string): HTMLElement {
  const close = element("button", { type: "button", class: "icon-button", "aria-label": "Close the message", title: "Close" }, icon("close"));
  const root = element("div", { class: "banner", role: "status" }, icon("warning"), element("span", {}, text), close);
  close.addEventListener("click", () => root.remove());
  return root;
}

/** A problem in place of what cannot be shown, and what to do about it. */
export function problem(title: string, remedy: string, details = ""): HTMLElement {
  return element(
    "div",
    { class: "problem", role: "alert" },
    icon("warning"),
    element("h2", {}, title),
    element("p", {}, remedy),
    details ? element("pre", {}, details) : null,
  );
}

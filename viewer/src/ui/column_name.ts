/** The name of a column; where it is too long, its owner is cut short and not its quantity. */

import { element } from "./dom";

export function columnName(column: string): HTMLElement {
  const cut = column.lastIndexOf(".");
  const [owner, quantity] = cut > 0 ? [column.slice(0, cut), column.slice(cut)] : [column, ""];
  return element("span", { class: "column-name", title: column }, element("span", {}, owner), element("span", {}, quantity));
}

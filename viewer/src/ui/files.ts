/** Files that the page gives the browser to save. */

import { element } from "./dom";

export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A title as the beginning of a file's name. */
export function fileName(title: string): string {
  return title.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 60) || "model";
}

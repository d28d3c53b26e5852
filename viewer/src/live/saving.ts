/** What the panel saves: rows as CSV, changed numbers as JSON. */

import { shortest } from "../core/numbers";
import type { Motion } from "../motion";

/** A header of names, then rows with all digits, as Result.to_csv writes them. */
export function csvOf(motion: Motion): string {
  const names = motion.columns();
  const columns = names.map((name) => motion.column(name));
  const lines = [names.map(quotedIfNeeded).join(",")];
  for (let i = 0; i < motion.rows; i++) lines.push(columns.map((column) => shortest(column[i]!)).join(","));
  return `${lines.join("\n")}\n`;
}

function quotedIfNeeded(name: string): string {
  return /[,"\n\r]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

/** Numbers by name; JSON writes each with as many digits as tell it from all others. */
export function jsonOf(values: Record<string, number>): string {
  return `${JSON.stringify(values, null, 2)}\n`;
}

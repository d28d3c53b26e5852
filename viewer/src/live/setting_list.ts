/** Settings grouped by body, joint or force, with a search where there are many. */

import { element } from "../ui/dom";
import { SettingRow } from "./setting_row";
import type { Entry, Settings } from "./settings";

const MANY = 12;
const OPEN = 8; // groups with at most so many settings are open at first

interface Group {
  root: HTMLElement;
  entries: Entry[];
  rows: SettingRow[]; // made when the group is opened first
}

export class SettingList {
  readonly root = element("div", { class: "live-list" });
  private readonly groups: Group[] = [];
  private readonly rows = new Map<Entry, SettingRow>();
  private readonly nothing = element("p", { class: "hint", role: "status", hidden: true }, "No setting has such a name.");

  constructor(
    title: string,
    entries: readonly Entry[],
    private readonly settings: Settings,
    private readonly size: number,
  ) {
    if (entries.length > MANY) this.root.append(this.search(title));
    for (const [owner, members] of byOwner(entries)) this.addGroup(owner, members, entries.length <= OPEN);
    this.root.append(this.nothing);
    settings.onChange((changed) => {
      for (const entry of changed) this.rows.get(entry)?.show();
      this.mark();
    });
    this.mark();
  }

  private addGroup(owner: string, entries: Entry[], open: boolean): void {
    if (entries.length === 1) return this.addSingle(entries[0]!);
    const summary = element("summary", {}, owner || "Mechanism", element("span", { class: "muted count" }, String(entries.length)));
    const root = element("details", { class: "live-group", open }, summary);
    const group: Group = { root, entries, rows: [] };
    root.addEventListener("toggle", () => root.open && this.fill(group));
    if (open) this.fill(group);
    this.groups.push(group);
    this.root.append(root);
  }

  /** A setting that is alone needs no group. */
  private addSingle(entry: Entry): void {
    const row = new SettingRow(entry, this.settings, this.size, entry.setting.name);
    this.rows.set(entry, row);
    this.groups.push({ root: row.root, entries: [entry], rows: [row] });
    this.root.append(row.root);
  }

  private fill(group: Group): void {
    if (group.rows.length > 0) return;
    group.rows = group.entries.map((entry) => new SettingRow(entry, this.settings, this.size));
    for (const row of group.rows) this.rows.set(row.entry, row);
    group.root.append(...group.rows.map(({ root }) => root));
  }

  private search(title: string): HTMLElement {
    const field = element("input", { type: "search", class: "search", placeholder: "Search", "aria-label": `Search ${title}` });
    field.addEventListener("input", () => this.filter(field.value.trim().toLowerCase()));
    return element("div", { class: "search-row" }, field);
  }

  private filter(text: string): void {
    let found = 0;
    for (const group of this.groups) {
      const matches = (entry: Entry): boolean => entry.setting.name.toLowerCase().includes(text);
      const count = group.entries.filter(matches).length;
      found += count;
      group.root.hidden = count === 0;
      if (count === 0) continue;
      if (!(group.root instanceof HTMLDetailsElement)) continue;
      if (text !== "") group.root.open = true;
      if (group.root.open) this.fill(group);
      for (const row of group.rows) row.root.hidden = !matches(row.entry);
    }
    this.nothing.hidden = found > 0;
  }

  /** Groups with changed settings are marked. */
  private mark(): void {
    for (const { root, entries } of this.groups) {
      root.classList.toggle("live-changed", entries.some((entry) => this.settings.isChanged(entry)));
    }
  }
}

function byOwner(entries: readonly Entry[]): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const group = groups.get(entry.owner);
    if (group) group.push(entry);
    else groups.set(entry.owner, [entry]);
  }
  return groups;
}

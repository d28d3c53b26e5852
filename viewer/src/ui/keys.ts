/** Keys and what they do; the help lists the same table. */

export interface Command {
  /** As in `KeyboardEvent.key`, letters small; "Shift+ArrowLeft" where Shift makes a difference. */
  keys: string[];
  words: string;
  run(): void;
}

const NAMES: Record<string, string> = {
  " ": "Space",
  ArrowLeft: "\u2190",
  ArrowRight: "\u2192",
  "Shift+ArrowLeft": "Shift \u2190",
  "Shift+ArrowRight": "Shift \u2192",
  Escape: "Esc",
};

export function keyName(key: string): string {
  return NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}

/** Run commands by keys, where no field or button needs the key itself, until `signal` aborts. */
export function listenToKeys(commands: Command[], signal: AbortSignal): void {
  const byKey = new Map(commands.flatMap((command) => command.keys.map((key) => [key, command])));
  const listen = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const command = (event.shiftKey && byKey.get(`Shift+${key}`)) || byKey.get(key);
    if (!command || isTaken(event.target, key)) return;
    event.preventDefault();
    command.run();
  };
  document.addEventListener("keydown", listen, { signal });
}

/** Fields take all keys but Escape, buttons the space bar, lists and sliders of the browser the arrows. */
function isTaken(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && ["checkbox", "radio", "button"].includes(target.type)) return key === " ";
  if (target.matches("input, textarea, select, [contenteditable]")) return key !== "Escape";
  if (target.matches("[role=separator], [role=tab]")) return key.startsWith("Arrow");
  return key === " " && target.matches("button, a, summary");
}

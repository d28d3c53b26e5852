/** Search by parts of names or by patterns. */

/**
 * A test of names. Words are apart by spaces or commas, each is enough. A word with "*" or "?" has to match the whole
 * name, others are looked for in it; capitals do not matter.
 */
export function matcher(search: string): (name: string) => boolean {
  const tests = search
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((word) => (/[*?]/.test(word) ? wholeName(word) : partOfName(word)));
  return tests.length ? (name) => tests.some((test) => test(name)) : () => true;
}

function wholeName(pattern: string): (name: string) => boolean {
  const source = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
  const expression = new RegExp(`^${source}$`, "is");
  return (name) => expression.test(name);
}

function partOfName(word: string): (name: string) => boolean {
  const lower = word.toLowerCase();
  return (name) => name.toLowerCase().includes(lower);
}

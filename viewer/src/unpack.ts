/** Packed strings: base64 of gzip of little-endian bytes. */

/** Bytes of a packed string. */
export async function unpackBytes(packed: string): Promise<Uint8Array<ArrayBuffer>> {
  const compressed = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Packed text, as that of a script. */
export async function unpackText(packed: string): Promise<string> {
  return new TextDecoder().decode(await unpackBytes(packed));
}

/** The columns of a recorded run, `rows` numbers each. */
export async function unpackColumns(packed: string, rows: number): Promise<Float32Array<ArrayBuffer>[]> {
  const planes = await unpackBytes(packed);
  const values = undoDifferences(undoPlanes(planes), rows);
  const count = rows > 0 ? values.length / rows : 0;
  if (!Number.isInteger(count)) {
    throw new Error(`a run of ${rows} rows cannot have ${values.length} numbers`);
  }
  return Array.from({ length: count }, (_, k) => values.subarray(k * rows, (k + 1) * rows));
}

export async function unpackFloats(packed: string): Promise<Float32Array<ArrayBuffer>> {
  return new Float32Array((await unpackBytes(packed)).buffer);
}

export async function unpackIndices(packed: string): Promise<Uint32Array<ArrayBuffer>> {
  return new Uint32Array((await unpackBytes(packed)).buffer);
}

/** Words of which the lowest bytes come first, then the next ones: similar bytes side by side compress well. */
function undoPlanes(planes: Uint8Array): Uint32Array<ArrayBuffer> {
  const n = planes.length / 4;
  const words = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    words[i] = planes[i]! | (planes[n + i]! << 8) | (planes[2 * n + i]! << 16) | (planes[3 * n + i]! << 24);
  }
  return words;
}

/** Sum the differences of the bits from row to row, mod 2^32, and read them as numbers. */
function undoDifferences(words: Uint32Array<ArrayBuffer>, rows: number): Float32Array<ArrayBuffer> {
  for (let i = 0; i < words.length; i++) {
    if (i % rows !== 0) words[i] = words[i]! + words[i - 1]!; // a Uint32Array wraps around
  }
  return new Float32Array(words.buffer);
}

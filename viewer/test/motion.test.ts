/** Run: npx esbuild test/motion.test.ts --bundle --platform=node --format=esm --outfile=OUT.mjs && node --test OUT.mjs */

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Recording, instantOf, poseAt, type Pose } from "../src/motion";
import type { RecordedRun, RunEvent, Scene } from "../src/payload";
import { unpackBytes, unpackColumns } from "../src/unpack";

/** As `linkwork/view/packing.py` packs. */
function pack(columns: number[][]): string {
  const rows = columns[0]!.length;
  const bits = new Uint32Array(Float32Array.from(columns.flat()).buffer);
  const differences = bits.map((word, i) => (i % rows === 0 ? word : word - bits[i - 1]!));
  const bytes = new Uint8Array(differences.buffer);
  const n = bits.length;
  const planes = Uint8Array.from({ length: 4 * n }, (_, k) => bytes[4 * (k % n) + Math.floor(k / n)]!);
  return gzipSync(planes).toString("base64");
}

function recording(columns: Record<string, number[]>, events: RunEvent[] = []): Recording {
  const values = Object.values(columns).map((column) => Float32Array.from(column));
  const run: RecordedRun = {
    label: "run", scene: 0, rows: values[0]!.length, rowsOfResult: values[0]!.length, columns: Object.keys(columns), events, message: "", values: "",
  };
  return new Recording(run, { bodies: [] } as unknown as Scene, values);
}

const close = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

test("columns come back as they were packed", async () => {
  const columns = [[0, 0.5, 1, 1.5], [-1e30, 3.25, NaN, Infinity], [1e-40, -0, 7, -7]];
  const found = await unpackColumns(pack(columns), 4);
  columns.forEach((column, k) => assert.deepEqual(found[k], Float32Array.from(column)));
});

test("a string of Python's gzip is read", async () => {
  const packed = "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA=="; // gzip.compress(b"hello", mtime=0)
  assert.equal(new TextDecoder().decode(await unpackBytes(packed)), "hello");
});

test("a run whose numbers do not fill its rows is refused", async () => {
  await assert.rejects(unpackColumns(pack([[1, 2, 3]]), 2), /2 rows/);
});

test("values are linear between rows and end with them", () => {
  const motion = recording({ time: [0, 1, 2], x: [0, 10, 30] });
  close(motion.at("x", 0.25), 2.5);
  close(motion.at("x", 1.5), 20);
  assert.equal(motion.at("x", -1), 0);
  assert.equal(motion.at("x", 9), 30);
  assert.ok(Number.isNaN(motion.at("y", 0)));
});

test("nothing is interpolated across an event", () => {
  const motion = recording({ time: [0, 1, 2], x: [0, 10, 30] }, [{ t: 1.5, text: "impact" }]);
  assert.equal(motion.at("x", 1.4), 10);
  assert.equal(motion.at("x", 1.5), 30);
  close(motion.at("x", 0.5), 5);
});

test("of two rows at the time of an event the second one counts from then on", () => {
  const motion = recording({ time: [0, 1, 1, 2], x: [0, 10, -10, 0] }, [{ t: 1, text: "impact" }]);
  assert.equal(motion.at("x", 1), -10);
  close(motion.at("x", 0.9), 9);
  assert.deepEqual(instantOf(motion, 1), { row: 2, fraction: 0 });
});

test("orientations are interpolated the short way, whatever the signs", () => {
  const half = Math.SQRT1_2;
  const names = ["w", "x", "y", "z"];
  const zero = [0, 0];
  const motion = recording({ time: [0, 1], a: zero, b: zero, c: zero, w: [1, -half], x: zero, y: zero, z: [0, -half] });
  const pose: Pose = { r: [0, 0, 0], Q: [1, 0, 0, 0] };
  assert.ok(poseAt(motion, { r: ["a", "b", "c"], Q: names }, 0.5, pose));
  close(pose.Q[0], Math.cos(Math.PI / 8));
  close(pose.Q[3], Math.sin(Math.PI / 8));
  assert.ok(!poseAt(motion, { r: ["a", "b", "none"], Q: names }, 0.5, pose));
});

test("between rows a circle stays a circle, so that loops stay closed", () => {
  const times = Array.from({ length: 40 }, (_, k) => 0.15 * k); // rad
  const of = (f: (t: number) => number): number[] => times.map(f);
  const zero = of(() => 0);
  const motion = recording({
    time: times, x: of(Math.cos), y: of(Math.sin), z: zero,
    qw: of((t) => Math.cos(t / 2)), qx: zero, qy: zero, qz: of((t) => Math.sin(t / 2)),
  });
  const pose: Pose = { r: [0, 0, 0], Q: [1, 0, 0, 0] };
  for (const t of [0.5, 1.234, 2.9, 4.01]) {
    poseAt(motion, { r: ["x", "y", "z"], Q: ["qw", "qx", "qy", "qz"] }, t, pose);
    assert.ok(Math.hypot(pose.r[0] - Math.cos(t), pose.r[1] - Math.sin(t)) < 5e-7);
    assert.ok(Math.abs(pose.Q[3] - Math.sin(t / 2)) < 5e-7);
  }
});

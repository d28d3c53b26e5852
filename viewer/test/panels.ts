// Checks of what the panels compute, without a browser: node panels.mjs; it fails with the first check that fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Samples } from "../src/motion";
import type { RunEvent, Scene } from "../src/payload";
import { decimate } from "../src/ui/decimate";
import { matcher } from "../src/ui/matching";
import { companion, digits, lengthText, niceBelow, niceStep, steadyFormat, timeDecimals, unitText } from "../src/ui/numbers";
import { ownerOf } from "../src/ui/parts";
import { Player } from "../src/ui/player";

class Table extends Samples {
  readonly label = "table";
  readonly scene = {} as Scene;
  constructor(
    private readonly data: Record<string, number[]>,
    readonly events: RunEvent[] = [],
  ) {
    super();
  }
  get rows(): number {
    return this.data.time!.length;
  }
  columns(): string[] {
    return Object.keys(this.data);
  }
  has(name: string): boolean {
    return name in this.data;
  }
  column(name: string): Float64Array {
    return Float64Array.from(this.data[name]!);
  }
}

test("numbers keep their significant digits", () => {
  assert.equal(digits(0), "0");
  assert.equal(digits(1234.5678), "1235");
  assert.equal(digits(-0.5), "\u22120.5");
  assert.equal(digits(1.5e-7), "1.5e\u22127");
  assert.equal(digits(2e6), "2e6");
  assert.equal(digits(NaN), "\u2013");
});

test("numbers of a column have the same decimals", () => {
  const format = steadyFormat(57.3);
  assert.deepEqual([3.2, -57.3, 0, -1e-9].map(format), ["3.200", "\u221257.300", "0.000", "0.000"]);
  assert.equal(steadyFormat(1e-9)(2e-10), "2.000e\u221210");
  assert.equal(steadyFormat(0)(0), "0");
});

test("units and companions", () => {
  assert.equal(unitText("N.m/rad2"), "N\u00b7m/rad\u00b2");
  assert.equal(unitText("kg.m2"), "kg\u00b7m\u00b2");
  assert.equal(unitText("1"), "");
  assert.equal(companion(Math.PI, "rad"), "180.00\u00b0");
  assert.equal(companion(1, "m"), null);
  assert.deepEqual([2000, 2, 0.1, 0.02, 5e-6, 0].map(lengthText), ["2\u202fkm", "2\u202fm", "0.1\u202fm", "20\u202fmm", "5\u202f\u00b5m", "0\u202fnm"]);
});

test("times have sensible digits and ticks", () => {
  assert.deepEqual([0.5, 2, 10, 100].map(timeDecimals), [4, 3, 3, 2]);
  assert.equal(niceStep(5, 5), 1);
  assert.equal(niceStep(0.03, 6), 0.005);
  assert.deepEqual([1, 4.9, 5, 0.03].map(niceBelow), [1, 2, 5, 0.02]);
});

test("a search is a part of a name, or a pattern of the whole name", () => {
  const names = ["A.q", "B.q", "der(A.q)", "A.q[1]", "Arm.f[1]"];
  const found = (search: string): string[] => names.filter(matcher(search));
  assert.deepEqual(found("*.q"), ["A.q", "B.q"]);
  assert.deepEqual(found("arm"), ["Arm.f[1]"]);
  assert.deepEqual(found("*.q[?], b.q"), ["B.q", "A.q[1]"]);
  assert.deepEqual(found(" "), names);
  assert.deepEqual(found("("), ["der(A.q)"]);
});

test("columns know their owners", () => {
  assert.deepEqual(ownerOf("A.q"), { owner: "A", symbol: "q", derivative: false });
  assert.deepEqual(ownerOf("der(arm.left.q[2])"), { owner: "arm.left", symbol: "q", derivative: true });
  assert.equal(ownerOf("time"), null);
});

test("decimation keeps every peak and the order of times", () => {
  const n = 20_000;
  const times = Float64Array.from({ length: n }, (_, k) => k / n);
  const values = times.map((t) => Math.sin(20 * t));
  values[12_345] = 5;
  values[777] = -5;
  const [axis, curve] = decimate(times, [values], n, 0, 1, 300);
  assert.ok(axis.length <= 602);
  assert.ok(axis.every((t, k) => k === 0 || t >= axis[k - 1]!));
  assert.equal(Math.max(...(curve as number[])), 5);
  assert.equal(Math.min(...(curve as number[])), -5);
});

test("decimation of rows that are crowded somewhere keeps those that are not", () => {
  const crowded = Array.from({ length: 9000 }, (_, k) => k * 1e-6);
  const sparse = Array.from({ length: 1000 }, (_, k) => 0.01 + k * 0.01);
  const times = Float64Array.from([...crowded, ...sparse]);
  const [axis] = decimate(times, [times], times.length, 0, 10, 600);
  assert.ok(axis.filter((t) => t > 0.01).length > 590);
});

test("short columns stay as they are, but gaps are told", () => {
  const times = Float64Array.from([0, 1, 2, 3]);
  const values = Float64Array.from([1, NaN, 3, 4]);
  assert.deepEqual(decimate(times, [values], 4, 0, 3, 100), [[0, 1, 2, 3], [1, null, 3, 4]]);
  assert.deepEqual(decimate(times, [values], 4, 1.2, 1.8, 100)[0], [1, 2]);
});

test("the player steps through rows and events", () => {
  const player = new Player();
  player.setMotions([new Table({ time: [1, 2, 4] }, [{ t: 1.5, text: "stop" }])]);
  const times: number[] = [];
  player.time.follow((t) => times.push(t));
  player.step(1);
  player.step(-5);
  player.stepEvent(1);
  player.step(-1); // between rows: the row at hand
  player.seek(99);
  player.stepEvent(-1);
  assert.deepEqual(times, [1, 2, 1, 1.5, 1, 4, 1.5]);
});

test("the player repeats, stops, and waits for rows", () => {
  const frames: FrameRequestCallback[] = [];
  globalThis.requestAnimationFrame = (run) => frames.push(run);
  const player = new Player();
  player.setMotions([new Table({ time: [0, 0.5] })]);
  const run = (...seconds: number[]): number[] =>
    seconds.map((now) => {
      frames.shift()?.(1000 * now);
      return player.time.get();
    });
  player.speed.set(2);
  player.play();
  assert.deepEqual(run(10, 10.125, 10.25, 10.375), [0, 0.25, 0.5, 0]);
  player.loop.set(false);
  assert.deepEqual(run(10.5, 10.75), [0.25, 0.5]);
  assert.equal(player.playing.get(), false);
  player.growing = true;
  player.play();
  assert.deepEqual(run(20, 20.25), [0.5, 0.5]);
  assert.equal(player.playing.get(), true);
  player.pause();
  player.play();
  assert.equal(frames.length, 1);
});

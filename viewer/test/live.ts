// The worker's runner under a clock of the test: node live.mjs CORE JOB RESULT
// JOB is JSON with the set-up, in base64 where it is bytes, and steps; RESULT is JSON with all answers.
import { readFileSync, writeFileSync } from "node:fs";
import { Core } from "../src/core/memory";
import type { Answer, PoseRequest, RunRequest, Setup } from "../src/live/messages";
import { LiveRecording } from "../src/live/recording";
import { Runner } from "../src/live/runner";
import { csvOf } from "../src/live/saving";
import type { Scene, Vector } from "../src/payload";

type Step =
  | { run: RunRequest }
  | { pose: PoseRequest }
  | { grab: { body: string; point: Vector; target: Vector; t: number } }
  | { move: Vector }
  | { release: true }
  | { work: number; every: number }; // so often, with so many seconds of the clock between

interface Job {
  model: string;
  names: string[];
  setup: Omit<Setup, "module" | "model">;
  steps: Step[];
}

const [corePath, jobPath, resultPath] = process.argv.slice(2) as [string, string, string];
const core = await Core.load(readFileSync(corePath));
const job = JSON.parse(readFileSync(jobPath, "utf8")) as Job;
const answers: Record<string, unknown>[] = [];
const recording = new LiveRecording({} as Scene, job.names, "");
let now = 100;

function keep(answer: Answer): void {
  if (answer.type === "truncate") recording.truncate(answer.rows);
  if (answer.type === "rows") recording.append(answer.rows, answer.events);
  const numbers = Object.entries(answer).map(([name, value]) => [name, value instanceof Float64Array ? packed(value) : value]);
  answers.push({ ...(Object.fromEntries(numbers) as object), begun: recording.rows > 0 ? recording.begin : null });
}

const model = new Uint8Array(Buffer.from(job.model, "base64")).buffer;
const setup: Setup = { ...job.setup, module: new ArrayBuffer(0), model };
const runner = new Runner(core, setup, keep, () => now);
job.steps.forEach((step, k) => {
  const id = k + 1;
  if ("run" in step) runner.run(id, step.run);
  else if ("pose" in step) runner.pose(id, step.pose);
  else if ("grab" in step) runner.grab(id, step.grab.body, step.grab.point, step.grab.target, step.grab.t);
  else if ("move" in step) runner.move(step.move);
  else if ("release" in step) runner.release(id);
  else {
    for (let i = 0; i < step.work && runner.busy; i++) {
      now += step.every;
      runner.work(10);
    }
  }
});
const columns = Object.fromEntries(recording.columns().map((name) => [name, packed(recording.column(name))]));
writeFileSync(resultPath, JSON.stringify({ answers, columns, events: recording.events, csv: csvOf(recording) }));

function packed(values: Float64Array): string {
  return Buffer.from(values.slice().buffer).toString("base64");
}

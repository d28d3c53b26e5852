// What the simulator computes, for tests to compare: node simulator.mjs CORE JOB RESULT
// JOB is JSON with a model in base64 and what to do; RESULT is JSON with numbers as base64 of doubles.
import { readFileSync, writeFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { LinkworkError } from "../src/core/errors";
import { Formula } from "../src/core/formula";
import { Core } from "../src/core/memory";
import { Model, Stage } from "../src/core/model";
import { OutputReader } from "../src/core/outputs";
import { assembled, Simulation, type SimulationOptions } from "../src/core/simulation";
import { State } from "../src/core/state";

interface Run {
  t_end: number;
  rtol: number;
  t_eval: number[] | null;
  inputs: [number, number][]; // offsets and values
  chunk?: number; // tries at once
  every?: number; // s: stop there and go on with the same inputs
  eventRows?: boolean;
}

interface Job {
  model: string;
  parameters: [number, number][];
  block?: boolean;
  run?: Run;
  formula?: { force: string; rows: number[] };
}

type Result = Record<string, unknown>;

const [corePath, jobPath, resultPath] = process.argv.slice(2) as [string, string, string];
const core = await Core.load(readFileSync(corePath));
const job = JSON.parse(readFileSync(jobPath, "utf8")) as Job;
const described = new Model(core, new Uint8Array(Buffer.from(job.model, "base64")));
const result: Result = { version: core.version, sizes: described.sizes };
try {
  const model = described.withParameters(new Map(job.parameters));
  if (job.block) Object.assign(result, block(model));
  if (job.formula) Object.assign(result, formula(model, job.formula));
  if (job.run) Object.assign(result, run(model, job.run));
} catch (error) {
  if (!(error instanceof LinkworkError)) throw error;
  result["error"] = { name: error.name, message: error.message };
}
writeFileSync(resultPath, JSON.stringify(result));

function block(model: Model): Result {
  const state = new State(model);
  state.putMotion(0, new Float64Array(model.field("motion_in").count));
  state.assemble();
  const after = packed(state.reals);
  state.evaluate(Stage.OUTPUTS);
  const outputs = packed(state.reals);
  return { assembled: after, outputs, indicators: packed(state.eventIndicators()) };
}

function run(model: Model, run: Run): Result {
  const inputs = inputsOf(model, run.inputs);
  const options: SimulationOptions = {
    ...run,
    inputs,
    t_eval: run.t_eval && new Float64Array(run.t_eval),
    eventRows: run.eventRows ?? false,
  };
  const before = performance.now();
  const simulation = new Simulation(model, assembled(model, inputs), options);
  try {
    if (run.every) for (let k = 1; !simulation.done; k++) simulation.advanceTo(k * run.every);
    while (!simulation.done) simulation.advance(run.chunk);
  } catch (error) {
    if (!(error instanceof LinkworkError)) throw error;
    return { ...rowsOf(model, simulation), error: { name: error.name, message: error.message } };
  }
  const seconds = (performance.now() - before) / 1000;
  return { ...rowsOf(model, simulation), seconds };
}

function formula(model: Model, { force, rows }: { force: string; rows: number[] }): Result {
  const { results, tables } = new Formula(new State(model), force).at(Float64Array.from(rows));
  return { results: packed(results), tables: packed(tables) };
}

function inputsOf(model: Model, given: [number, number][]): Float64Array {
  const state = new State(model);
  for (const [offset, value] of given) state.reals[offset] = value;
  const inputs = state.reals.slice(model.inputs.first, model.inputs.first + model.inputs.count);
  state.free();
  return inputs;
}

function rowsOf(model: Model, { rows, events }: Simulation): Result {
  const first = model.field("time").first;
  const last = model.field("energy_potential").first + 1;
  const offsets = Array.from({ length: last - first }, (_, i) => first + i);
  const reader = new OutputReader(model, offsets);
  const values = new Float64Array(rows.length * offsets.length);
  rows.forEach((row, i) => reader.read(row, values.subarray(i * offsets.length, (i + 1) * offsets.length)));
  const y = new Float64Array(rows.flatMap((row) => [...row.y]));
  return { t: packed(rows.map((row) => row.t)), y: packed(y), values: packed(values), events };
}

function packed(values: ArrayLike<number>): string {
  return Buffer.from(Float64Array.from(values).buffer).toString("base64");
}

/** The worker of a live page: serves requests between short parts of the simulation. */

import { Core } from "../core/memory";
import type { Answer, Request } from "./messages";
import { Runner } from "./runner";

const PART = 30; // ms of simulation between two looks at the messages
const DRAG_PART = 12; // the same while a body is dragged
const REST = 4; // ms in between then

const scope = self as unknown as DedicatedWorkerGlobalScope;
let runner: Promise<Runner> | null = null;
let working = false;

scope.onmessage = ({ data }: MessageEvent<Request>): void => void serve(data).catch(report);

async function serve(request: Request): Promise<void> {
  if (request.type === "setup") {
    runner = start(request.setup);
    await runner;
    return;
  }
  if (!runner) return;
  const active = await runner;
  switch (request.type) {
    case "run": active.run(request.id, request.run); break; // prettier-ignore
    case "pose": active.pose(request.id, request.pose); break; // prettier-ignore
    case "grab": active.grab(request.id, request.body, request.point, request.target, request.t); break; // prettier-ignore
    case "move": active.move(request.target); break; // prettier-ignore
    case "release": active.release(request.id); break; // prettier-ignore
    case "stop": active.stop(); break; // prettier-ignore
  }
  work(active);
}

async function start(setup: (Request & { type: "setup" })["setup"]): Promise<Runner> {
  const core = await Core.load(setup.module);
  send({ type: "ready", version: core.version });
  return new Runner(core, setup, send, () => performance.now() / 1000);
}

/** Work until there is nothing to do; messages come in between. */
function work(active: Runner): void {
  if (working || !active.busy) return;
  working = true;
  const part = (): void => {
    if (active.busy) active.work(active.dragging ? DRAG_PART : PART);
    working = active.busy;
    if (working) setTimeout(part, active.dragging ? REST : 0);
  };
  setTimeout(part, 0);
}

function send(answer: Answer, transfer: Transferable[] = []): void {
  scope.postMessage(answer, transfer);
}

function report(error: unknown): void {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  send({ type: "failed", id: 0, name, message });
}

/** The worker as the page sees it: requests, and the answers to the latest one. */

import type { RunEvent, Vector } from "../payload";
import type { Answer, PoseRequest, Request, RunRequest, Setup, Values } from "./messages";

export interface SimulatorEvents {
  /** Keep so many rows of those sent; others follow. */
  truncate(rows: number): void;
  rows(rows: Float64Array, events: RunEvent[]): void;
  done(message: string): void;
  pose(row: Float64Array, starts: Values): void;
  failed(message: string, isPose: boolean): void;
}

export class Simulator {
  private last = 0; // number of the latest request
  private runId = 0; // of the latest one that rows answer
  private poseId: number | null = null; // of the one that is being assembled
  private waiting: PoseRequest | null = null;

  constructor(
    private readonly worker: Worker,
    setup: Setup,
    private readonly events: SimulatorEvents,
  ) {
    worker.onmessage = ({ data }: MessageEvent<Answer>): void => this.serve(data);
    worker.onerror = (event): void => events.failed(event.message || "the simulator could not be started", false);
    this.post({ type: "setup", setup }, [setup.module, setup.model]);
  }

  dispose(): void {
    this.worker.terminate();
  }

  run(run: RunRequest): void {
    this.post({ type: "run", id: this.begin(), run });
  }

  /** One at a time: of those asked for meanwhile the last one counts. */
  pose(pose: PoseRequest): void {
    if (this.isPosing) {
      this.waiting = pose;
      return;
    }
    this.post({ type: "pose", id: (this.poseId = ++this.last), pose });
  }

  /** Whether a pose is being assembled. */
  get isPosing(): boolean {
    return this.poseId !== null;
  }

  grab(body: string, point: Vector, target: Vector, t: number): void {
    this.post({ type: "grab", id: this.begin(), body, point, target, t });
  }

  move(target: Vector): void {
    this.post({ type: "move", target });
  }

  release(): void {
    this.post({ type: "release", id: this.begin() });
  }

  stop(): void {
    this.begin();
    this.post({ type: "stop" });
  }

  private begin(): number {
    return (this.runId = ++this.last);
  }

  private post(request: Request, transfer: Transferable[] = []): void {
    this.worker.postMessage(request, transfer);
  }

  private serve(answer: Answer): void {
    if (answer.type === "ready") return;
    if (answer.id === this.poseId) this.servePose(answer);
    else if (answer.id === this.runId || answer.id === 0) this.serveRun(answer);
  }

  private servePose(answer: Answer): void {
    this.poseId = null;
    const next = this.waiting;
    this.waiting = null;
    if (next) this.pose(next); // a newer one is wanted
    else if (answer.type === "pose") this.events.pose(answer.row, answer.starts);
    else if (answer.type === "failed") this.events.failed(answer.message, true);
  }

  private serveRun(answer: Answer): void {
    if (answer.type === "truncate") this.events.truncate(answer.rows);
    else if (answer.type === "rows") this.events.rows(answer.rows, answer.events);
    else if (answer.type === "done") this.events.done(answer.message);
    else if (answer.type === "failed") this.events.failed(answer.message, false);
  }
}

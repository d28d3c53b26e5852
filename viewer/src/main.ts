/** Read the data of the page, and show them. */

import { Recording } from "./motion";
import type { Payload } from "./payload";
import type { Stage } from "./stage/stage";
import type { DrawnCharacteristic } from "./ui/characteristic_plot";
import { problem } from "./ui/messages";
import { addStyles } from "./ui/styles";
import { unpackBytes, unpackText } from "./unpack";
import { type PageCore, Viewer } from "./viewer";

const FORMAT = 1;

/** For tests of the page, and for the console. */
export interface PageObject {
  /** Resolves when the first picture is drawn. */
  ready: Promise<void>;
  /** Pause at a time, s. */
  seek(t: number): void;
  time(): number;
  play(): void;
  pause(): void;
  select(name: string | null): void;
  pose: Stage["pose"];
  pins: Stage["pins"];
  /** Values of all columns of the first run. */
  columnsAt(t: number): Record<string, number>;
  /** Of the selected force, as they are drawn. */
  characteristics(): DrawnCharacteristic[];
}

declare global {
  interface Window {
    linkworkPage: PageObject;
  }
}

function textOf(id: string): string {
  const text = document.getElementById(id)?.textContent?.trim();
  if (!text) throw new Error(`the page has no part "${id}"`);
  return text;
}

function readPayload(): Payload {
  const payload = JSON.parse(textOf("linkwork")) as Payload;
  if (payload.format !== FORMAT) throw new Error(`the data have format ${payload.format}, the viewer reads format ${FORMAT}`);
  if (payload.scenes.length === 0) throw new Error("the page has no mechanism");
  return payload;
}

async function unpackCore({ core, live }: Payload): Promise<PageCore | null> {
  if (!core) return null;
  const [module, worker] = await Promise.all([unpackBytes(core), live && unpackText(textOf("linkwork-worker"))]);
  if (worker === null) return { module, createWorker: null };
  const url = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));
  return { module, createWorker: () => new Worker(url) };
}

async function start(): Promise<Viewer> {
  const payload = readPayload();
  document.title = payload.title;
  const unpacked = payload.runs.map((run) => Recording.unpack(run, payload.scenes));
  const [core, ...recordings] = await Promise.all([unpackCore(payload), ...unpacked]);
  return new Viewer(payload, recordings, core);
}

function fail(error: unknown): never {
  const remedy = "The file is damaged or was written by another version of Linkwork. Write the page again; send it as a file, not as text.";
  document.body.replaceChildren(problem("This page cannot be shown", remedy, String(error)));
  throw error;
}

function nextFrame(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => resolve()));
}

/** Resolves when the browser has drawn what is there now. */
async function drawn(): Promise<void> {
  await nextFrame();
  await nextFrame();
}

function main(): void {
  addStyles();
  const started = start().catch(fail);
  let viewer: Viewer | null = null;
  const shown = (): Viewer => {
    if (!viewer) throw new Error("the page is not ready: await linkworkPage.ready");
    return viewer;
  };
  const stage = (): Stage => {
    const { stage: found } = shown().page;
    if (!found) throw new Error("the page has no scene: WebGL is missing");
    return found;
  };
  const ready = started.then((found) => {
    viewer = found;
    return drawn();
  });
  window.linkworkPage = {
    ready,
    seek: (t) => {
      shown().page.player.pause();
      shown().page.player.seek(t);
    },
    time: () => shown().page.player.time.get(),
    play: () => shown().page.player.play(),
    pause: () => shown().page.player.pause(),
    select: (name) => shown().page.selectByName(name),
    pose: (body) => stage().pose(body),
    pins: (joint) => stage().pins(joint),
    columnsAt: (t) => shown().page.columnsAt(t),
    characteristics: () => shown().page.characteristics,
  };
}

main();

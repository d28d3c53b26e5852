/** HTML elements. Text is always set as text: names come from users. */

import { drawInFrame } from "../animation";

export type Child = Node | string | null | undefined | false;

type Handlers = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };

export interface Attributes {
  on?: Handlers;
  [name: string]: string | number | boolean | Handlers | undefined;
}

/** An element; an attribute that is false or undefined is left out, true is written as "". */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") continue;
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [type, handler] of Object.entries(attributes.on ?? {})) {
    made.addEventListener(type, handler as EventListener);
  }
  made.append(...children.filter((child): child is Node | string => Boolean(child)));
  return made;
}

/** Write a text only where it changes: no layout for nothing. */
export function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** At most one call a frame, however often it is requested. */
export function oncePerFrame(run: () => void): () => void {
  let requested = false;
  return () => {
    if (requested) return;
    requested = true;
    drawInFrame(() => {
      requested = false;
      run();
    });
  };
}

/** At most one call in so many milliseconds; the last request is always served. */
export function throttled(milliseconds: number, run: () => void): () => void {
  let last = -Infinity;
  let timer = 0;
  return () => {
    if (timer) return;
    const wait = last + milliseconds - performance.now();
    const serve = (): void => {
      timer = 0;
      last = performance.now();
      run();
    };
    if (wait <= 0) serve();
    else timer = window.setTimeout(serve, wait);
  };
}

/** Drag with the pointer: `move` from the press on, until it is let go. Only the main button. */
export function onDrag(
  target: HTMLElement,
  move: (event: PointerEvent) => void,
  { start, end }: { start?: (event: PointerEvent) => boolean | void; end?: () => void } = {},
): void {
  let pointer: number | null = null;
  const release = (): void => {
    if (pointer === null) return;
    pointer = null;
    end?.();
  };
  target.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || pointer !== null || start?.(event) === false) return;
    pointer = event.pointerId;
    target.setPointerCapture(pointer);
    move(event);
  });
  target.addEventListener("pointermove", (event) => {
    if (event.pointerId === pointer) move(event);
  });
  target.addEventListener("pointerup", release);
  target.addEventListener("pointercancel", release);
  target.addEventListener("lostpointercapture", release);
}

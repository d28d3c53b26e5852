/** Frames of the browser: time moves on first, and what it changes is drawn in the same frame, not in the next one. */

/** `requested`: when the frame was asked for, ms. */
type Draw = (now: number, requested: number) => void;

/** The frame in which time is moving on. */
let current: { now: number; requested: number } | null = null;

/** Move time on in the next frame. */
export function moveInFrame(move: (now: number) => void): void {
  const requested = performance.now();
  requestAnimationFrame((now) => {
    current = { now, requested };
    try {
      move(now);
    } finally {
      current = null;
    }
  });
}

/** Draw what has changed: after the move if time is moving on, else in the next frame. */
export function drawInFrame(draw: Draw): void {
  if (current) {
    const { now, requested } = current;
    queueMicrotask(() => draw(now, requested));
    return;
  }
  const requested = performance.now();
  requestAnimationFrame((now) => draw(now, requested));
}

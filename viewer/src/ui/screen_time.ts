/** Time runs only while the page is on the screen: a notebook may hold many of them. */

import type { Player } from "./player";

/** Play as soon as `root` is seen, if `atOnce`; stop while it is out of sight. Ends when `signal` aborts. */
export function playWhileSeen(player: Player, root: HTMLElement, atOnce: boolean, signal: AbortSignal): void {
  let waiting = atOnce; // to be seen
  const observer = new IntersectionObserver((entries) => {
    const seen = entries[entries.length - 1]!.isIntersecting;
    if (seen && waiting) player.play();
    if (seen) waiting = false;
    else if (player.playing.get()) {
      player.pause();
      waiting = true;
    }
  });
  observer.observe(root);
  signal.addEventListener("abort", () => observer.disconnect());
}

/** Paths of points, switched on one by one. */

import type { Scene } from "../payload";
import type { TracedPoint } from "../stage/traces";
import { element } from "./dom";
import { icon } from "./icons";
import type { Part } from "./parts";
import type { Value } from "./value";

export class Traces {
  private readonly on = new Map<string, TracedPoint>();

  /** `draw` puts one into the scene or takes it out; `shown` is whether any is to be seen. */
  constructor(
    private readonly scene: Scene,
    private readonly draw: (point: TracedPoint, on: boolean) => void,
    private readonly shown: Value<boolean>,
  ) {}

  /** The centre of mass of a body, the frame of a joint on its child, or a point itself; null for other parts. */
  pointOf({ kind, name }: { kind: string; name: string }): TracedPoint | null {
    if (kind === "body") {
      const body = this.scene.bodies.find((one) => one.name === name);
      return body ? { body: name, point: body.com } : null;
    }
    if (kind === "joint") {
      const joint = this.scene.joints.find((one) => one.name === name);
      return joint ? { body: joint.child, point: joint.childFrame.r } : null;
    }
    const point = kind === "point" ? this.scene.points.find((one) => one.name === name) : undefined;
    return point && point.body !== "ground" ? { body: point.body, point: point.point } : null;
  }

  has(part: { kind: string; name: string }): boolean {
    return this.on.has(keyOf(part));
  }

  toggle(part: { kind: string; name: string }): void {
    const point = this.pointOf(part);
    if (!point) return;
    const on = !this.has(part);
    if (on) this.on.set(keyOf(part), point);
    else this.on.delete(keyOf(part));
    if (on) this.shown.set(true);
    this.draw(point, on);
  }

  /** A button that switches the path of a part's point; null where it has none. */
  button(part: Part): HTMLElement | null {
    if (!this.pointOf(part)) return null;
    const words: Record<string, string> = { body: "Path of the centre of mass", joint: "Path of the joint" };
    const button = element("button", { type: "button", class: "small" }, icon("trace"), words[part.kind] ?? "Path of the point");
    const write = (): void => button.setAttribute("aria-pressed", String(this.has(part)));
    button.addEventListener("click", () => {
      this.toggle(part);
      write();
    });
    write();
    return button;
  }
}

function keyOf({ kind, name }: { kind: string; name: string }): string {
  return `${kind} ${name}`;
}

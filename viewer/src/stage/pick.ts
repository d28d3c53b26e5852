/** Pointing at things: hover, selection by a click, and pulling a body by a rubber band. */

import { Matrix4, Plane, Raycaster, Vector2, Vector3, type Camera, type Intersection, type Object3D } from "three";
import type { Picked } from "./assembly";
import { GROUND } from "./names";

const STILL = 4; // pixels that a click may move

export interface PointerActions {
  camera(): Camera;
  targets(): Object3D[];
  picked(hit: Intersection): Picked | null;
  pose(body: string): Matrix4 | null;
  draggable(): boolean;
  hover(picked: Picked | null): void;
  select(picked: Picked | null): void;
  /** A point of a body, in body axes, is pulled to a target in the world; null: it is let go. */
  drag(body: string, point: Vector3, target: Vector3 | null): void;
}

interface Drag {
  picked: Picked;
  point: Vector3;
  plane: Plane;
  pulled: boolean; // it has moved farther than a click
}

export class Pointer {
  private readonly raycaster = new Raycaster();
  private readonly spot = new Vector2();
  private down: { x: number; y: number } | null = null;
  private drag: Drag | null = null;
  private moved = false; // since the last hover
  private inside = false;

  constructor(private readonly host: HTMLElement, private readonly canvas: HTMLCanvasElement, private readonly actions: PointerActions) {
    // before the controls of the camera: these must not turn while a body is pulled
    host.addEventListener("pointerdown", this.onDown, { capture: true });
    canvas.addEventListener("pointermove", this.onMove);
    canvas.addEventListener("pointerleave", this.onLeave);
    window.addEventListener("pointermove", this.onPull);
    window.addEventListener("pointerup", this.onUp);
    window.addEventListener("pointercancel", this.onUp);
  }

  /** Look what is below the pointer, at most once a frame. */
  hover(): void {
    if (!this.moved || this.drag || this.down) return;
    this.moved = false;
    const picked = this.inside ? (this.hit()?.picked ?? null) : null;
    this.canvas.style.cursor = picked ? (this.actions.draggable() && picked.kind === "body" ? "grab" : "pointer") : "";
    this.actions.hover(picked);
  }

  dispose(): void {
    this.host.removeEventListener("pointerdown", this.onDown, { capture: true });
    this.canvas.removeEventListener("pointermove", this.onMove);
    this.canvas.removeEventListener("pointerleave", this.onLeave);
    window.removeEventListener("pointermove", this.onPull);
    window.removeEventListener("pointerup", this.onUp);
    window.removeEventListener("pointercancel", this.onUp);
  }

  private readonly onDown = (event: PointerEvent): void => {
    if (event.target !== this.canvas || event.button !== 0 || !event.isPrimary) return; // further fingers neither pull nor click
    this.aim(event);
    this.down = { x: event.clientX, y: event.clientY };
    if (!this.actions.draggable()) return;
    const hit = this.hit();
    const pose = hit && this.actions.pose(hit.picked.body);
    if (!hit || !pose || hit.picked.body === GROUND) return;
    event.stopPropagation();
    event.preventDefault();
    const towards = this.actions.camera().getWorldDirection(new Vector3());
    this.drag = {
      picked: hit.picked,
      point: hit.at.clone().applyMatrix4(pose.clone().invert()),
      plane: new Plane().setFromNormalAndCoplanarPoint(towards, hit.at),
      pulled: false,
    };
    this.canvas.style.cursor = "grabbing";
  };

  private readonly onMove = (event: PointerEvent): void => {
    this.aim(event);
    this.inside = true;
    this.moved = true;
    this.actions.hover(HOVER_LATER);
  };

  private readonly onLeave = (): void => {
    this.inside = false;
    this.moved = true;
    this.actions.hover(HOVER_LATER);
  };

  private readonly onPull = (event: PointerEvent): void => {
    const { drag, down } = this;
    if (!drag || !down || !event.isPrimary) return;
    if (!drag.pulled && Math.hypot(event.clientX - down.x, event.clientY - down.y) < STILL) return;
    drag.pulled = true;
    this.aim(event);
    this.raycaster.setFromCamera(this.spot, this.actions.camera());
    const target = this.raycaster.ray.intersectPlane(drag.plane, new Vector3());
    if (target) this.actions.drag(drag.picked.body, drag.point, target);
  };

  private readonly onUp = (event: PointerEvent): void => {
    if (!event.isPrimary) return;
    const { down, drag } = this;
    [this.down, this.drag] = [null, null];
    if (drag?.pulled) {
      this.canvas.style.cursor = "";
      this.actions.drag(drag.picked.body, drag.point, null);
      return;
    }
    if (!down || Math.hypot(event.clientX - down.x, event.clientY - down.y) >= STILL || event.type !== "pointerup") return;
    this.aim(event);
    this.actions.select(this.hit()?.picked ?? null);
  };

  private aim(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    this.spot.set(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
  }

  private hit(): { picked: Picked; at: Vector3 } | null {
    this.raycaster.setFromCamera(this.spot, this.actions.camera());
    for (const hit of this.raycaster.intersectObjects(this.actions.targets(), true)) {
      const picked = isShown(hit.object) ? this.actions.picked(hit) : null;
      if (picked) return { picked, at: hit.point };
    }
    return null;
  }
}

/** Asks for a frame in which `hover` is called; what is below the pointer is not known yet. */
export const HOVER_LATER: Picked = { kind: "body", name: "", body: "" };

function isShown(object: Object3D): boolean {
  for (let one: Object3D | null = object; one; one = one.parent) if (!one.visible) return false;
  return true;
}

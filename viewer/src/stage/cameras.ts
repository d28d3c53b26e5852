/** A perspective camera, and one without perspective for views along axes; both are turned by the same gestures. */

import { Box3, OrthographicCamera, PerspectiveCamera, Quaternion, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

const ANGLE = 32; // degrees, vertical
const TURN = 280; // ms

export class Cameras {
  readonly controls: OrbitControls;
  active: PerspectiveCamera | OrthographicCamera;
  private readonly perspective = new PerspectiveCamera(ANGLE, 1, 0.1, 100);
  private readonly orthographic = new OrthographicCamera(-1, 1, 1, -1, 0.1, 100);
  private aspect = 1;
  private bounds = new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
  private cloud: Vector3[] = []; // what must be in the picture
  private margin = 0; // m around it
  private turning: { start: number; from: Vector3; to: Vector3; targetFrom: Vector3; targetTo: Vector3; zoomFrom: number; zoomTo: number } | null = null;

  constructor(element: HTMLElement, readonly up: Vector3, private readonly reducedMotion: boolean, private readonly changed: () => void) {
    for (const camera of [this.perspective, this.orthographic]) camera.up.copy(up);
    this.active = this.perspective;
    this.controls = new OrbitControls(this.perspective, element);
    this.controls.enableDamping = !reducedMotion;
    this.controls.dampingFactor = 0.14;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", changed);
    this.controls.addEventListener("start", () => (this.turning = null));
  }

  setBounds(bounds: Box3, cloud: Vector3[], margin: number): void {
    Object.assign(this, { bounds, cloud, margin });
    const reach = bounds.getSize(new Vector3()).length();
    this.controls.minDistance = 0.02 * reach;
    this.controls.maxDistance = 12 * reach;
  }

  resize(width: number, height: number): void {
    this.aspect = width / Math.max(height, 1);
    this.perspective.aspect = this.aspect;
    this.frame();
  }

  /** Look from a direction, with everything in the picture. */
  look(toward: Vector3, orthographic: boolean, animated: boolean): void {
    this.use(orthographic);
    const direction = toward.clone().normalize();
    const pole = direction.dot(this.up);
    if (Math.abs(pole) > 0.9999) direction.addScaledVector(aside(this.up), -1e-4).normalize(); // else nothing says what is up
    const { target, distance, height } = this.fit(direction);
    const to = target.clone().addScaledVector(direction, distance);
    const zoomTo = orthographic ? 2 / height : 1;
    if (orthographic) this.setHeights();
    this.turning = {
      start: animated && !this.reducedMotion ? performance.now() : -Infinity,
      from: this.active.position.clone(), to, targetFrom: this.controls.target.clone(), targetTo: target, zoomFrom: this.active.zoom, zoomTo,
    };
    if (this.turning.start === -Infinity) this.update(0);
    this.changed();
  }

  /** The direction from which is looked now, or soon. */
  direction(): Vector3 {
    const { turning } = this;
    return (turning ? turning.to.clone().sub(turning.targetTo) : this.active.position.clone().sub(this.controls.target)).normalize();
  }

  get isOrthographic(): boolean {
    return this.active === this.orthographic;
  }

  /** Move on; true: it has not come to rest. */
  update(now: number): boolean {
    const { turning } = this;
    if (turning) {
      const share = Math.min(Math.max((now - turning.start) / TURN, 0), 1);
      const s = share * share * (3 - 2 * share);
      this.controls.target.lerpVectors(turning.targetFrom, turning.targetTo, s);
      this.active.position.copy(between(turning, s));
      this.active.zoom = turning.zoomFrom + s * (turning.zoomTo - turning.zoomFrom);
      if (share >= 1) this.turning = null;
      this.controls.update();
      this.frame();
      return share < 1;
    }
    const moved = this.controls.update();
    this.frame();
    return moved;
  }

  private use(orthographic: boolean): void {
    const next = orthographic ? this.orthographic : this.perspective;
    if (next === this.active) return;
    next.position.copy(this.active.position);
    next.quaternion.copy(this.active.quaternion);
    if (orthographic) next.zoom = 1 / (Math.tan((ANGLE * Math.PI) / 360) * this.active.position.distanceTo(this.controls.target));
    this.active = next;
    this.controls.object = next;
  }

  /** The middle of what is seen from a direction, the distance at which all of it is in the picture, its height. */
  private fit(direction: Vector3): { target: Vector3; distance: number; height: number } {
    const right = new Vector3().crossVectors(this.up, direction).normalize();
    const above = new Vector3().crossVectors(direction, right);
    const flat = new Box3();
    for (const point of this.cloud) flat.expandByPoint(scratch.set(point.dot(right), point.dot(above), point.dot(direction)));
    if (flat.isEmpty()) flat.expandByPoint(scratch.set(0, 0, 0));
    flat.expandByScalar(this.margin);
    const middle = flat.getCenter(new Vector3());
    const target = new Vector3().addScaledVector(right, middle.x).addScaledVector(above, middle.y).addScaledVector(direction, middle.z);
    const tangent = Math.tan((ANGLE * Math.PI) / 360);
    let distance = Math.max(flat.max.y - flat.min.y, (flat.max.x - flat.min.x) / this.aspect, 1e-9) / 2 / tangent + flat.max.z - middle.z;
    // what is nearer looks larger: move and scale the picture until it is filled on all sides
    for (let k = 0; k < 6 && this.cloud.length > 0; k++) {
      const seen = new Box3();
      let nearest = Infinity;
      for (const point of this.cloud) {
        scratch.copy(point).sub(target);
        const depth = distance - scratch.dot(direction);
        nearest = Math.min(nearest, depth);
        const share = 1 / Math.max(depth, 0.05 * distance);
        seen.expandByPoint(new Vector3(scratch.dot(right) * share, scratch.dot(above) * share, 0));
      }
      const [width, height] = [(seen.max.x - seen.min.x) / 2, (seen.max.y - seen.min.y) / 2];
      target.addScaledVector(right, ((seen.max.x + seen.min.x) / 2) * distance).addScaledVector(above, ((seen.max.y + seen.min.y) / 2) * distance);
      const wanted = distance * (Math.max(height, width / this.aspect) / tangent);
      distance = Math.max(wanted, distance - 0.7 * nearest, 1e-9);
    }
    const half = Math.max((flat.max.y - flat.min.y) / 2, (flat.max.x - flat.min.x) / 2 / this.aspect, 1e-9);
    return { target, distance: 1.12 * distance + this.margin, height: 2.2 * half };
  }

  private setHeights(): void {
    Object.assign(this.orthographic, { top: 1, bottom: -1, left: -this.aspect, right: this.aspect });
  }

  /** Planes near and far around what is to be seen. */
  private frame(): void {
    this.setHeights();
    const reach = this.bounds.getSize(new Vector3()).length();
    const distance = this.active.position.distanceTo(this.bounds.getCenter(new Vector3()));
    this.active.near = this.isOrthographic ? distance - 4 * reach : Math.max(distance - 4 * reach, 0.01 * Math.min(distance, reach));
    this.active.far = distance + 8 * reach;
    this.active.updateProjectionMatrix();
  }
}

const scratch = new Vector3();

/** From one place to another on an arc about the target. */
function between(turning: { from: Vector3; to: Vector3; targetFrom: Vector3; targetTo: Vector3 }, s: number): Vector3 {
  const [a, b] = [turning.from.clone().sub(turning.targetFrom), turning.to.clone().sub(turning.targetTo)];
  const [la, lb] = [a.length(), b.length()];
  const target = turning.targetFrom.clone().lerp(turning.targetTo, s);
  if (s >= 1 || la === 0 || lb === 0) return target.add(s >= 1 ? b : a.lerp(b, s));
  const arc = new Quaternion().setFromUnitVectors(a.clone().divideScalar(la), b.clone().divideScalar(lb));
  const part = new Quaternion().slerp(arc, s);
  return target.add(a.divideScalar(la).applyQuaternion(part).multiplyScalar(la + s * (lb - la)));
}

/** The horizontal direction that is drawn upwards in a view from above. */
function aside(up: Vector3): Vector3 {
  const y = Math.abs(up.y) < 0.9 ? new Vector3(0, 1, 0) : new Vector3(0, 0, -1);
  return y.addScaledVector(up, -y.dot(up)).normalize();
}

/** The mechanism in three dimensions. A frame is drawn when something has changed, and only then. */

import {
  Box3, Color, DirectionalLight, HemisphereLight, Matrix4, MeshLambertMaterial, PCFShadowMap, Quaternion as Rotation, Scene as World, Vector3,
  WebGLRenderer,
} from "three";
import { drawInFrame } from "../animation";
import { instantOf, type Motion } from "../motion";
import type { Joint, Mesh, Quaternion, Scene, Vector } from "../payload";
import { ARROW_COLOURS, Arrows } from "./arrows";
import { Assembly, type Picked } from "./assembly";
import type { Meshes } from "./bodies";
import { Cameras } from "./cameras";
import { Floor } from "./floor";
import { array, vector } from "./frames";
import { Ghosts } from "./ghosts";
import { Highlight } from "./highlight";
import { firstView, layoutOf, upOf, type Layout } from "./layout";
import { LOOKS, type Look, type Theme } from "./looks";
import { frames, rubberBand } from "./marks";
import { see, solidMaterial, studio, type Studio } from "./materials";
import { geometryOf } from "./meshes";
import { GROUND, type Selectable } from "./names";
import { Overlay, type Label } from "./overlay";
import { HOVER_LATER, Pointer } from "./pick";
import { QualityControl, contextFor } from "./quality";
import { scalesOf, type Scales } from "./scales";
import { Springs } from "./springs";
import { Traces, type TracedPoint } from "./traces";
import { cloudOf, posesAt, posesOver, travelsOf, type Travel } from "./travel";

export type { Selectable, Theme };
export { ARROW_COLOURS };

/** What is drawn besides the bodies. */
export interface Layers {
  reactions: boolean;
  springs: boolean; // forces of springs, dampers and distances
  loads: boolean; // wrenches
  gravity: boolean;
  joints: boolean;
  names: boolean;
  traces: boolean;
  ghosts: boolean;
  frames: boolean;
  shadows: boolean;
}

export type ViewName = "iso" | "x" | "y" | "z" | "fit";

export interface StageOptions {
  theme: Theme;
  reducedMotion: boolean;
}

/** Tints of runs that are overlaid. */
export const TINTS = ["#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#f0e442"] as const;

const REST = 350; // ms without movement
const POSES = 4000; // poses that the sizes of rails and of the picture are from

/** A run and what is drawn of it. */
interface Actor {
  motion: Motion;
  layout: Layout;
  travels: Map<Joint, Travel>;
  assembly: Assembly;
  springs: Springs;
  poses: Map<string, Matrix4>;
  material: MeshLambertMaterial;
}

export class Stage {
  onSelect: (picked: Pick<Picked, "kind" | "name"> | null) => void = () => {};
  onDrag: (body: string, point: Vector, target: Vector | null) => void = () => {};
  /** Called when the length of arrows for one newton changes. */
  onScales: () => void = () => {};
  draggable = false;
  /** m of arrow for 1 N and 1 N m; 0 where there is none to draw. */
  readonly scales: Scales = { force: 0, torque: 0 };

  private readonly renderer: WebGLRenderer;
  private readonly world = new World();
  private readonly cameras: Cameras;
  private readonly light = new DirectionalLight(0xffffff, 2);
  private readonly hemisphere = new HemisphereLight(0xffffff, 0xb8bcc2, 1);
  private readonly studio: Studio;
  private readonly overlay = new Overlay();
  private readonly pointer: Pointer;
  private readonly quality: QualityControl;
  private readonly hovered = new Highlight("#ffb000", 0.28, false);
  private readonly selected = new Highlight("#ff9d00", 0.22, true);
  private readonly band: ReturnType<typeof rubberBand>;
  private readonly observer: ResizeObserver;
  private readonly layers: Layers = {
    reactions: false, springs: false, loads: true, gravity: false, joints: true, names: false, traces: true, ghosts: false, frames: false, shadows: true,
  };
  private meshes: Meshes;
  private actors: Actor[] = [];
  private floor: Floor | null = null;
  private arrows: Arrows | null = null;
  private traces: Traces | null = null;
  private ghosts: Ghosts | null = null;
  private triads: ReturnType<typeof frames> | null = null;
  private look: Look;
  private t = 0;
  private scanned = 0; // rows of the first run that sizes are from
  private bounds = new Box3();
  private posed = false; // matrices are those of t
  private requested = false; // a frame
  private drawnAt = 0; // ms
  private rest = 0; // timer
  private hoveredPick: Picked | null = null;
  private selectedPick: Pick<Picked, "kind" | "name"> | null = null;
  private pull: { body: string; point: Vector3; target: Vector3 } | null = null;
  private disposed = false;

  constructor(readonly host: HTMLElement, readonly scene: Scene, meshes: Mesh[], options: StageOptions) {
    this.look = LOOKS[options.theme];
    const { canvas, context, software } = contextFor();
    this.renderer = new WebGLRenderer({ canvas, context });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    Object.assign(canvas.style, { position: "absolute", inset: "0", width: "100%", height: "100%", display: "block", touchAction: "none" });
    if (getComputedStyle(host).position === "static") host.style.position = "relative";
    host.append(canvas, ...this.overlay.elements);
    canvas.addEventListener("webglcontextrestored", () => this.redraw());

    const up = upOf(scene);
    this.studio = studio(up);
    this.hemisphere.position.copy(up);
    this.world.add(this.light, this.light.target, this.hemisphere);
    this.cameras = new Cameras(canvas, up, options.reducedMotion, () => this.requestFrame());
    this.quality = new QualityControl(window.devicePixelRatio, software);
    this.band = rubberBand();
    this.world.add(this.band);
    this.pointer = new Pointer(host, canvas, {
      camera: () => this.cameras.active,
      targets: () => this.actors.slice(0, 1).flatMap(({ assembly, springs }) => [assembly.group, springs.group, springs.distances]),
      picked: (hit) => this.pickedOf(hit),
      pose: (body) => this.actors[0]?.poses.get(body) ?? null,
      draggable: () => this.draggable,
      hover: (picked) => this.hover(picked),
      select: (picked) => {
        this.select(picked);
        this.onSelect(picked);
      },
      drag: (body, point, target) => this.dragged(body, point, target),
    });
    this.meshes = meshes.map(() => null);
    void this.unpack(meshes);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(host);
    this.setTheme(options.theme);
    this.resize();
  }

  setMotions(motions: Motion[]): void {
    const first = this.actors.length === 0;
    this.clear();
    this.t = motions[0]?.begin ?? 0;
    this.build(motions);
    if (first) this.cameras.look(this.startDirection(), false, false);
  }

  /** Show the poses, arrows and traces of a time. */
  show(t: number): void {
    this.t = t;
    this.posed = false;
    this.requestFrame();
  }

  select(picked: Pick<Picked, "kind" | "name"> | null): void {
    this.selectedPick = picked;
    this.selected.set(this.selectedPick, this.actors[0]?.assembly ?? null, this.actors[0]?.springs ?? null);
    this.requestFrame();
  }

  setLayers(layers: Partial<Layers>): void {
    Object.assign(this.layers, layers);
    this.applyLayers();
    this.posed = false;
    this.requestFrame();
  }

  /** Draw, or do not draw, the way of a point of a body. */
  setTrace(point: TracedPoint, on: boolean): void {
    this.traces?.set(point, on);
    this.posed = false;
    this.requestFrame();
  }

  /** "x", "y", "z": along an axis, without perspective. "fit": everything, from where one looks now. */
  view(name: ViewName): void {
    const preferred = { x: new Vector3(1, 0, 0), y: new Vector3(0, -1, 0), z: new Vector3(0, 0, 1) };
    if (Math.abs(this.cameras.up.y) > 0.9) preferred.y.set(0, 1, 0);
    if (name === "fit") this.cameras.look(this.cameras.direction(), this.cameras.isOrthographic, true);
    else if (name === "iso") this.cameras.look(this.startDirection(), false, true);
    else this.cameras.look(preferred[name], true, true);
  }

  setTheme(theme: Theme): void {
    this.look = LOOKS[theme];
    this.world.background = new Color(this.look.background);
    this.hemisphere.intensity = this.look.sky;
    this.studio.bright.value = this.look.reflection;
    this.light.intensity = this.look.light;
    this.floor?.setColours(new Color(this.look.grid), this.look.shadow);
    this.requestFrame();
  }

  resize(): void {
    const [width, height] = [Math.max(this.host.clientWidth, 1), Math.max(this.host.clientHeight, 1)];
    this.quality.setRatio(window.devicePixelRatio);
    this.renderer.setPixelRatio(this.quality.quality.ratio);
    this.renderer.setSize(width, height, false);
    this.overlay.resize(width, height, Math.min(window.devicePixelRatio, 2));
    this.cameras.resize(width, height);
    this.hovered.resize(width, height);
    this.selected.resize(width, height);
    if (this.actors.length > 0) this.draw(performance.now()); // else the canvas is blank until the next frame
  }

  /** The picture as it is, as PNG. */
  picture(): Promise<Blob> {
    this.draw(performance.now());
    const source = this.renderer.domElement;
    const sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = [source.width, source.height];
    const context = sheet.getContext("2d")!;
    context.drawImage(source, 0, 0);
    this.overlay.copyTo(context, sheet.width, sheet.height);
    return new Promise((resolve, reject) =>
      sheet.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser cannot write a PNG of this size"))), "image/png"));
  }

  /** The pose of a body as it is drawn. */
  pose(body: string): { r: Vector; Q: Quaternion } {
    const matrix = this.matrixOf(body);
    const [r, Q, size] = [new Vector3(), new Rotation(), new Vector3()];
    matrix.decompose(r, Q, size);
    return { r: array(r), Q: [Q.w, Q.x, Q.y, Q.z] };
  }

  /** Where the pin of a joint is on either body as it is drawn, in the world. */
  pins(joint: string): { onParent: Vector; onChild: Vector } {
    const found = this.scene.joints.find(({ name }) => name === joint);
    if (!found) throw new Error(`there is no joint "${joint}"`);
    return {
      onParent: array(vector(found.parentFrame.r).applyMatrix4(this.matrixOf(found.parent))),
      onChild: array(vector(found.childFrame.r).applyMatrix4(this.matrixOf(found.child))),
    };
  }

  /** Edge of a square of the grid on the floor, m. */
  get gridStep(): number {
    return this.floor?.step ?? 0;
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.rest);
    this.observer.disconnect();
    this.pointer.dispose();
    this.cameras.controls.dispose();
    this.clear();
    this.traces?.dispose();
    this.hovered.dispose();
    this.selected.dispose();
    this.band.geometry.dispose();
    this.band.material.dispose();
    this.light.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss(); // browsers keep only some
    this.renderer.domElement.remove();
    for (const element of this.overlay.elements) element.remove();
  }

  private redraw(): void {
    this.posed = false;
    this.requestFrame();
  }

  private requestFrame(): void {
    if (this.requested || this.disposed) return;
    this.requested = true;
    drawInFrame((now, requested) => {
      this.requested = false;
      if (this.disposed) return;
      if (this.quality.frame(now, requested - this.drawnAt)) this.applyQuality();
      this.draw(now);
    });
  }

  private draw(now: number): void {
    if (this.disposed) return;
    this.grow();
    const posed = this.posed;
    this.place();
    this.pointer.hover();
    const moving = this.cameras.update(now);
    if (!posed || moving) this.keepMoving();
    this.renderer.render(this.world, this.cameras.active);
    this.overlay.draw(this.cameras.active, this.labels(), this.gridStep, this.look);
    this.drawnAt = performance.now();
    if (moving) this.requestFrame();
  }

  /** Something moves: at the quality that is fast enough, until it has rested for a while. */
  private keepMoving(): void {
    if (this.quality.move(true)) this.applyQuality();
    clearTimeout(this.rest);
    this.rest = window.setTimeout(() => {
      if (!this.quality.move(false) || this.disposed) return;
      this.applyQuality();
      this.requestFrame();
    }, REST);
  }

  private async unpack(meshes: Mesh[]): Promise<void> {
    if (meshes.length === 0) return;
    this.meshes = await Promise.all(meshes.map(geometryOf));
    if (this.disposed) return;
    if (this.actors.length > 0) this.rebuild();
  }

  private clear(): void {
    this.hovered.clear();
    this.selected.clear();
    for (const { assembly, springs, material } of this.actors) {
      assembly.dispose();
      springs.dispose();
      material.dispose();
    }
    this.actors = [];
    this.floor?.dispose();
    this.arrows?.dispose();
    this.ghosts?.dispose();
    this.disposeTriads();
    this.traces?.group.removeFromParent();
    [this.floor, this.arrows, this.ghosts, this.triads] = [null, null, null, null];
  }

  private disposeTriads(): void {
    this.triads?.geometry.dispose();
    this.triads?.material.dispose();
    this.triads?.dispose();
    this.triads?.removeFromParent();
  }

  /** Everything anew for the same runs. */
  private rebuild(): void {
    const motions = this.actors.map(({ motion }) => motion);
    this.clear();
    this.build(motions);
  }

  private build(motions: Motion[]): void {
    const bounds = new Box3();
    const cloud: Vector3[] = [];
    for (const scene of new Set(motions.map((motion) => motion.scene))) {
      const own = motions.filter((motion) => motion.scene === scene);
      const [layout, poses] = [layoutOf(scene), posesOver(scene, own, POSES)];
      const travels = travelsOf(scene, poses);
      for (const motion of own) {
        const k = motions.indexOf(motion);
        const material = k === 0 ? solidMaterial(this.studio) : see(solidMaterial(this.studio, TINTS[(k - 1) % TINTS.length]!), 0.42);
        const assembly = new Assembly(layout, travels, this.meshes, material);
        const springs = new Springs(layout, travels, material);
        this.world.add(assembly.group, springs.group, springs.distances);
        this.actors[k] = { motion, layout, travels, assembly, springs, poses: new Map(), material };
        if (motion === own[0]) for (const point of cloudOf(scene, poses, assembly.boxes())) cloud.push(point);
      }
    }
    for (const point of cloud) bounds.expandByPoint(point);
    const size = this.actors[0]?.layout.size ?? (this.scene.size || 1);
    if (bounds.isEmpty()) bounds.expandByPoint(new Vector3());
    bounds.expandByScalar(0.08 * size);
    this.bounds = bounds;
    this.cameras.setBounds(bounds, cloud, 0.5 * (this.actors[0]?.layout.radius ?? 0.02 * size));
    this.floor = new Floor(bounds, this.cameras.up, size);
    this.floor.setColours(new Color(this.look.grid), this.look.shadow);
    this.world.add(this.floor.group);
    this.aimLight();
    this.decorate(size);
    this.applyLayers();
    this.select(this.selectedPick);
    this.redraw();
  }

  /** What belongs to the first run only: arrows, ghosts, frames; and the traces of all. */
  private decorate(size: number): void {
    const first = this.actors[0];
    if (!first) return;
    this.scanned = first.motion.rows;
    this.setScales(scalesOf(first.motion.scene, first.motion));
    this.arrows = new Arrows(first.motion.scene, size);
    this.ghosts = new Ghosts(first.motion, first.assembly);
    this.triads = frames(first.motion.scene.bodies.length, 3.2 * first.layout.radius);
    this.traces ??= new Traces(this.scene, size);
    this.traces.setMotions(this.actors.map(({ motion, layout }, k) => ({
      motion,
      colour: (body) => (k === 0 ? (layout.links.get(body)?.colour.clone() ?? new Color("gray")) : new Color(TINTS[(k - 1) % TINTS.length]!)),
    })));
    this.world.add(this.arrows.group, this.ghosts.group, this.triads, this.traces.group);
  }

  /** A growing run: arrows and rails get the sizes that they need. */
  private grow(): void {
    const first = this.actors[0];
    if (!first) return;
    const { rows } = first.motion;
    if (this.scanned === 0 && rows > 0) { // what is drawn first says where to look from
      this.rebuild();
      this.cameras.look(this.startDirection(), false, false);
      return;
    }
    if (rows < this.scanned) this.scanned = Math.max(rows, 1); // it has begun again
    if (rows <= 1.3 * this.scanned + 10) return;
    this.scanned = rows;
    const scales = scalesOf(first.motion.scene, first.motion);
    const far = (now: number, then: number): boolean => now > 0 && (then === 0 || now < 0.6 * then || now > 4 * then);
    if (far(scales.force, this.scales.force) || far(scales.torque, this.scales.torque)) this.setScales(scales);
    const poses = posesOver(first.motion.scene, [first.motion], POSES);
    const slack = 2 * first.layout.radius;
    const longer = [...travelsOf(first.motion.scene, poses)].some(([joint, { way }]) => !first.travels.get(joint)!.way.clone().expandByScalar(slack).containsBox(way));
    const farther = cloudOf(first.motion.scene, poses, first.assembly.boxes()).some((point) => !this.bounds.containsPoint(point));
    if (longer || farther) this.rebuild();
  }

  private setScales(scales: Scales): void {
    if (scales.force === this.scales.force && scales.torque === this.scales.torque) return;
    Object.assign(this.scales, scales);
    this.onScales();
  }

  private aimLight(): void {
    const centre = this.bounds.getCenter(new Vector3());
    const reach = this.bounds.getSize(new Vector3()).length() / 2;
    const up = this.cameras.up;
    const toward = this.startDirection();
    const right = new Vector3().crossVectors(up, toward).normalize();
    this.light.position.copy(centre).addScaledVector(up, 2.2 * reach).addScaledVector(toward, 1.5 * reach).addScaledVector(right, -1.1 * reach);
    this.light.target.position.copy(centre);
    this.studio.key.value.copy(this.light.position).sub(centre).normalize();
    this.studio.fill.value.copy(right).addScaledVector(toward, 0.6).addScaledVector(up, 0.5).normalize();
    this.light.castShadow = true;
    const { camera, mapSize } = this.light.shadow;
    Object.assign(camera, { left: -1.1 * reach, right: 1.1 * reach, top: 1.1 * reach, bottom: -1.1 * reach, near: 0.3 * reach, far: 6 * reach });
    camera.updateProjectionMatrix();
    mapSize.set(1024, 1024);
    this.light.shadow.radius = 2.5;
    this.light.shadow.normalBias = (2.2 * reach) / 1024;
    this.light.shadow.bias = -0.0004;
  }

  private startDirection(): Vector3 {
    const layout = this.actors[0]?.layout;
    return layout ? firstView(layout) : new Vector3(0.5, -1, 0.5);
  }

  private applyLayers(): void {
    const shadows = this.layers.shadows && this.quality.quality.shadows;
    this.actors.forEach(({ assembly, springs }, k) => {
      assembly.showJoints(this.layers.joints);
      assembly.castShadows(shadows && k === 0);
      springs.castShadows(shadows && k === 0);
    });
    this.light.castShadow = shadows;
    this.floor?.showShadow(shadows);
    if (this.traces) this.traces.group.visible = this.layers.traces;
    if (this.ghosts) this.ghosts.group.visible = this.layers.ghosts;
    if (this.triads) this.triads.visible = this.layers.frames;
    this.renderer.shadowMap.needsUpdate = shadows;
  }

  private applyQuality(): void {
    this.applyLayers();
    const { ratio } = this.quality.quality;
    if (ratio !== this.renderer.getPixelRatio()) {
      this.renderer.setPixelRatio(ratio);
      this.renderer.setSize(Math.max(this.host.clientWidth, 1), Math.max(this.host.clientHeight, 1), false);
    }
  }

  /** Put everything where it is at t. */
  private place(): void {
    if (this.posed) return;
    this.posed = true;
    for (const actor of this.actors) {
      const { motion, layout, assembly, springs } = actor;
      actor.poses = posesAt(motion, layout.scene, instantOf(motion, this.t));
      assembly.place(actor.poses);
      assembly.fade((joint) => (joint.closed === null ? 1 : motion.at(joint.closed, this.t)));
      springs.place(actor.poses, (joint) => (joint.q.length > 0 ? motion.at(joint.q[0]!, this.t) : NaN));
    }
    const first = this.actors[0];
    if (first) {
      this.arrows?.place(first.motion, this.t, first.poses, this.scales, this.layers);
      this.traces?.show(this.t, this.actors.map(({ poses }) => poses));
      if (this.layers.ghosts) this.ghosts?.show();
      if (this.layers.frames) this.placeTriads(first);
    }
    this.placeBand();
    if (this.light.castShadow) this.renderer.shadowMap.needsUpdate = true;
  }

  private placeTriads({ motion, poses }: Actor): void {
    const { triads } = this;
    if (!triads) return;
    triads.count = 0;
    for (const { name } of motion.scene.bodies) {
      const pose = poses.get(name);
      if (pose) triads.setMatrixAt(triads.count++, pose);
    }
    triads.instanceMatrix.needsUpdate = true;
  }

  private matrixOf(body: string): Matrix4 {
    this.place();
    const node = this.actors[0]?.assembly.nodes.get(body);
    if (!node || !node.group.visible) throw new Error(`the body "${body}" is not drawn`);
    return node.group.matrixWorld;
  }

  private pickedOf(hit: Parameters<Assembly["picked"]>[0]): Picked | null {
    const name = hit.object.userData.spring as string | undefined;
    if (name !== undefined) return { kind: hit.object.userData.kind as Selectable, name, body: GROUND };
    return this.actors[0]?.assembly.picked(hit) ?? null;
  }

  private hover(picked: Picked | null): void {
    if (picked === HOVER_LATER) return this.requestFrame();
    if (picked?.name === this.hoveredPick?.name && picked?.kind === this.hoveredPick?.kind) return;
    this.hoveredPick = picked;
    this.hovered.set(picked, this.actors[0]?.assembly ?? null, this.actors[0]?.springs ?? null);
    this.requestFrame();
  }

  private dragged(body: string, point: Vector3, target: Vector3 | null): void {
    this.pull = target ? { body, point, target } : null;
    this.placeBand();
    this.requestFrame();
    this.onDrag(body, array(point), target ? array(target) : null);
  }

  /** The rubber band from the point that is held to the pointer. */
  private placeBand(): void {
    const { pull, band } = this;
    const pose = pull && this.actors[0]?.poses.get(pull.body);
    band.visible = Boolean(pose);
    if (!pull || !pose) return;
    const from = pull.point.clone().applyMatrix4(pose);
    const along = pull.target.clone().sub(from);
    const width = 0.22 * (this.actors[0]?.layout.radius ?? 1);
    const length = Math.max(along.length(), 1e-9);
    band.matrix.compose(from, new Rotation().setFromUnitVectors(new Vector3(0, 0, 1), along.divideScalar(length)), new Vector3(width, width, length));
    band.matrixWorldNeedsUpdate = true;
  }

  private labels(): Label[] {
    const first = this.actors[0];
    if (!first) return [];
    const labels: Label[] = [];
    const wanted = (name: string): number => (this.selectedPick?.name === name ? 20 : this.hoveredPick?.name === name ? 10 : 0);
    const add = (text: string, body: string, point: Vector, colour: string, rank: number, italic: boolean): void => {
      const pose = first.poses.get(body);
      if (pose && (this.layers.names || rank >= 10)) labels.push({ text, place: vector(point).applyMatrix4(pose), colour, rank, italic });
    };
    const { scene } = first.motion;
    for (const { name, com } of scene.bodies) add(name, name, com, this.look.text, 3 + wanted(name), false);
    for (const { name, child, childFrame, type } of scene.joints) {
      if (type !== "free") add(name, child, childFrame.r, this.look.faint, 2 + wanted(name), true);
    }
    for (const { name, body, point } of scene.points) add(name, body, point, this.look.text, 1 + wanted(name), true);
    for (const { name, bodies, points } of [...scene.springs, ...scene.cables, ...scene.distances]) {
      if (wanted(name) > 0) add(name, bodies[0]!, points[0]!, this.look.faint, wanted(name), true);
    }
    return labels;
  }
}

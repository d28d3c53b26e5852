/** The mechanism at equally spaced times of the run, faintly. */

import { Group, InstancedMesh, MeshLambertMaterial, type Matrix4 } from "three";
import { instantOf, type Motion } from "../motion";
import type { Assembly } from "./assembly";
import { GROUND } from "./names";
import { posesAt } from "./travel";

const COUNT = 7;

export class Ghosts {
  readonly group = new Group();
  private builtRows = -1;
  private readonly material = new MeshLambertMaterial({ vertexColors: true, transparent: true, opacity: 0.13, depthWrite: false });

  constructor(private readonly motion: Motion, private readonly assembly: Assembly) {}

  /** Build them when they are first shown, and again when a run has grown. */
  show(): void {
    const { motion, assembly } = this;
    if (this.builtRows >= 0 && motion.rows <= 1.1 * this.builtRows + 20 && motion.rows >= this.builtRows) return;
    this.clear();
    this.builtRows = motion.rows;
    const poses: Map<string, Matrix4>[] = Array.from({ length: COUNT }, (_, k) =>
      posesAt(motion, assembly.layout.scene, instantOf(motion, motion.begin + ((motion.end - motion.begin) * k) / (COUNT - 1))));
    for (const [name, { mesh, bodyCount }] of assembly.nodes) {
      if (bodyCount === 0 || name === GROUND) continue;
      const geometry = mesh.geometry.clone();
      geometry.setDrawRange(0, bodyCount);
      const many = new InstancedMesh(geometry, this.material, COUNT);
      many.count = 0;
      for (const pose of poses) {
        const matrix = pose.get(name);
        if (matrix) many.setMatrixAt(many.count++, matrix);
      }
      many.frustumCulled = false;
      many.raycast = () => {};
      many.renderOrder = 1;
      this.group.add(many);
    }
  }

  dispose(): void {
    this.clear();
    this.material.dispose();
    this.group.removeFromParent();
  }

  private clear(): void {
    for (const one of this.group.children) {
      (one as InstancedMesh).geometry.dispose();
      (one as InstancedMesh).dispose();
    }
    this.group.clear();
  }
}

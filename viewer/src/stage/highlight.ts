/** What is selected has an outline and a tint; what the pointer is on, a tint. */

import { BackSide, Color, Group, Mesh, MeshBasicMaterial, ShaderMaterial, Vector2, type Object3D } from "three";
import type { Assembly, Picked } from "./assembly";
import type { Springs } from "./springs";

export class Highlight {
  private readonly tint: MeshBasicMaterial;
  private readonly edge: ShaderMaterial | null;
  private readonly meshes: Mesh[] = [];

  constructor(colour: string, opacity: number, outlined: boolean) {
    this.tint = new MeshBasicMaterial({ color: colour, transparent: true, opacity, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1 });
    this.edge = outlined ? outline(new Color(colour)) : null;
  }

  set(picked: Pick<Picked, "kind" | "name"> | null, assembly: Assembly | null, springs: Springs | null): void {
    this.clear();
    if (!picked || !assembly) return;
    if (picked.kind === "spring" || picked.kind === "distance") {
      if (springs) for (const group of [springs.group, springs.distances]) this.follow(group, picked.name);
      return;
    }
    for (const { parent, mesh } of assembly.outline(picked.name, picked.kind, this.tint)) {
      this.add(parent, mesh);
      if (this.edge) this.add(parent, new Mesh(mesh.geometry, this.edge));
    }
  }

  resize(width: number, height: number): void {
    this.edge?.uniforms.size!.value.set(width, height);
  }

  clear(): void {
    const geometries = new Set(this.meshes.filter(({ userData }) => userData.own).map(({ geometry }) => geometry));
    for (const geometry of geometries) {
      // the attributes are those of the body, whose buffers must stay
      for (const name of Object.keys(geometry.attributes)) geometry.deleteAttribute(name);
      geometry.dispose();
    }
    for (const mesh of this.meshes) mesh.removeFromParent();
    this.meshes.length = 0;
  }

  dispose(): void {
    this.clear();
    this.tint.dispose();
    this.edge?.dispose();
  }

  private add(parent: Object3D, mesh: Mesh): void {
    mesh.userData.own = true;
    mesh.raycast = () => {};
    mesh.renderOrder = 3;
    parent.add(mesh);
    this.meshes.push(mesh);
  }

  /** Springs change their shape: the tint shares their geometry and place. */
  private follow(group: Group, name: string): void {
    const found: Mesh[] = [];
    group.traverse((one) => {
      if (one instanceof Mesh && one.userData.spring === name) found.push(one);
    });
    for (const one of found) {
      for (const material of this.edge ? [this.tint, this.edge] : [this.tint]) {
        const mesh = new Mesh(one.geometry, material);
        mesh.matrixAutoUpdate = false;
        mesh.matrix = one.matrix;
        mesh.frustumCulled = false;
        mesh.raycast = () => {};
        mesh.renderOrder = 3;
        mesh.onBeforeRender = () => mesh.matrixWorld.copy(one.matrixWorld);
        one.parent!.add(mesh);
        this.meshes.push(mesh);
      }
    }
  }
}

/** The back of the solid, wider by two pixels. */
function outline(colour: Color): ShaderMaterial {
  return new ShaderMaterial({
    side: BackSide,
    uniforms: { colour: { value: colour }, size: { value: new Vector2(1, 1) } },
    vertexShader: `uniform vec2 size;
void main() {
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  vec2 away = (normalMatrix * normal).xy;
  gl_Position.xy += away / max(length(away), 1e-4) * 5.0 / size * gl_Position.w;
}`,
    fragmentShader: `uniform vec3 colour;
void main() {
  gl_FragColor = vec4(colour, 1.0);
  #include <colorspace_fragment>
}`,
  });
}

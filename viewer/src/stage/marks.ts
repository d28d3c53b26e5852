/** The rubber band by which a body is pulled, and the axes of bodies. */

import { Color, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, Quaternion, Vector3, type BufferGeometry } from "three";
import { Solid } from "./geometry";

/** Of length and radius 1 along z. */
export function rubberBand(): Mesh<BufferGeometry, MeshBasicMaterial> {
  const geometry = new Solid().at(new Matrix4()).lathe([[1, 0], [1, 1]], false, 8).build();
  const mesh = new Mesh(geometry, new MeshBasicMaterial({ color: "#ff9d00" }));
  mesh.matrixAutoUpdate = false;
  mesh.visible = false;
  mesh.frustumCulled = false;
  mesh.raycast = () => {};
  return mesh;
}

/** Axes x, y, z in red, green and blue, for each body. */
export function frames(count: number, length: number): InstancedMesh<BufferGeometry, MeshBasicMaterial> {
  const solid = new Solid();
  for (const [k, colour] of ["#d55e00", "#009e73", "#3a8fd0"].entries()) {
    const axis = new Vector3(k === 0 ? 1 : 0, k === 1 ? 1 : 0, k === 2 ? 1 : 0);
    const turn = new Matrix4().makeRotationFromQuaternion(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), axis));
    solid.in({ colour: new Color(colour), metal: 0 }).at(turn).lathe([[0.05 * length, 0], [0.05 * length, 0.8 * length], [0.12 * length, 0.8 * length], [0, length]], false, 8);
  }
  const mesh = new InstancedMesh(solid.build(), new MeshBasicMaterial({ vertexColors: true }), Math.max(count, 1));
  mesh.frustumCulled = false;
  mesh.raycast = () => {};
  return mesh;
}

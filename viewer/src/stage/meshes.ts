/** Meshes of shapes as geometries. */

import { BufferAttribute, BufferGeometry } from "three";
import { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";
import type { Mesh } from "../payload";
import { unpackFloats, unpackIndices } from "../unpack";

const MOST = 60000; // triangles whose sharp edges are found
const SHARP = 0.55; // rad between triangles

export async function geometryOf(mesh: Mesh): Promise<BufferGeometry> {
  const [vertices, triangles] = await Promise.all([unpackFloats(mesh.vertices), unpackIndices(mesh.triangles)]);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(vertices, 3));
  geometry.setIndex(new BufferAttribute(triangles, 1));
  if (triangles.length < 3 * MOST) return toCreasedNormals(geometry, SHARP);
  geometry.computeVertexNormals();
  return geometry;
}

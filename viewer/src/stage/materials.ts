/**
 * How surfaces look: paint or metal, by the vertex, so that one material serves a whole mechanism.
 *
 * What they reflect is a studio of a bright sky, a floor and two soft lamps, computed from the direction: a map of
 * surroundings would have to be filtered when the page opens, which takes many seconds where there is no graphics card.
 */

import { Color, MeshLambertMaterial, Vector3, type IUniform } from "three";

/** Directions in the world, shared by all materials of a stage. */
export interface Studio {
  up: IUniform<Vector3>;
  key: IUniform<Vector3>; // towards the main lamp
  fill: IUniform<Vector3>;
  bright: IUniform<number>;
}

export function studio(up: Vector3): Studio {
  return { up: { value: up }, key: { value: up.clone() }, fill: { value: up.clone() }, bright: { value: 1 } };
}

const REFLECTION = `
vec3 seen = normalize(vViewPosition);
vec3 mirrored = normalize((vec4(reflect(-seen, normal), 0.0) * viewMatrix).xyz);
float sky = mix(0.22, 0.85, smoothstep(-0.25, 0.35, dot(mirrored, studioUp)));
float lamps = 1.5 * pow(max(dot(mirrored, studioKey), 0.0), mix(28.0, 14.0, vMetal)) + 0.6 * pow(max(dot(mirrored, studioFill), 0.0), 12.0);
vec3 base = mix(vec3(0.045), diffuseColor.rgb, vMetal);
vec3 fresnel = base + (1.0 - base) * 0.35 * pow(1.0 - max(dot(normal, seen), 0.0), 5.0);
outgoingLight = outgoingLight * (1.0 - 0.75 * vMetal) + studioBright * fresnel * (sky + lamps);
#include <opaque_fragment>`;

/** One colour for all instead of the vertices': of a run that is overlaid. */
export function solidMaterial(surroundings: Studio, colour?: string): MeshLambertMaterial {
  const material = new MeshLambertMaterial(colour === undefined ? { vertexColors: true } : { color: new Color(colour) });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, {
      studioUp: surroundings.up, studioKey: surroundings.key, studioFill: surroundings.fill, studioBright: surroundings.bright,
    });
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nattribute float metal;\nvarying float vMetal;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvMetal = metal;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying float vMetal;\nuniform vec3 studioUp, studioKey, studioFill;\nuniform float studioBright;")
      .replace("#include <opaque_fragment>", REFLECTION);
  };
  return material;
}

export function see(material: MeshLambertMaterial, opacity: number): MeshLambertMaterial {
  material.transparent = opacity < 1;
  material.opacity = opacity;
  material.depthWrite = opacity >= 1;
  return material;
}

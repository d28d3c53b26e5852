/** The parts of a scene as the inspector lists them: facts, neighbours and columns of each. */

import type { Motion } from "../motion";
import type { Body, Cable, Joint, PointOfInterest, Scene, Spring, Vector, Wrench } from "../payload";
import type { IconName } from "./icons";
import { digits, withUnit } from "./numbers";

export type Kind = "body" | "joint" | "spring" | "distance" | "coupling" | "force" | "wrench" | "point";

export interface Selection {
  kind: Kind;
  name: string;
}

/** A fact in words, or links to other parts. */
export type Fact = { label: string; text: string } | { label: string; links: Selection[] };

export interface Part extends Selection {
  icon: IconName;
  /** One or two words behind the name in the list. */
  summary: string;
  facts: Fact[];
  /** Owners of its columns: "A" owns "A.q" and "der(A.q)". */
  owners: string[];
}

/** Columns that belong together, as the three of a force. */
export interface ColumnGroup {
  symbol: string; // "f"
  text: string; // "reaction force"; "" where the symbol says all
  columns: string[];
  unit: string;
}

export const KIND_TITLES: Record<Kind, string> = {
  body: "Bodies",
  joint: "Joints",
  spring: "Forces between points",
  distance: "Rods of fixed length",
  coupling: "Couplings",
  force: "Forces in joints",
  wrench: "Loads",
  point: "Points",
};

/** All parts, in the order of `KIND_TITLES` and of the description. */
export function partsOf(scene: Scene): Part[] {
  return [
    ...scene.bodies.map((body) => bodyPart(body, scene)),
    ...scene.joints.map((joint) => jointPart(joint, scene)),
    ...scene.springs.map(springPart),
    ...scene.cables.map(cablePart),
    ...scene.distances.map(({ name, bodies }) => between("distance", "distance", name, bodies)),
    ...scene.couplings.map(({ name, terms }) => ({
      ...part("coupling", "coupling", name, `${terms.length} joints`),
      facts: [{ label: "Joints", links: distinct(terms.map((term) => term.joint)).map(link("joint")) }],
    })),
    ...scene.forces.map(({ name, title, formula, joints }) => ({
      ...part("force", "spring", name, title),
      facts: [
        { label: joints.length > 1 ? "Joints" : "Joint", links: joints.map(link("joint")) },
        { label: "Formula", text: formula },
      ],
    })),
    ...scene.wrenches.map(wrenchPart),
    ...scene.points.map(pointPart),
  ];
}

function part(kind: Kind, icon: IconName, name: string, summary: string): Part {
  return { kind, icon, name, summary, facts: [], owners: [name] };
}

function bodyPart(body: Body, scene: Scene): Part {
  const held = scene.joints.filter(({ parent, child }) => parent === body.name || child === body.name);
  const mass = withUnit(digits(body.mass), "kg");
  const facts: Fact[] = [
    { label: "Mass", text: mass },
    { label: "Centre of mass", text: vectorText(body.com) },
  ];
  if (body.box) facts.push({ label: "Equimomental box", text: withUnit(body.box.size.map((edge) => digits(edge)).join(" \u00d7 "), "m") });
  if (held.length) facts.push({ label: "Joints", links: held.map(({ name }) => ({ kind: "joint", name })) });
  return { ...part("body", "body", body.name, mass), facts };
}

function jointPart(joint: Joint, scene: Scene): Part {
  const facts: Fact[] = [
    { label: "Type", text: joint.title },
    { label: "Parent", links: [{ kind: "body", name: joint.parent }] },
    { label: "Child", links: [{ kind: "body", name: joint.child }] },
  ];
  if (joint.parameter) facts.push({ label: joint.parameter.label, text: withUnit(digits(joint.pitch), joint.parameter.unit) });
  const extras = [joint.spring && "spring", joint.damper && "damper"].filter(Boolean);
  if (extras.length) facts.push({ label: "In the joint", text: extras.join(", ") });
  const forces = scene.forces.filter(({ joints }) => joints.includes(joint.name));
  if (forces.length) facts.push({ label: "Forces", links: forces.map(({ name }) => ({ kind: "force", name })) });
  if (joint.cut) facts.push({ label: "Loop", text: "this joint closes a loop" });
  const summary = joint.title + (joint.cut ? ", closes a loop" : "");
  return { ...part("joint", joint.type, joint.name, summary), facts, owners: [joint.name, `loop.${joint.name}`] };
}

function springPart(spring: Spring): Part {
  const made = between("spring", "spring", spring.name, spring.bodies);
  if (spring.mount) return { ...made, summary: spring.title };
  if (spring.title) {
    return { ...made, summary: spring.title, facts: [...made.facts, { label: "Formula", text: spring.formula }] };
  }
  const facts: Fact[] = [
    { label: "Stiffness", text: withUnit(digits(spring.stiffness), "N/m") },
    { label: "Damping", text: withUnit(digits(spring.damping), "N.s/m") },
    { label: "Free length", text: withUnit(digits(spring.free), "m") },
  ];
  return { ...made, summary: spring.stiffness ? withUnit(digits(spring.stiffness), "N/m") : "damper", facts: [...made.facts, ...facts] };
}

function cablePart({ name, title, bodies, formula }: Cable): Part {
  const facts = [{ label: "Through", links: distinct(bodies).map(link("body")) }, { label: "Tension", text: formula }];
  return { ...part("spring", "spring", name, title), facts };
}

function between(kind: Kind, icon: IconName, name: string, bodies: [string, string]): Part {
  return { ...part(kind, icon, name, bodies.join(" \u2013 ")), facts: [{ label: "Between", links: bodies.map(link("body")) }] };
}

function wrenchPart(wrench: Wrench): Part {
  return {
    ...part("wrench", "wrench", wrench.name, `on ${wrench.body}`),
    facts: [
      { label: "Acts on", links: [{ kind: "body", name: wrench.body }] },
      { label: "At", text: vectorText(wrench.point) },
    ],
  };
}

function pointPart(point: PointOfInterest): Part {
  return {
    ...part("point", "point", point.name, `on ${point.body}`),
    facts: [
      { label: "Fixed to", links: [{ kind: "body", name: point.body }] },
      { label: "At", text: vectorText(point.point) },
    ],
  };
}

function link(kind: Kind): (name: string) => Selection {
  return (name) => ({ kind, name });
}

function distinct(names: string[]): string[] {
  return [...new Set(names)];
}

function vectorText(vector: Vector): string {
  return withUnit(`(${vector.map((value) => digits(value)).join(", ")})`, "m");
}

/** What a symbol stands for, behind it; symbols that are words need none. */
const QUANTITIES: Record<string, string> = {
  q: "coordinate",
  u: "speed",
  a: "acceleration",
  tau: "driving load",
  f: "reaction force",
  t: "reaction torque",
  r: "position",
  Q: "orientation",
  v: "velocity",
  w: "angular velocity",
  F: "force",
  T: "torque",
  force: "",
  length: "",
  rate: "of the length",
  load: "",
  residual: "of the loop",
  conditioning: "of the loop",
};

/** "der(A.q[1])" is of owner "A", symbol "q"; null for columns that are nobody's, as "time". */
export function ownerOf(column: string): { owner: string; symbol: string; derivative: boolean } | null {
  const inner = /^der\((.*)\)$/s.exec(column)?.[1];
  const found = /^(.+)\.([^.[\]]+)(\[\d+\])?$/s.exec(inner ?? column);
  return found ? { owner: found[1]!, symbol: found[2]!, derivative: inner !== undefined } : null;
}

/** The columns of each owner, grouped; derivatives of coordinates are left out where the acceleration says the same. */
export function groupColumns(motion: Motion): Map<string, ColumnGroup[]> {
  const groups = new Map<string, ColumnGroup[]>();
  for (const column of motion.columns()) {
    const found = ownerOf(column);
    if (!found || found.derivative) continue;
    let of = groups.get(found.owner);
    if (!of) groups.set(found.owner, (of = []));
    const unit = motion.scene.units[column] ?? "1";
    const group = of.find(({ symbol, unit: one }) => symbol === found.symbol && one === unit);
    if (group) group.columns.push(column);
    else of.push({ symbol: found.symbol, text: QUANTITIES[found.symbol] ?? "", columns: [column], unit });
  }
  for (const of of groups.values()) of.sort((a, b) => rank(a.symbol) - rank(b.symbol));
  return groups;
}

const ORDER = Object.keys(QUANTITIES);

function rank(symbol: string): number {
  const place = ORDER.indexOf(symbol);
  return place < 0 ? ORDER.length : place;
}

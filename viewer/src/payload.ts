/** The data of a page, as `linkwork/view` writes them: one scene for each mechanism, and recorded or live runs of it. */

export type Vector = [number, number, number];
/** Unit quaternion [w, x, y, z]. */
export type Quaternion = [number, number, number, number];

/** A frame in the frame of a body. */
export interface Frame {
  r: Vector; // m
  Q: Quaternion;
}

/** A shape in the frame of its body. Lengths in m; cylinders and capsules lie along z, their origin in the middle. */
export type Shape = { frame: Frame; colour?: string } & (
  | { type: "box"; size: Vector } // edges
  | { type: "cylinder"; radius: number; length: number }
  | { type: "capsule"; radius: number; length: number } // length of the cylindrical part
  | { type: "sphere"; radius: number }
  | { type: "mesh"; mesh: number } // index in Payload.meshes
);

export interface Body {
  name: string;
  mass: number; // kg
  com: Vector; // body axes
  /** Equimomental box: edges, and its axes in the body; null without inertia. */
  box: { size: Vector; Q: Quaternion } | null;
  /** Points at which joints, springs and distances hold the body, body axes. */
  anchors: Vector[];
  shapes: Shape[]; // empty: drawn from the anchors
  r: string[]; // columns of the position of its origin, three
  Q: string[]; // columns of its quaternion, four
}

/** Types that have a drawing: `DRAWN` in linkwork/mechanism/joints.py. */
export type JointType =
  | "fixed" | "revolute" | "prismatic" | "universal" | "cylindrical" | "planar" | "spherical" | "free" | "screw"
  | "pin_in_slot" | "curved_slide" | "curved_slot" | "path_slide" | "path_slot";

export interface Joint {
  name: string;
  type: JointType; // as which it is drawn
  title: string;
  keeps: "all" | "z" | "angle" | ""; // what stays of the orientation of the child
  parameter: { label: string; unit: string } | null; // its value is `pitch`
  parent: string; // a body or "ground"
  child: string;
  parentFrame: Frame;
  childFrame: Frame;
  /** Axes in the joint frame: the pin's or slide's first. `parentFrame` and `childFrame` have the axis along z. */
  axes: Vector[];
  cut: boolean; // it closes a loop
  pitch: number; // of a screw, m/rad; radius of a circle, m
  /** Points of the curve along which the child slides, in `parentFrame`; none of other joints. */
  guide: Vector[];
  q: string[]; // columns of its coordinates
  u: string[]; // and of its speeds
  f: string[]; // reaction force on the child at its joint frame, world axes, three columns
  t: string[]; // reaction torque
  spring: boolean; // it has stiffness
  damper: boolean;
  closed: string | null; // column that is 1 while the joint is closed; null: always
}

export interface Spring {
  name: string;
  title: string; // of a force by a formula, which is drawn as a spring, and of a bushing what it is; else empty
  mount: boolean; // a bushing, whose force has any direction
  formula: string;
  bodies: [string, string];
  points: [Vector, Vector];
  stiffness: number;
  damping: number;
  free: number; // m
  force: string; // column, pulling is positive
}

/** A force along a line through points of bodies; a factor for each piece, 0: there is none. */
export interface Cable {
  name: string;
  title: string;
  formula: string;
  bodies: string[];
  points: Vector[];
  factors: number[];
  force: string; // column of its tension, which a piece has by its factor
}

/** A straight piece of a cable. */
export interface Piece {
  name: string;
  bodies: [string, string];
  points: [Vector, Vector];
  force: string;
  factor: number;
}

export function piecesOf(cables: Cable[]): Piece[] {
  return cables.flatMap(({ name, bodies, points, factors, force }) =>
    factors.flatMap((factor, k): Piece[] =>
      factor ? [{ name, bodies: [bodies[k]!, bodies[k + 1]!], points: [points[k]!, points[k + 1]!], force, factor }] : [],
    ),
  );
}

export interface Distance {
  name: string;
  bodies: [string, string];
  points: [Vector, Vector];
  force: string;
}

/** A coupling of two rotations about fixed parallel axes is drawn as gears, others only listed. */
export interface Coupling {
  name: string;
  terms: { joint: string; element: number; coefficient: number }[];
  load: string;
}

export interface Wrench {
  name: string;
  body: string;
  point: Vector; // body axes
  F: string[]; // columns, world axes; empty: the constant 0
  T: string[];
}

/** A force by a formula in joints, which is listed and not drawn. */
export interface JointForce {
  name: string;
  title: string;
  formula: string;
  joints: string[];
}

/** The abscissae of a table of a formula, of its first argument. */
export interface Table {
  knots: number[]; // empty: too many to be drawn
  span: [number, number];
  periodic: boolean;
  dots: boolean; // it has no other argument, and they are drawn
}

/** A result of the formula of a force, which the core evaluates for the page. */
export interface Characteristic {
  force: string;
  result: number;
  label: string;
  unit: string;
  arguments: string[]; // columns, in the order of the core
  over: number[]; // of these, those over which it may be drawn; by default the first one
  tables: Table[];
}

export interface PointOfInterest {
  name: string;
  body: string; // or "ground"
  point: Vector;
  axis: Vector | null; // unit, body axes
}

/** All that is drawn, without its motion. Bodies are drawn by their columns; "ground" does not move. */
export interface Scene {
  name: string;
  size: number; // m, a length that is typical of the whole
  gravity: Vector;
  bodies: Body[];
  joints: Joint[];
  springs: Spring[];
  cables: Cable[];
  distances: Distance[];
  couplings: Coupling[];
  wrenches: Wrench[];
  forces: JointForce[];
  points: PointOfInterest[];
  characteristics: Characteristic[];
  model: string; // packed bytes of the model for these, in pages of results; else empty
  groundShapes: Shape[];
  residuals: string[]; // columns of loop residuals, m
  conditioning: string[];
  energies: string[];
  units: Record<string, string>; // of the columns
  warnings: string[]; // what the viewer should say, as meshes that were left out
}

/** An event of a run. */
export interface RunEvent {
  t: number; // s
  text: string; // "stop: impact at A.q = 1.2 rad"
}

/** A recorded run: columns of numbers. `values` is column after column, in the order of `columns`, `rows` each. */
export interface RecordedRun {
  label: string;
  scene: number; // index in Payload.scenes
  rows: number;
  rowsOfResult: number; // before rows were left out
  columns: string[]; // "time" is the first
  events: RunEvent[];
  message: string; // why it ended; "" at the end of the wanted span
  values: string; // packed, see unpack.ts
}

/** A number of the model's block that can be changed. */
export interface Setting {
  name: string; // "crank.m"
  offset: number; // in the block
  value: number; // as compiled
  unit: string;
  minimum: number | null; // no value below is valid
  maximum: number | null;
}

/** A mechanism that the page simulates. */
export interface LiveModel {
  scene: number;
  model: string; // packed bytes for lw_model_load
  t_end: number; // s
  rtol: number;
  atol: number;
  rows_per_second: number; // rows of the run
  parameters: Setting[];
  inputs: Setting[];
  start: Setting[]; // start guesses of coordinates and speeds
  priorities: { name: string; offset: number }[]; // q_priority, by name of the coordinate
  given: string[]; // start values that the description gives, in their order
  columns: Record<string, number>; // offsets of all that the page may show
  drag: Record<string, { point: number; force: number }>; // by body: offsets of a wrench's point and force
}

export interface Mesh {
  vertices: string; // packed float32, xyz
  triangles: string; // packed uint32
}

export interface Payload {
  format: 1;
  title: string;
  version: string; // of Linkwork
  scenes: Scene[];
  runs: RecordedRun[];
  live: LiveModel | null;
  core: string | null; // packed WebAssembly module; null without a live model and characteristics
  meshes: Mesh[];
}

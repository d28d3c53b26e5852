"""The page of documentation inside an FMU: what the mechanism is, how it is computed, and how the FMU is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from linkwork._util.names import number_of
from linkwork.fmu.export.content import Causality, Content, Entry
from linkwork.fmu.export.pictures import MOST_BODIES, live_page, picture
from linkwork.fmu.export.reference_files import NOTE
from linkwork.fmu.export.reference_run import NoReference, Reference
from linkwork.mechanism import Coupling, Mechanism
from linkwork.mechanism.own_states import all_states

if TYPE_CHECKING:
    from linkwork.model.model import Model

MOST_ROWS = 200  # of a table
_STYLE = """body { font: 15px/1.5 sans-serif; color: #222; max-width: 62em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 0.6em 0 1.4em } h3 { margin-bottom: 0 }
td, th { border-bottom: 1px solid #ddd; text-align: left; padding: 2px 14px 2px 0; vertical-align: top }
.eq { margin: 0.7em 2em; font: italic 17px serif } .eq sub, .eq sup { font-style: normal }
svg { max-width: 100%; height: auto } figure { margin: 1em 0 }
figcaption, .note { color: #666; font-size: 13px } dt { font-weight: bold; margin-top: 0.5em }"""

LIVE = "live.html"
_LIVE_NOTE = f'<p><a href="{LIVE}">The mechanism in motion</a>: a page that simulates it, without a network.</p>'
_VIEW_NOTE = (
    '<p class="note">The command <code>linkwork view</code> with this FMU writes a page that shows the mechanism in '
    "motion and simulates it.</p>"
)


def documentation_files(
    content: Content, system: Model, live: bool = False, reference: Reference | NoReference | None = None
) -> dict[str, bytes]:
    """Return the page by its path in the archive, and on request the one that simulates the mechanism."""
    found = {"documentation/index.html": index_page(content, system, live, reference).encode()}
    if live:
        end, tolerance = content.experiment.stop, content.experiment.tolerance
        found[f"documentation/{LIVE}"] = live_page(system, end, tolerance).encode()
    return found


def index_page(
    content: Content, system: Model, live: bool = False, reference: Reference | NoReference | None = None
) -> str:
    """Return the page; it is well-formed XML as well, and needs no other file but the one that it links to."""
    name = escape(content.name)
    parts = [
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"/><title>{name}</title>',
        f"<style>{_STYLE}</style></head>\n<body>\n<h1>{name}</h1>",
        f"<p>{_summary(system)} Written by {escape(content.tool)}.</p>",
        _figure(system),
        _LIVE_NOTE if live else _VIEW_NOTE,
        _mechanism(system),
        EQUATIONS,
        _events(system.mechanism),
        USE,
        _reference(reference),
        "<h2>Variables</h2>",
        *(_variables(title, content.each(causality)) for title, causality in _KINDS),
        CONVENTIONS,
        "</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


_KINDS: tuple[tuple[str, Causality], ...] = (
    ("Inputs", "input"),
    ("Outputs", "output"),
    ("Parameters and start values", "parameter"),
)


_OTHERS = "Couplings, distances, forces, points of interest, outputs"


def _summary(system: Model) -> str:
    s = system.sizes
    loops = number_of(s.loops, "closed loop") if s.loops else "no closed loop"
    return (
        f"A mechanism of {number_of(s.bodies, 'rigid body', 'rigid bodies')} and {number_of(s.joints, 'joint')} with "
        f"{loops}: {s.nq + s.nu} coordinates and speeds of its spanning tree"
        + (f", and {number_of(s.formula_states, 'state')} of elements." if s.formula_states else ".")
    )


def _figure(system: Model) -> str:
    drawing = picture(system)
    if drawing is None:
        return (
            '<p class="note">There is no picture: with the start values given, the mechanism cannot be assembled.</p>'
        )
    count = len(system.mechanism.bodies)
    caption = "The mechanism as it is assembled at its start: joints by their signs, the ground hatched, a dot at each "
    caption += "centre of mass."
    if count > MOST_BODIES:
        caption += f" Of {count} bodies {MOST_BODIES} are drawn."
    return f"<figure>\n{drawing}\n<figcaption>{caption}</figcaption>\n</figure>"


# ---- the mechanism ----------------------------------------------------------------------------------


def _coupling(one: Coupling) -> str:
    formula = "" if one.formula is None else f": {' '.join(one.formula.split())}"
    return f"coupling of {', '.join(one.terms)}{formula}"


def _mechanism(system: Model) -> str:
    mech, cut = system.mechanism, set(system.numbering.cut)
    bodies = ((name, f"{body.mass:.6g}", _vector(body.com)) for name, body in mech.bodies.items())
    joints = (
        (name, type(joint.kind).__name__, joint.parent, joint.child, "cut: closes a loop" if name in cut else "tree")
        for name, joint in mech.joints.items()
    )
    kinds = Counter(type(joint.kind).__name__ for joint in mech.joints.values())
    others = [
        *((one.name, _coupling(one)) for one in islice(mech.couplings.values(), MOST_ROWS)),
        *((d.name, f"distance of {' and '.join(d.bodies)}") for d in islice(mech.distances.values(), MOST_ROWS)),
        *((force.label, _on(force.joint_names, force.body_names)) for force in islice(mech.forces, MOST_ROWS)),
        *((one.name, f"point of interest on {one.body}") for one in islice(mech.points.values(), MOST_ROWS)),
        *((m.name, f"{m.quantity} of {' and '.join(m.points)}") for m in islice(mech.measures.values(), MOST_ROWS)),
        *((one.variable, f"state: d/dt = {one.formula}") for one in islice(all_states(mech), MOST_ROWS)),
        *((one.name, f"output: {one.formula}") for one in islice(mech.outputs.values(), MOST_ROWS)),
    ]
    return "\n".join(
        (
            "<h2>Mechanism</h2>",
            _table(("body", "mass, kg", "centre of mass, m"), bodies, len(mech.bodies), "Bodies"),
            "<p>" + ", ".join(f"{count} {escape(kind)}" for kind, count in kinds.most_common()) + ".</p>",
            _table(("joint", "type", "parent", "child", "role"), joints, len(mech.joints), "Joints"),
            _loops(system),
            _table(("name", "what it is"), others, len(others), _OTHERS) if others else "",
        )
    )


def _on(joints: Sequence[str], bodies: Sequence[str]) -> str:
    return f"in joint {', '.join(joints)}" if joints else f"on {' and '.join(bodies)}"


def _vector(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in values)


def _loops(system: Model) -> str:
    """Which joints each loop has."""
    graph, names = system.topology, list(system.mechanism.joints)

    def rows() -> Iterator[tuple[str, str]]:
        for loop in graph.loops:
            around = graph.around(loop)
            listed = ", ".join(names[graph.links[link].joint] for link in around[:12])
            yield names[loop.joint], listed + (f" and {len(around) - 12} more" if len(around) > 12 else "")

    return _table(("closed by", "with"), rows(), len(graph.loops), "Loops") if graph.loops else ""


def _events(mech: Mechanism) -> str:
    if not mech.transitions:
        return ""
    rows = (
        (name, type(one.action).__name__, one.subject, repr(one.when) if one.when else "its bounds are met")
        for name, one in mech.transitions.items()
    )
    return "\n".join(
        (
            "<h2>Events</h2>",
            "<p>At an event a joint locks or opens, two bodies are pinned or hit a stop: from then on other equations "
            "hold, and the speeds may jump. The jump is an impulse in the joints that takes the kinetic energy "
            "<code>energy.lost</code>; the coordinates stay. The states are the same before and after.</p>",
            _table(("transition", "what happens", "to", "when"), rows, len(mech.transitions), ""),
        )
    )


def _reference(found: Reference | NoReference | None) -> str:
    if found is None:
        return ""
    if isinstance(found, NoReference):
        return f'<h2>Reference run</h2>\n<p class="note">The FMU carries none: {escape(found.reason)}.</p>'
    return (
        f"<h2>Reference run</h2>\n<p>The FMU carries a run to compare with: results at {found.t.size} times up to "
        f'{found.t[-1]:g} s, by {escape(found.origin)}. <a href="{NOTE}">Details</a>.</p>'
    )


# ---- tables -----------------------------------------------------------------------------------------


def _variables(title: str, entries: Iterator[Entry]) -> str:
    found = [entry.variable for entry in islice(entries, MOST_ROWS + 1)]
    rows = ((v.name, "" if v.unit == "1" else v.unit, _start(v.start), v.description) for v in found)
    heads = ("name", "unit", "start", "meaning")
    more = "The others are in modelDescription.xml." if len(found) > MOST_ROWS else ""
    return _table(heads, rows, min(len(found), MOST_ROWS), title, more) if found else ""


def _start(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], count: int, caption: str, more: str = "") -> str:
    """The first rows, and how many there are."""
    lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in islice(rows, MOST_ROWS)]
    if count > MOST_ROWS:
        more = f"The first {MOST_ROWS} of {count}."
    elif more:
        more = f"The first {MOST_ROWS}. {more}"
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    title = f"<h3>{escape(caption)}</h3>\n" if caption else ""
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    note = f'\n<p class="note">{more}</p>' if more else ""
    return f"{title}<table>\n<tr>{head}</tr>\n{body}\n</table>{note}"


EQUATIONS = """<h2>Equations</h2>
<p>The continuous states are the coordinates <i>q</i> and the speeds <i>u</i> of all joints of the spanning tree,
which is
the mechanism with its cut joints open. The FMU integrates</p>
<p class="eq">q&#775; = N(q) (u* − γ Y<sup>+</sup> Φ(q, t))</p>
<p class="eq">u&#775; = a − α (u − u*), &#8195; u* = u − Y<sup>+</sup> (Y u − c)</p>
<p>in which the accelerations <i>a</i> are those of the equations of motion with the loops closed,</p>
<p class="eq">M(q) a + h(q, u, t) = τ + Y<sup>T</sup> λ, &#8195; Y a = b</p>
<p class="eq">Φ(q, t) = 0</p>
<dl>
<dt>M, h</dt><dd>mass matrix of the tree; Coriolis and centrifugal terms, gravity, springs, dampers, applied
wrenches, actuators</dd>
<dt>τ</dt><dd>the loads in the joints, inputs such as <code>A.tau</code></dd>
<dt>Φ</dt><dd>violation of the constraints of loops, couplings, distances and prescribed motions; zero where they are
satisfied</dd>
<dt>Y, c, b</dt><dd>the derivative of Φ by the motion of the joints, Y u = c of the speeds and Y a = b of the
accelerations; c and b hold what prescribed motions and the present speeds demand</dd>
<dt>λ</dt><dd>the loads in the closures, from which the reactions in all joints follow</dd>
<dt>N</dt><dd>takes speeds to the rates of coordinates: one, but for quaternions, where
Q&#775; = ½ Q [0, ω] + (1 − |Q|²) Q keeps the length at one</dd>
<dt>γ, α</dt><dd>feedback of positions and speeds, <code>loop_gain.position</code> and <code>loop_gain.speed</code> in
1/s:
below zero they follow the mechanism's own speed, max(0.1, |u|). They only bring back to Φ = 0 what a solver's errors
have led astray: on closed loops both terms are zero, so that they change no motion. The gap that is left is
<code>loop.X.residual</code>, X the cut joint.</dd>
</dl>
<p>The tree is solved recursively, in a time that grows linearly with the number of bodies. Loops that share joints form
a cluster, solved together: its time grows linearly with its loops, and faster with its degrees of freedom where many of
them move the same links. Without loops, couplings and distances there are no Φ, λ and feedback.</p>"""

USE = """<h2>Use</h2>
<dl>
<dt>Start</dt><dd>Start values <code>A.q_start</code>, <code>A.u_start</code> are guesses: initialisation closes the
loops, keeps first the values set by the importer, then those that the mechanism gives, and finds the others. Where a
loop cannot be closed, initialisation fails, and the log names the joint and the gap.</dd>
<dt>Parameters</dt><dd>Those declared tunable may be changed while the simulation runs, at events or between steps of
Co-Simulation; those declared fixed, and start values, until initialisation ends.</dd>
<dt>Model Exchange</dt><dd>Any solver of ordinary differential equations will do; no projection is needed. Loops stay
closed
as well as the tolerance is tight.</dd>
<dt>Co-Simulation</dt><dd>The FMU integrates with a step size of its own. Parameter <code>solver</code> chooses the
method,
<code>dopri5</code>, for tight tolerances <code>dop853</code>, for stiff mechanisms <code>rodas5p</code>, or
<code>auto</code>, which chooses by need; <code>tolerance</code> is relative and absolute, the latter by the sizes of
the mechanism, and where it is 0 that of the importer serves, else 1e-7. The communication step does not change the
result.</dd>
<dt>Failures</dt><dd>Values that are not finite, and calls in a wrong mode, are errors; a pose in which accelerations
are not
unique is discarded, and a shorter step may succeed. The log gives the reason.</dd>
</dl>"""

CONVENTIONS = """<h2>Conventions</h2>
<ul>
<li>SI units, angles in rad. Right-handed axes; the world is called ground. The acceleration of free fall is
<code>gravity[1..3]</code> in world axes.</li>
<li>Coordinates and speeds of a joint are of its child relative to its parent: angles and displacements along its
axis,
right-handed.</li>
<li>Orientations are unit quaternions [w, x, y, z], body to world; Q and −Q are the same.</li>
<li><code>B.r</code>, <code>B.Q</code>, <code>B.v</code>, <code>B.w</code>: position, orientation, velocity and
angular velocity of
the frame of body B, world axes.</li>
<li><code>A.f</code>, <code>A.t</code>: force and torque of joint A on its child about the origin of the joint's frame
there, world
axes; they include the driving load.</li>
<li><code>A.tau</code> drives the child forwards and the parent backwards. A spring between points pulls where its
force is
positive.</li>
<li>Inertias are about the centre of mass, in body axes.</li>
</ul>"""

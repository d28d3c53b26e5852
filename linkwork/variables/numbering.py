"""Where each joint's coordinates and speeds stand in arrays, and the inputs of each motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from linkwork._util.names import suggest
from linkwork._util.part_names import suffixes
from linkwork.core.native import Field, NativeModel
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism import Command, ForceElement, FormulaForce, Impulse, Mechanism
from linkwork.mechanism.forces import by_kind
from linkwork.mechanism.own_states import all_states


@dataclass(frozen=True)
class Numbering:
    """Slices of every joint: the tree joints in the order added, then the cut joints; forces in the order added.

    Attributes
    ----------
    q, u
        Slice of each joint by name.
    quaternions
        Slice of each quaternion among the coordinates, by name of the joint.
    tree, cut
        Names of the tree joints and of the cut joints.
    nq, nu, nq_cut, nu_cut
        Numbers of coordinates and speeds in tree joints and in cut joints.
    elements
        Names of the states of elements.
    forces, force_labels, n_force
        Where each input of a force stands behind the loads of joints, `n_force` numbers in all, by its name, as
        "push.F"; and what messages call it.
    motions, n_motion
        For each coupling that has a motion, by name, the slice of its value, rate and acceleration among the inputs of
        all couplings, `n_motion` numbers.
    commands, impulses
        Of transitions, behind the inputs of motions, `n_changes` numbers in all: where each command stands, by the name
        of the input, as "latch.command"; and each impulse and angular impulse, as "kick.impulse.f", "kick.impulse.t".
    """

    q: dict[str, slice]
    u: dict[str, slice]
    quaternions: dict[str, slice]
    tree: tuple[str, ...]
    cut: tuple[str, ...]
    nq: int
    nu: int
    nq_cut: int
    nu_cut: int
    elements: tuple[str, ...]
    forces: dict[str, slice]
    force_labels: dict[str, str]
    n_force: int
    motions: dict[str, slice]
    n_motion: int
    commands: dict[str, slice]
    impulses: dict[str, slice]
    n_changes: int

    @cached_property
    def n_states(self) -> int:
        """Continuous states: coordinates and speeds of the tree joints, then states of elements."""
        return self.nq + self.nu + len(self.elements)

    @cached_property
    def nq_all(self) -> int:
        """Coordinates of all joints."""
        return self.nq + self.nq_cut

    @cached_property
    def nu_all(self) -> int:
        """Speeds of all joints."""
        return self.nu + self.nu_cut

    @cached_property
    def n_loads(self) -> int:
        """Loads in all joints, then the inputs of forces."""
        return self.nu_all + self.n_force

    @cached_property
    def n_inputs(self) -> int:
        """Numbers that drive the mechanism: the loads, then the inputs of motions, then those of transitions."""
        return self.n_loads + self.n_motion + self.n_changes

    @cached_property
    def driven(self) -> slice:
        """The inputs of motions among all."""
        return slice(self.n_loads, self.n_loads + self.n_motion)

    @cached_property
    def inputs(self) -> dict[str, slice]:
        """Where each input stands among them: "A", "push.F", "push.T", their elements, "grip.input", "A_drive"."""
        spans = {joint: span for joint, span in self.u.items() if span.stop > span.start}
        changes = self.commands | self.impulses
        for first, more in ((self.nu_all, self.forces), (self.n_loads + self.n_motion, changes)):
            spans |= {name: slice(first + span.start, first + span.stop) for name, span in more.items()}
        for name, span in list(spans.items()):
            if span.stop - span.start > 1:
                each = zip(suffixes(span.stop - span.start), range(span.start, span.stop), strict=True)
                spans |= {f"{name}{suffix}": slice(at, at + 1) for suffix, at in each}
        first = self.n_loads
        return spans | {drive: slice(first + s.start, first + s.stop) for drive, s in self.motions.items()}

    @cached_property
    def loads(self) -> dict[str, slice]:
        """The same of the loads alone."""
        return {name: span for name, span in self.inputs.items() if span.start < self.n_loads}

    def input_spans(self, names: Iterable[str], what: str) -> dict[str, slice]:
        """Return where inputs stand; an unknown name, and one whose numbers another gives too, are errors."""
        drive = ["drive"] if self.motions else []
        kinds = ["driven joint", *self._forces, *drive, *["transition's input"] * bool(self.commands or self.impulses)]
        return self._distinct(names, self.inputs, what, kinds)

    def load_spans(self, names: Iterable[str], what: str) -> dict[str, slice]:
        """Return the same of loads alone, without motions."""
        return self._distinct(names, self.loads, what, ["joint", *self._forces])

    @property
    def _forces(self) -> list[str]:
        return list(dict.fromkeys(self.force_labels.values()))

    def _distinct(self, names: Iterable[str], known: dict[str, slice], what: str, kinds: list[str]) -> dict[str, slice]:
        owner: dict[int, str] = {}
        spans = {}
        for name in names:
            if name not in known and _without_tau(name) not in known:
                raise MechanismNameError(f"{what}: there is no {' or '.join(kinds)} {name!r}: {suggest(name, known)}")
            span = spans[name] = _named(name, known)
            for at in range(span.start, span.stop):
                if owner.setdefault(at, name) != name:
                    common = "drive the same speed" if at < self.nu_all else "set the same number"
                    raise MechanismError(f"{what}: {owner[at]!r} and {name!r} {common}: give one of them")
        return spans

    def input_label(self, name: str, load: str) -> str:
        """Return what messages call an input; `load` is their word for those of joints."""
        at = _named(name, self.inputs).start
        if at >= self.n_loads + self.n_motion:
            return f"input {name!r}"
        if at >= self.n_loads:
            return f"motion of {name!r}"
        return (
            f"{load} of joint {name!r}" if at < self.nu_all else f"{self.force_labels[name.partition('[')[0]]} {name!r}"
        )

    def spans(self, size: int, cut: int | None) -> dict[str, slice] | None:
        """Return where each joint's numbers stand in an array over speeds or coordinates; None if it is over neither.

        Of its `size` numbers the last `cut` are of the cut joints; None: of the tree joints alone, or else of all.
        """
        both = ((self.u, self.nu, self.nu_cut), (self.q, self.nq, self.nq_cut))
        if cut is None:
            found = [slices for slices, tree, _ in both if tree == size]
            found += [slices for slices, tree, rest in both if tree + rest == size]
        else:
            found = [slices for slices, tree, rest in both if (tree + rest, rest) == (size, cut)]
        return {name: s for name, s in found[0].items() if s.start < s.stop <= size} if found else None


def number(mech: Mechanism, native: NativeModel) -> Numbering:
    """Return where the compiled model has the coordinates and speeds of all joints, and the inputs of motions."""
    names = list(mech.joints)
    tree = tuple(names[joint] for joint in sorted(native.table("link")[:, 1].tolist()))
    cut = tuple(names[joint] for joint in native.table("loop")[:, 0].tolist())
    starts = dict(zip(names, native.table("joint").tolist(), strict=True))
    kinds = {name: mech.joints[name].kind for name in (*tree, *cut)}
    q = {name: slice(starts[name][0], starts[name][0] + kind.nq) for name, kind in kinds.items()}
    u = {name: slice(starts[name][1], starts[name][1] + kind.nu) for name, kind in kinds.items()}
    sizes = native.sizes
    places = {name: kind.quaternion for name, kind in kinds.items()}
    quaternions = {
        name: slice(q[name].start + place.start, q[name].start + place.stop)
        for name, place in places.items()
        if place is not None
    }
    motions = {c.name: slice(3 * i, 3 * i + 3) for i, c in enumerate(mech.couplings.values()) if c.motion}
    counts = (sizes.nq, sizes.nu, sizes.nq_cut, sizes.nu_cut)
    n_motion = 3 * sizes.couplings  # the core counts locks and distances among them
    all_of = sizes.transitions  # those of the description, then frictions that stick
    commands = {f"{name}.command": slice(i, i + 1) for i, name in enumerate(mech.transitions)}
    impulses = {
        f"{name}.impulse.{what}": slice(all_of + 6 * i + 3 * k, all_of + 6 * i + 3 * k + 3)
        for i, (name, one) in enumerate(mech.transitions.items())
        if isinstance(one.action, Impulse)
        for k, what in enumerate("ft")
    }
    commands = {key: span for key, span in commands.items() if isinstance(mech.transitions[key[:-8]].when, Command)}
    changes = (commands, impulses, 7 * all_of)
    elements = tuple(one.variable for one in all_states(mech))
    forces = _force_inputs(mech, native)
    return Numbering(q, u, quaternions, tree, cut, *counts, elements, *forces, motions, n_motion, *changes)


def formula_kinds(kinds: Iterable[type[ForceElement]], fields: Mapping[str, Field]) -> list[type[FormulaForce]]:
    """Return those that are by formulas, in the order of the core, which is that of their formulas.

    Their first continuous outputs stand in it; those that events change, and powers, stand among other fields.
    """

    def place(kind: type[FormulaForce]) -> int:
        return next(fields[one.field].first for one in kind.fields_of("output") if not one.discrete)

    return sorted((kind for kind in kinds if issubclass(kind, FormulaForce)), key=place)


def _force_inputs(mech: Mechanism, native: NativeModel) -> tuple[dict[str, slice], dict[str, str], int]:
    """Return where inputs of forces stand behind the loads of joints, what these are called, and how many they are."""
    first = native.fields["tau"].span.stop
    spans, labels = dict[str, slice](), dict[str, str]()
    kinds = {kind: forces for kind, forces in by_kind(mech.forces).items() if forces}
    inputs = [(native.fields[one.field], one, kind) for kind in kinds for one in kind.fields_of("input")]
    for field, one, kind in sorted(inputs, key=lambda given: given[0].first):
        for k, force in enumerate(kinds[kind]):
            name, start = f"{force.name}.{one.stem}", field.first - first + k * one.count
            spans[name], labels[name] = slice(start, start + one.count), kind.input_label
    by_formulas = [force for kind in formula_kinds(kinds, native.fields) for force in kinds[kind]]
    of_formulas = ((one, name) for one in (*by_formulas, *mech.states.values()) for name in one.inputs)
    for start, (one, name) in enumerate(of_formulas, start=native.fields["formula_input"].first - first):
        spans[f"{one.name}.{name}"], labels[f"{one.name}.{name}"] = slice(start, start + 1), one.input_label
    return spans, labels, max((span.stop for span in spans.values()), default=0)


def _named(name: str, known: dict[str, slice]) -> slice:
    return known[name] if name in known else known[_without_tau(name)]


def _without_tau(name: str) -> str:
    """Return the joint, or its speed, whose load a name such as "A.tau" or "U.tau[2]" is in results and FMUs."""
    joint, tau, element = name.rpartition(".tau") if isinstance(name, str) else ("", "", "")
    return joint + element if tau and element[:1] in ("", "[") else ""

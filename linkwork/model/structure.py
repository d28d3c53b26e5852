"""The structure of a compiled mechanism, its names, and where its numbers stand."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.names import suggest
from linkwork.core.native import Block, Field
from linkwork.core.plan import Topology
from linkwork.core.tapes import RatesOfRuns
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.model.arguments import Arguments, changes_at_rest
from linkwork.model.compiled import CompiledMechanism
from linkwork.model.methods import METHODS, Choice, Expected, choices, costs_of
from linkwork.model.state_values import StateValues, check_state
from linkwork.variables.catalog import list_variables
from linkwork.variables.namer import Layout
from linkwork.variables.numbering import Numbering
from linkwork.variables.schema import Column, Variable, columns_of


class _OfThread(threading.local):
    """What a thread computes in: its block, and whether all but q and u is there as arrays without loads have it."""

    block: Block | None = None
    at_rest: bool = False


class ModelStructure:
    """The structure of a model, its names, and where its numbers stand; attributes as of `ModelBase`."""

    def __init__(self, compiled: CompiledMechanism, parameters: Mapping[str, ArrayLike] | None = None) -> None:
        self.parameters: dict[str, ArrayLike] = dict(parameters or {})
        self.mechanism = compiled.mechanism
        self.model_bytes = compiled.model_bytes
        self.method = compiled.method if isinstance(compiled.method, str) else dict(compiled.method)
        self.reference = compiled.reference
        self.corrections = compiled.corrections
        self._compiled = compiled
        self._native = compiled.native
        self.sizes = self._native.sizes
        self._own = _OfThread()

    @property
    def topology(self) -> Topology:
        """The graph of the mechanism: its spanning tree, loops and clusters."""
        return self._compiled.topology

    @property
    def numbering(self) -> Numbering:
        """Where each joint's numbers stand."""
        return self._compiled.numbering

    @cached_property
    def arguments(self) -> Arguments:
        """Reads states and loads."""
        starts = self.block().reals[self.fields["state_start"].span].copy() if self.numbering.elements else np.empty(0)
        changes = changes_at_rest(self.mechanism)
        return Arguments(self.mechanism.name, self.model_bytes, self.numbering, changes, starts)

    @property
    def _block(self) -> Block:
        """The block in which this thread computes."""
        own = self._own
        own.at_rest = False
        if own.block is None:
            own.block = self.block()
        return own.block

    @property
    def widest_topology(self) -> Topology:
        """The graph with all joints closed that may be: what depends on what, whatever is open."""
        return self._compiled.widest_topology

    @property
    def removable_joints(self) -> tuple[int, ...]:
        """Positions of the joints that transitions open and close."""
        return self._compiled.removable_joints

    @property
    def open_joints(self) -> frozenset[int]:
        """Those of them that are open at first."""
        return self._compiled.open_joints

    @property
    def clusters(self) -> int:
        """Number of groups of loops, couplings and distances that share joints."""
        return self._compiled.clusters

    @property
    def free_joints(self) -> tuple[int, ...]:
        """Positions of the joints in no loop, coupling or distance; fixed ones too."""
        return self._compiled.free_joints

    @cached_property
    def captured_frames(self) -> list[int]:
        """Of each joint the frame that is found when it closes: 0 none, or CAPTURED_PARENT, CAPTURED_CHILD."""
        found: list[int] = self._native.table("joint")[:, 3].tolist()
        return found

    @property
    def rates_of_runs(self) -> RatesOfRuns:
        """Compiled tapes that give the rates of one state at a time to runs."""
        return self._compiled.rates_of_runs

    def block(self) -> Block:
        """Return a new block of numbers for this system, independent of all others."""
        return Block(self._native)

    @property
    def levels(self) -> int:
        """Number of levels at which divide and conquer joins subassemblies until one has all bodies."""
        return self._native.levels

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The method that was chosen for each cluster of loops, and what others would cost."""
        return choices(self.mechanism, self.topology, self._native, self.method)

    def whole_costs(self) -> tuple[dict[str, float], dict[str, str]]:
        """Return the expected multiplications of each method for the whole mechanism, and why others cannot take it."""
        return costs_of(self._native, -1, tuple(METHODS))

    @property
    def expected(self) -> list[Expected]:
        """What each cluster of loops is expected to be like."""
        return self._compiled.expected

    def enter(self, block: Block, state: StateValues) -> None:
        """Bring a block to a state, without loads."""
        check_state(state)
        q, u = self.arguments.states(state, None)
        if self.sizes.transitions:
            block.put_discrete_state(state.discrete_state)
        block.count_revolutions(self.arguments.turns(state))
        block.enter(q, u, self.arguments.with_motions(state, self.arguments.no_loads), state.time)

    @cached_property
    def initial_discrete_state(self) -> FloatArray:
        """The discrete state before any event, (n_discrete,)."""
        return self.block().discrete_state

    # ---- names ----

    @property
    def layout(self) -> Layout:
        """What the catalogue of variables must know."""
        return Layout(self.mechanism, self.widest_topology, self.numbering, self.fields, self.sizes)

    @property
    def fields(self) -> Mapping[str, Field]:
        """Fields of the core's block by name."""
        return self._native.fields

    @cached_property
    def variables(self) -> list[Variable]:
        """All variables by which parameters, inputs, states and outputs are known."""
        return list_variables(self.layout, self.block().reals)

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Where each quantity stands in the block, by name, with and without index."""
        return columns_of(self.variables)

    @cached_property
    def listed_names(self) -> list[str]:
        """Names of the inputs, states, derivatives and outputs: the columns of a result, and a loop over a state."""
        return [v.name for v in self.variables if v.kind in ("input", "state", "derivative", "output")]

    @cached_property
    def q_names(self) -> list[str]:
        """Names of the coordinates of the tree joints."""
        return [v.name for v in self.variables if v.kind == "state" and self._within("q", v)]

    @cached_property
    def u_names(self) -> list[str]:
        """Names of the speeds of the tree joints."""
        return [v.name for v in self.variables if v.kind == "state" and self._within("u", v)]

    @property
    def element_names(self) -> list[str]:
        """Names of the states of elements, in the order added."""
        return list(self.numbering.elements)

    def _within(self, field: str, variable: Variable) -> bool:
        span = self.fields[field].span
        return bool(span.start <= variable.reference < span.stop)

    @property
    def joint_names(self) -> list[str]:
        """Names of all joints in the order added."""
        return list(self.mechanism.joints)

    @cached_property
    def body_numbers(self) -> dict[str, int]:
        """The number of each body by name, in the order added."""
        return {name: number for number, name in enumerate(self.mechanism.bodies)}

    @property
    def loop_names(self) -> list[str]:
        """The joint that closes each loop."""
        return list(self.numbering.cut)

    @property
    def coupling_names(self) -> list[str]:
        """Names of the couplings, drives among them, in the order added."""
        return list(self.mechanism.couplings)

    @property
    def distance_names(self) -> list[str]:
        """Names of the distances, in the order added."""
        return list(self.mechanism.distances)

    def column(self, name: str) -> Column:
        """Return where a quantity is in the state.

        Parameters
        ----------
        name
            Of a variable, such as "A.q" or "rod.r".

        Returns
        -------
        Column
            Its first number, count and unit.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.column("rod.r").count
        3
        """
        if name not in self.columns:
            raise MechanismNameError(f"there is no variable {name!r}: {suggest(name, self.columns)}")
        return self.columns[name]

    def by_joint(self, array: ArrayLike) -> dict[str, float | FloatArray]:
        """Return the entries of an array by joint name.

        Parameters
        ----------
        array
            (..., nu) or (..., nq) over the speeds or coordinates of the tree joints, as the functions of a system
            return it (the cut joints' values come along), or (..., joints, 6), as `reactions` returns it.

        Returns
        -------
        dict
            By joint name a number (...), or an array (..., n) for a joint of several coordinates or speeds.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> float(model.by_joint([14.7])["A"])
        14.7
        """
        given = np.asarray(array)
        cut = getattr(array, "cut", None)
        if cut is None and given.shape[-2:] == (len(self.joint_names), 6):
            return {name: given[..., j, :] for j, name in enumerate(self.joint_names)}
        values = np.atleast_1d(given if cut is None else np.concatenate([given, cut], axis=-1))
        spans = self.numbering.spans(values.shape[-1], None if cut is None else cut.shape[-1])
        if spans is None:
            n = self.numbering
            also = f" or their {n.nq} coordinates" if n.nq != n.nu else ""
            raise MechanismError(
                f"an array of shape {given.shape} is not over the {n.nu} speeds of the tree joints{also}"
            )
        return {name: values[..., s if s.stop - s.start > 1 else s.start] for name, s in spans.items()}

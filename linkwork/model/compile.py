"""From a description to a model: the user's `compile`."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork._util.keywords import checks_keywords
from linkwork.errors import MechanismError, RoundingWarning
from linkwork.mechanism import Mechanism
from linkwork.mechanism.plausibility import warn
from linkwork.model.base import ModelBase
from linkwork.model.compiled import CompiledMechanism, compile_mechanism
from linkwork.model.corrections import describe_corrections, is_large
from linkwork.model.methods import MethodRequest
from linkwork.model.model import Model


@checks_keywords
def compile(mechanism: Mechanism, method: MethodRequest = "auto", reference: str = "auto") -> Model:
    """Compile a mechanism.

    Parameters
    ----------
    mechanism
        The description; later changes to it do not reach the system.
    method
        How loops are solved: "rcr", recursive coordinate reduction (Anderson and Critchley 2003), "embedding",
        constraint embedding (Jain 2012), each with the loops that share joints together; "multipliers", Lagrange
        multipliers of all loops at once on the open tree, whose cost grows with the cube of their number; "dca", divide
        and conquer (Mukherjee and Anderson 2007), which joins bodies to ever larger subassemblies and whose long way is
        the logarithm of their number, so that threads can share it (LINKWORK_THREADS in the environment); or "auto",
        for each group of loops that share joints whichever of the first two is expected to cost less. A dictionary
        gives the method of some groups by the name of any of their joints, as in ``{"C": "embedding"}``.
        `Model.explain` reports the choice and its reason.
    reference
        The point of each body about which "multipliers" takes inertias, wrenches and constraints (Kang and Yoon 2003):
        "joint", that of the joint that carries it; "centroid", its centre of mass; "origin", the one that passes the
        world's origin, which costs least and loses about 2 log10(distance/size) digits far from it. "auto" is "joint",
        which the other methods use.

    Returns
    -------
    Model
        Ready to assemble, compute and simulate.

    Warns
    -----
    LinkworkWarning
        On a legal description that is nearly surely a mistake, such as a start angle in degrees; a `RoundingWarning`
        where frames of joints were changed by more than 1e-9 rad or m to make loops exact, see `Model.corrections`.

    Raises
    ------
    MechanismError
        If the description is wrong or asks for an unsupported feature, or if a method cannot; the text names the
        body or joint.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> model = lw.compile(mech)
    >>> model
    Model('pendulum': 1 bodies, 1 joints, 0 loops, 2 states)
    """
    compiled = compile_mechanism(mechanism, method, reference)
    warn(mechanism, _rounding_warnings(compiled))
    return Model(compiled)


def _rounding_warnings(compiled: CompiledMechanism) -> Iterator[RoundingWarning]:
    if is_large(compiled.corrections):
        yield RoundingWarning(
            f"mechanism {compiled.mechanism.name!r}: its loops move or close only with exact frames, and "
            f"{describe_corrections(compiled.corrections)}; give axes, rotations and points with all digits, or, where "
            "they are meant, joints that allow for it, such as Spherical or Cylindrical"
        )
    if compiled.inexact_loop:
        yield RoundingWarning(
            f"mechanism {compiled.mechanism.name!r}: the loop closed by joint {compiled.inexact_loop!r}, alone or with "
            "others, nearly moves: along the way it is open by less than 0.001 rad or of its length, and no change of "
            "frames by 0.0001 closes it; give axes, rotations and points with more digits, or, where the gap is meant, "
            "joints that allow for it"
        )


def model_of(mechanism: Mechanism | ModelBase) -> Model:
    """Return the model of a mechanism, or a model as it is: the first argument of analyses."""
    if isinstance(mechanism, Mechanism):
        return compile(mechanism)
    if not isinstance(mechanism, Model):
        kind = type(mechanism).__name__
        raise MechanismError(f"mechanism must be a Mechanism (see Mechanism.load for files) or its Model, not {kind}")
    return mechanism

"""Directional and adjoint derivatives against central differences and against each other."""

from __future__ import annotations

import random
from collections.abc import Iterator

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import runnable
from linkwork.fmu.check.points import Point, point
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error
from linkwork.fmu.description import Number, Variable

_DIRECTIONAL = ("providesDirectionalDerivatives", "providesDirectionalDerivative")
_ADJOINT = "providesAdjointDerivatives"
_STEP = 1e-5  # of a difference, in sizes of the known
_COLUMNS, _OTHERS = 40, 20
_MOST = 5  # findings
_RELATIVE, _NOISE = 1e-5, 1e-11


@check("derivatives", "directional derivatives agree with central differences", dynamic=True)
def derivatives(fmu: Fmu) -> Iterator[Finding]:
    """Compare column by column, where the model is smooth."""
    kinds = [kind for kind in runnable(fmu, "ME", "CS") if fmu.description.able(kind, *_DIRECTIONAL)]
    if not kinds:
        raise NotApplicable(f"it does not declare {_DIRECTIONAL[fmu.description.fmi2]}")
    for kind in kinds:
        with point(fmu, kind) as at:
            yield from _refusals(kind, at)
            said: set[str] = set()
            for known in [*at.knowns([*at.states, *at.inputs], _COLUMNS), *at.knowns(_known_there(at), _OTHERS)]:
                if not at.can_move(known, 2 * _STEP * at.size(known)):
                    break
                for unknown, finding in _wrong(kind, at, known):
                    if unknown not in said and len(said) < _MOST:
                        yield finding
                    said.add(unknown)


def _known_there(at: Point) -> list[Variable]:
    """Time and parameters, where it differentiates by them: not every FMU has to."""
    return [one for one in at.others if _differentiates(at, one)]


def _differentiates(at: Point, known: Variable) -> bool:
    try:
        at.slope(at.knowns([known], 1)[0])
    except Exception:  # a status other than OK
        return False
    return True


def _refusals(kind: str, at: Point) -> Iterator[Finding]:
    """What kinds of unknowns it will not differentiate; these are left out from here on."""
    for group, plural in (("output", "outputs"), ("derivative", "derivatives"), ("indicator", "event indicators")):
        some = [entry.variable for entry in at.entries if entry.kind == group and entry.variable]
        try:
            if some:
                known = at.knowns([*at.states, *at.inputs], 1)[0]
                at.instance.directional(some, [known.variable], [1.0] * known.count)
        except Exception as problem:  # a status other than OK
            said = f" The FMU reports: {at.instance.messages[-1]}" if at.instance.messages else ""
            yield error(f"{kind}: there are no directional derivatives of {plural}: {problem}{said}")
            at.entries = [entry for entry in at.entries if entry.kind != group]


def _wrong(kind: str, at: Point, known: Number) -> Iterator[tuple[str, Finding]]:
    given = at.slope(known)
    step = _STEP * at.size(known)
    middle = at.values()
    near, far = ([at.moved(known, factor * step) for factor in (sign, -sign)] for sign in (1.0, 2.0))
    for i, (_, unknown) in enumerate(at.numbers()):
        slope, wide = ((b[0][i] - b[1][i]) / (2 * f * step) for b, f in ((near, 1.0), (far, 2.0)))
        # What curvature, a kink and rounding leave of a difference.
        bend = abs(near[0][i] - 2 * middle[i] + near[1][i]) / step
        allowed = _RELATIVE * (abs(slope) + abs(given[i])) + 2 * abs(wide - slope) + bend
        allowed += _NOISE * (unknown.variable.nominal + abs(middle[i])) / step
        if not abs(given[i] - slope) <= allowed:
            text = f"{kind}: the derivative of {unknown.name} with respect to {known.name} is given as {given[i]:.9g}"
            yield unknown.name, error(f"{text}; differences give {slope:.9g}")


@check("adjoint", "adjoint derivatives are the transpose of directional ones", dynamic=True)
def adjoint(fmu: Fmu) -> Iterator[Finding]:
    """Compare w'(J v) with (J'w)'v for random v and w."""
    one = fmu.description
    kinds = [k for k in runnable(fmu, "ME", "CS") if one.able(k, _ADJOINT) and one.able(k, *_DIRECTIONAL)]
    if not kinds:
        raise NotApplicable(f"it declares directional derivatives without {_ADJOINT}")
    for kind in kinds:
        with point(fmu, kind) as at:
            list(_refusals(kind, at))  # the check of derivatives reports them
            if at.entries:
                yield from _transpose(kind, at)


def _transpose(kind: str, at: Point) -> Iterator[Finding]:
    draw = random.Random(1).uniform
    for _ in range(3):
        knowns = [*at.states, *at.inputs]
        count = at.instance.description.numbers
        v, w = ([draw(-1, 1) for _ in count(some)] for some in (knowns, at.unknowns))
        forward = at.instance.directional(at.unknowns, knowns, v)
        backward = at.instance.adjoint(at.unknowns, knowns, w)
        a = [x * y for x, y in zip(w, forward, strict=True)]
        b = [x * y for x, y in zip(v, backward, strict=True)]
        size = sum(map(abs, a)) + sum(map(abs, b))
        if not abs(sum(a) - sum(b)) <= 1e-9 * size:
            yield error(
                f"{kind}: w'(J v) is {sum(a):.12g}, (J'w)'v is {sum(b):.12g}; adjoint and directional ones differ"
            )
            return

"""Frames of a robot's file that were rounded: made exact where its loops move or close only so, and reported."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from linkwork.errors import LinkworkError, LinkworkWarning
from linkwork.formats.report import Report
from linkwork.mechanism import Mechanism

if TYPE_CHECKING:
    from linkwork.model.model import Model


def make_loops_exact(mech: Mechanism, elements: Mapping[str, str], report: Report) -> Model | None:
    """Give a mechanism the frames with which `compile` would make its loops exact.

    Parameters
    ----------
    mech
        Its joints change.
    elements
        For each joint the element of the file.
    report
        What changes is noted here: as approximated, or as taken where it is the rounding of ten digits.

    Returns
    -------
    Model
        The compiled mechanism with these frames; None if it has no loops or cannot be compiled.
    """
    from linkwork.model.compile import compile

    if len(mech.joints) <= len(mech.bodies):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkworkWarning)
            model = compile(mech)
    except LinkworkError:
        return None  # which compilation will explain
    for one in model.corrections:
        exact = model.mechanism.joints[one.joint]
        mech.joints[one.joint] = replace(
            mech.joints[one.joint], parent_frame=exact.parent_frame, child_frame=exact.child_frame
        )
        note = report.approximated if one.is_large else report.taken
        sizes = f"turned by {one.angle:.2g} rad and moved by {one.distance:.2g} m"
        how = f"{sizes}, so that its loops move and close exactly"
        note(f"{elements.get(one.joint, f'joint {one.joint!r}')} > frame", how)
    return model

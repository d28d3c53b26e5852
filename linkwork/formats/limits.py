"""Limits of joints as stops: a start within all of them, and limits that no closed pose keeps."""

from __future__ import annotations

import warnings

from linkwork.errors import AssemblyError, LinkworkWarning
from linkwork.formats.report import Report
from linkwork.mechanism import Mechanism


def start_within_limits(mech: Mechanism, elements: dict[str, str], report: Report) -> None:
    """Move the start of a mechanism to a closed pose within its stops; stops that exclude all poses are taken out.

    Parameters
    ----------
    mech
        It gets start values of all joints of the tree, or loses stops.
    elements
        For each stop the element of the file.
    report
        What changes is noted here.
    """
    from linkwork.model.bounded_pose import start_within_stops, stops_beyond
    from linkwork.model.compile import compile

    while mech.transitions:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkworkWarning)
            model = compile(mech)
        try:
            start = start_within_stops(model)
            beyond = stops_beyond(model) if start is None else {}
        except AssemblyError:
            return  # the loops cannot be closed at all, which assembly will explain
        if start:
            mech.start(q=start)
            report.approximated("start", "moved within the limits of all joints, as the closed start was beyond some")
        if not beyond:
            return
        for stop, amount in beyond.items():
            del mech.transitions[stop]
            report.entries = [entry for entry in report.entries if entry.element != elements[stop]]
            report.left_out(
                elements[stop],
                f"the closed start is {amount:.3g} beyond it, and no closed pose within all limits was found: nothing "
                "stops the joint",
            )

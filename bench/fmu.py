"""FMUs: Co-Simulation against Pinocchio with SciPy, Model Exchange against the core alone, size, export, start."""

from __future__ import annotations

import argparse

from bench import fmu_derivatives, fmu_export, fmu_native, fmu_steps
from bench.report import Report


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    report = Report("fmu", "FMUs", ("linkwork", "numpy", "scipy", "pin"))
    report.text(
        "FMI 3.0, libraries called without any tool. CPU time on one core, best of many; wall time where noted."
    )
    goals = fmu_steps.section(report, options)
    goals += fmu_derivatives.section(report, options)
    fmu_native.section(report, options)
    goals += fmu_export.section(report, options)
    report.goals(goals)
    report.save()

"""Checks FMUs of FMI 2.0 and 3.0, whoever made them: archive, model description and what the library does."""

from linkwork.fmu.check.report import Finding, Outcome, Report
from linkwork.fmu.check.run import check_fmu

__all__ = ["Finding", "Outcome", "Report", "check_fmu"]

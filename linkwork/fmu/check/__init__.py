"""Checks any FMUs of FMI 2.0 and 3.0: archive, model description and the behaviour of the library."""

from linkwork.fmu.check.report import Finding, Outcome, Report
from linkwork.fmu.check.run import check_fmu

__all__ = ["Finding", "Outcome", "Report", "check_fmu"]

"""Mechanisms as FMUs: selection of variables, model description, packing."""

from linkwork.fmu.export.fmu import export_fmu

__all__ = ["export_fmu"]

"""Runs: from the description of a system to results."""

from linkwork.cosim.running.entry import run
from linkwork.cosim.running.preparation import models_of, recorded_variables, usual_step

__all__ = ["models_of", "recorded_variables", "run", "usual_step"]

"""Runs: from the description of a system to results."""

from linkwork.cosim.fmu.model import usual_step
from linkwork.cosim.running.preparation import models_of, recorded_variables, scenes_of
from linkwork.cosim.running.run_system import run

__all__ = ["models_of", "recorded_variables", "run", "scenes_of", "usual_step"]

"""Running a mechanism in time."""

# What this folder implements, by the declaration.
IMPLEMENTS = {"linkwork.model.run_of_state.run_of_state": "linkwork.simulation.run_of_state.run_of_state"}

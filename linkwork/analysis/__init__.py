"""Questions before a simulation: rest positions, kinematics, loads of motors, inverse kinematics, design."""

# What this folder implements, by the declaration.
IMPLEMENTS = {"linkwork.model.model.Model.explain": "linkwork.analysis.explain.explain"}

"""Robots and mechanisms in the formats of other tools: URDF, SDF, MJCF and USD, read and written.

Data flows from a reader (`urdf`, `sdf`, `mjcf`, `usd`) to a `Robot`, and from there to a `Mechanism` with its fidelity
report; writers take a `Mechanism`.
"""

# What this folder implements, by the declaration.
IMPLEMENTS = {"linkwork.mechanism.mechanism.Mechanism.save": "linkwork.formats.files.save"}

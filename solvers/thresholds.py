"""Thresholds and limits of runs of equations: those of runs in C, whose reasons csrc/math/tolerances.h states.

They are written again because systems of FMUs run without the core; tests/project/test_tolerances.py compares both.
"""

SMALLEST_RTOL = 100.0 * 2.0**-52
MAX_STEPS = 10_000_000
MAX_EVENTS = 100_000  # within one unit of time
MOST_FOLLOWING = 1_000_000
CHATTERING_EVENTS = 100
CHATTERING_SPAN = 1e-10
FIRST_LOOK = 100_000
HOPELESS = 10.0

# Of event location.
FIRST_SAMPLE = 2.0**-18
TANGENT_SPACING = 2.0**-20
SAFETY = 0.5
STEEPENING = 2.0
MAX_TANGENTS = 40
SEARCHED_PARTS = 8

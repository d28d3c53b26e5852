"""Running a mechanism in time."""

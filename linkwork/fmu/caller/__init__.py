"""The one caller of FMUs, for checks and co-simulation."""

"""Equations of motion as a solver is given them, when they are not the explicit ones of the core."""

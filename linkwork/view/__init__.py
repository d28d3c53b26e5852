"""Mechanisms and runs to look at: one offline HTML page with a 3-D scene, plots and, for a mechanism, the simulator."""

"""Results of runs: what those of mechanics and of co-simulation share. Columns by name, files, tables and plots."""

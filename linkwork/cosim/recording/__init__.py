"""Results of a run: recorded row by row, kept in memory or streamed to files, given back as columns by name."""

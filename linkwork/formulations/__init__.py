"""Other forms of the equations of motion, for solvers of other kinds."""

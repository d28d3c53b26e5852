"""IDA of SUNDIALS, variable-order BDF for F(t, y, y') = 0, behind the contract of `linkwork.solvers.base`.

`method` is the solver; `equations` gives the problem the form IDA takes, `start_checks` looks at the start values and
at matrices that may be singular. `backend` is the contract of a way to IDA: `scikits`, `sundae`, and `compiled` for
compiled equations; `backend_choice` takes the one that there is.
"""

from linkwork.solvers.ida.method import IDA

__all__ = ["IDA"]

"""IDA of SUNDIALS, variable-order BDF for F(t, y, y') = 0, behind the contract of `linkwork.solvers.base`.

`method` is the solver; `equations` gives the problem the form IDA takes, `start` looks at the start values and at
matrices that may be singular, and `backends` reach IDA through scikits.odes or scikit-sundae.
"""

from linkwork.solvers.ida.method import IDA

__all__ = ["IDA"]

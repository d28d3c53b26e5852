"""Master algorithms: in what order and by what steps instances advance."""

from linkwork.cosim.masters.adaptive import Adaptive
from linkwork.cosim.masters.base import Master
from linkwork.cosim.masters.fixed_step import GaussSeidel, Jacobi

__all__ = ["Adaptive", "GaussSeidel", "Jacobi", "Master"]

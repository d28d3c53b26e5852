"""Shapes of bodies by their kind, as in ``mech.add_shape("crank", shape.box((0.4, 0.05, 0.05)))``.

>>> sphere(0.05)
Sphere(radius=0.05)
"""

from linkwork.mechanism.shapes import Box as box
from linkwork.mechanism.shapes import Capsule as capsule
from linkwork.mechanism.shapes import Cylinder as cylinder
from linkwork.mechanism.shapes import Mesh as mesh
from linkwork.mechanism.shapes import Shape
from linkwork.mechanism.shapes import Sphere as sphere

__all__ = ["Shape", "box", "capsule", "cylinder", "mesh", "sphere"]

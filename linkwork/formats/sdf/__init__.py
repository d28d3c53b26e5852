"""SDFormat, 1.4 to 1.12: models and worlds of Gazebo, whose joints may close loops."""

from linkwork.formats.sdf.reading import read

__all__ = ["read"]

"""URDF, the Unified Robot Description Format: read with its dialects for closed loops, and written.

Dialects: URDF+ (`<loop>`, `<coupling>`), a YAML file of closures, the `<constraint>` proposed for ROS, and Drake's
elements. Units are SI and rad.
"""

from linkwork.formats.urdf.reader import read as read
from linkwork.formats.urdf.writer import write as write

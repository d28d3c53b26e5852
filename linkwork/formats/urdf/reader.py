"""Reads a URDF with its dialects for closed loops."""

from __future__ import annotations

from pathlib import Path

from linkwork.formats.report import Report
from linkwork.formats.robot import Robot
from linkwork.formats.urdf.closures import find_closures, read_closures
from linkwork.formats.urdf.context import Context
from linkwork.formats.urdf.drake import read_drake
from linkwork.formats.urdf.elements import is_macro
from linkwork.formats.urdf.gazebo import read_gazebo
from linkwork.formats.urdf.joints import read_balls, read_joints
from linkwork.formats.urdf.links import read_links
from linkwork.formats.urdf.loops import read_loops
from linkwork.formats.urdf.transmissions import read_transmissions
from linkwork.formats.visuals import MeshFiles
from linkwork.formats.xml_tree import Element, read_xml


def read(path: Path, closures: Path | None = None, *, root: Path | None = None) -> Robot:
    """Read a URDF.

    Parameters
    ----------
    path
        The file. Meshes are looked for and not opened.
    root
        A folder around it in which meshes may lie as well.
    closures
        A YAML file with closures of loops; None: the one with the same stem in the same folder, if there is one.

    Returns
    -------
    Robot
        Its root is fixed to the world; the report has what only this format knows.
    """
    path = Path(path)
    robot = read_xml(path, "robot")
    _refuse_xacro(robot)
    name = robot.attribute("name", path.stem) or path.stem
    robot.attribute("version", "1.0")
    context = Context(Robot(name, Report(str(path), "URDF")))
    read_links(context, robot, MeshFiles(path, root))
    read_joints(context, robot)
    read_balls(context, robot)
    read_loops(context, robot)
    read_drake(context, robot)
    read_transmissions(context, robot)
    read_gazebo(context, robot)
    found = find_closures(path) if closures is None else Path(closures)
    if found is not None:
        read_closures(context, found)
    if not context.robot.links:
        raise robot.error("it has no link")
    robot.report_unread(context.report)
    return context.robot


def _refuse_xacro(root: Element) -> None:
    """Refuse macros that have not been expanded; the namespace alone is what xacro itself leaves in its output."""
    for element in root.walk():
        values = element.attributes.values()
        if element.tag.startswith("xacro:") or any(map(is_macro, values)):
            raise element.error(
                "this is a xacro file, with macros; expand it first: xacro robot.urdf.xacro > robot.urdf"
            )
    for name in root.attributes:
        if name.startswith("xmlns"):
            root.attribute(name)

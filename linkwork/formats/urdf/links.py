"""Links of a URDF: mass, centre of mass, inertia and shapes."""

from __future__ import annotations

import numpy as np

from linkwork.formats.robot import Link
from linkwork.formats.urdf.context import WORLD, Context, names
from linkwork.formats.urdf.geometry import origin_of
from linkwork.formats.urdf.visuals import Visuals
from linkwork.formats.visuals import MeshFiles
from linkwork.formats.xml_tree import Element


def read_links(context: Context, root: Element, files: MeshFiles) -> None:
    """Read all links; a root "world" without inertia is the world itself, which needs no element either."""
    children = {name for joint in _all_joints(root) for name in _link_names(joint, "child")}
    parents = {name for joint in _all_joints(root) for name in _link_names(joint, "parent")}
    elements = root.children("link")
    declared = {element.attribute("name") for element in elements}
    context.world = WORLD in parents and WORLD not in declared
    visuals = Visuals(context, root, files)
    for element in elements:
        name = names(element)
        if name in context.robot.links or (name == WORLD and context.world):
            raise element.error("another link has this name: names of links are unique")
        shapes = visuals.read(element)
        inertial = element.child("inertial")
        if name == WORLD and name not in children and inertial is None:
            context.world = True
            context.robot.shapes += shapes
            context.report.taken("link 'world'", "the world, as it is a root without inertia")
            continue
        context.robot.links[name] = Link(name) if inertial is None else _link(name, inertial)
        context.robot.links[name].shapes = shapes
    visuals.report_materials(root)


def _all_joints(root: Element) -> list[Element]:
    return root.children("joint", "drake:joint")


def _link_names(joint: Element, tag: str) -> list[str]:
    return [end.attribute("link", "") for end in joint.children(tag)]


def _link(name: str, inertial: Element) -> Link:
    """Return a link with the inertia of `<inertial>`, whose axes may be rotated against those of the link."""
    mass = inertial.required("mass").number("value")
    if mass < 0.0:
        raise inertial.error(f"link {name!r} has the mass {mass!r} kg: it must not be negative")
    frame = origin_of(inertial)
    given = inertial.required("inertia")
    ixx, ixy, ixz, iyy, iyz, izz = (given.number(f"i{axes}") for axes in ("xx", "xy", "xz", "yy", "yz", "zz"))
    inertia = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    if not np.array_equal(frame.rotation, np.eye(3)):
        inertia = frame.rotation @ inertia @ frame.rotation.T
        inertia = 0.5 * (inertia + inertia.T)
    return Link(name, mass, frame.position, inertia)

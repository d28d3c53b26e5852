"""Small URDF texts."""

from __future__ import annotations


def robot(content: str) -> str:
    return f'<robot name="r" xmlns:drake="http://drake.mit.edu">{content}</robot>'


def link(name: str, mass: float = 1.0, size: float = 0.1, origin: str = "") -> str:
    """A link with an inertia that a body can have."""
    i = mass * size**2
    inertia = f'<inertia ixx="{i}" iyy="{1.3 * i}" izz="{1.7 * i}" ixy="{0.1 * i}" ixz="{-0.05 * i}" iyz="{0.02 * i}"/>'
    return f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/>{inertia}</inertial></link>'


def joint(name: str, kind: str, parent: str, child: str, content: str = "", tag: str = "joint") -> str:
    return f'<{tag} name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{content}</{tag}>'


# Every element that is read.
EVERYTHING = robot(
    '<link name="world"/>'
    + link("base", origin='<origin xyz="0 0.1 0" rpy="0.1 0.2 0.3"/>')
    + "".join(link(name) for name in "abcdefgh")
    + joint("weld", "fixed", "world", "base", '<origin xyz="0 0 1" rpy="0 0 1"/><axis xyz="0 0 0"/>')
    + joint(
        "hinge",
        "revolute",
        "base",
        "a",
        '<origin xyz="0 0 1"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="3" velocity="2"/>'
        '<dynamics damping="0.1" friction="0.2"/><calibration rising="0"/><safety_controller k_velocity="1"/>',
    )
    + joint("wheel", "continuous", "a", "b", '<axis xyz="0 2 0"/><mimic joint="hinge" multiplier="-2" offset="0.1"/>')
    + joint("slide", "prismatic", "b", "c", '<origin quat_xyzw="0 0 0 1"/><limit effort="1" velocity="1"/>')
    + joint("table", "planar", "base", "d", '<axis xyz="0 0 1"/><limit effort="1"/><dynamics damping="1"/>')
    + joint("ball", "ball", "d", "e", '<dynamics damping="0.1"/>', "drake:joint")
    + joint("cardan", "universal", "e", "f", "", "drake:joint")
    + joint("nut", "screw", "base", "g", '<axis xyz="0 0 1"/><drake:screw_thread_pitch value="0.01"/>', "drake:joint")
    + joint("flight", "floating", "world", "h")
    + '<loop name="hinge2" type="revolute"><predecessor link="c"><origin xyz="1 0 0"/></predecessor>'
    '<successor link="d"><origin xyz="0.5 0 0" rpy="0 0 1"/></successor><axis xyz="0 0 1"/></loop>'
    '<loop name="cardan2" type="universal"><predecessor link="c"/><successor link="e"/><axis xyz="0 0 1"/>'
    '<axis2 xyz="1 0 0"/></loop>'
    '<coupling name="gear"><predecessor link="a"/><successor link="g"/><ratio value="6"/></coupling>'
    '<constraint name="cut" type="UNIVERSAL"><parent link="a"/><child link="g"/><parent_origin xyz="0 0 1"/>'
    '<parent_axis xyz="0 0 1"/><child_origin rpy="0 1 0"/><child_axis xyz="1 1 0"/></constraint>'
    "<drake:ball_constraint>"
    '<drake:ball_constraint_body_A name="a"/><drake:ball_constraint_body_B name="world"/>'
    '<drake:ball_constraint_p_AP value="0 0 1"/><drake:ball_constraint_p_BQ value="1 0 0"/>'
    "</drake:ball_constraint>"
    "<drake:linear_spring_damper>"
    '<drake:linear_spring_damper_body_A name="a"/><drake:linear_spring_damper_body_B name="b"/>'
    '<drake:linear_spring_damper_p_AP value="0 0 1"/><drake:linear_spring_damper_p_BQ value="1 0 0"/>'
    '<drake:linear_spring_damper_free_length value="0.5"/><drake:linear_spring_damper_stiffness value="10"/>'
    "</drake:linear_spring_damper>"
    "<drake:tendon_constraint>"
    '<drake:tendon_constraint_joint name="hinge" a="1"/><drake:tendon_constraint_joint name="slide" a="2"/>'
    '<drake:tendon_constraint_lower_limit value="0.1"/><drake:tendon_constraint_upper_limit value="0.1"/>'
    "</drake:tendon_constraint>"
    '<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="hinge"/>'
    '<actuator name="m"><mechanicalReduction>50</mechanicalReduction><drake:rotor_inertia value="1e-4"/>'
    '<drake:gear_ratio value="50"/></actuator></transmission>'
    '<gazebo reference="hinge"><springStiffness>3</springStiffness><springReference>0.2</springReference></gazebo>'
    '<gazebo reference="a"><mu1>0.3</mu1></gazebo><gazebo><plugin name="p"/></gazebo>'
    '<material name="red"><color rgba="1 0 0 1"/></material><unknown x="1"/>'
)
CLOSURES = """closed_loop: [[d, hinge], [g, slide]]
type: [6d, 3D]
name_mot: [hinge, missing]
joint_name: [wheel]
joint_type: [UJOINT_ZY]
other: 1
"""

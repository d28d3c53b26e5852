"""What is the same for all formats: bases, fixed links, point closures, impossible inertias, names, limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.formats.report import Report
from linkwork.formats.robot import Link, Robot, RobotCoupling, RobotJoint, RobotRod
from linkwork.formats.to_mechanism import to_mechanism
from linkwork.mechanism import Fixed, Frame, Free, Friction, Mechanism, Prismatic, Revolute, Spherical, Stop
from linkwork.mechanism.joints import JointKind
from linkwork.model.compile import compile

RNG = np.random.default_rng(5)


def rotation() -> FloatArray:
    matrix, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
    return matrix * np.linalg.det(matrix)


def frame() -> Frame:
    return Frame(RNG.normal(size=3), rotation())


def link(name: str, mass: float = 1.0) -> Link:
    """A link whose moments of inertia are those of three pairs of particles."""
    arms = RNG.normal(size=(3, 3)) * 0.1
    inertia = sum(mass / 3 * (arm @ arm * np.eye(3) - np.outer(arm, arm)) for arm in arms)
    return Link(name, mass, RNG.normal(size=3), np.asarray(inertia))


def robot(*links: str, base: str = "fixed") -> Robot:
    found = Robot("robot", Report("robot.urdf", "URDF"), base=base)
    found.links = {name: link(name) for name in links}
    return found


def join(
    into: Robot, name: str, kind: JointKind, parent: str | None, child: str | None, closes: bool = False, **more: object
) -> RobotJoint:
    into.joints[name] = RobotJoint(name, kind, parent, child, frame(), frame(), closes, **more)  # type: ignore[arg-type]
    return into.joints[name]


def chain(*links: str, base: str = "fixed") -> Robot:
    """Links with hinges J1, J2 ... between them; the first one is the base."""
    found = robot(*links, base=base)
    for number, (parent, child) in enumerate(pairwise(links), start=1):
        join(found, f"J{number}", Revolute((0, 0, 1)), parent, child)
    return found


def texts(mech: Mechanism, outcome: str) -> dict[str, str]:
    return {entry.element: entry.text for entry in mech.report.of(outcome)}


# ---- bases ----


def test_the_base_is_fixed_or_free_as_the_file_or_the_caller_says() -> None:
    assert to_mechanism(chain("base", "arm")).joints["J1"].parent == "ground"
    free = to_mechanism(chain("base", "arm", base="free"))
    assert isinstance(free.joints["base_base"].kind, Free)
    assert free.joints["J1"].parent == "base"
    assert "base_base" not in to_mechanism(chain("base", "arm", base="free"), base="fixed").joints
    assert isinstance(to_mechanism(chain("base", "arm"), base="free").joints["base_base"].kind, Free)


def test_links_that_are_all_fixed_to_the_world_get_the_remedy() -> None:
    with pytest.raises(MechanismError, match=r"no bodies.*fixed to the world.*base='free'"):
        compile(to_mechanism(robot("drone")))
    assert compile(to_mechanism(robot("drone"), base="free")).assemble().q.size == 7


def test_a_free_joint_of_the_file_becomes_fixed_on_request_and_a_fixed_one_free() -> None:
    floating = chain("base", "arm")
    join(floating, "root", Free(), None, "base", damping=(0.1,) * 6)
    assert list(to_mechanism(floating, base="fixed").joints) == ["J1"]
    welded = chain("base", "arm")
    join(welded, "root", Fixed(), None, "base")
    assert isinstance(to_mechanism(welded, base="free").joints["root"].kind, Free)


def test_a_hinge_to_the_world_contradicts_a_free_base() -> None:
    swinging = robot("arm")
    join(swinging, "hinge", Revolute((0, 0, 1)), None, "arm")
    with pytest.raises(MechanismError, match=r"base='free'.*'hinge'"):
        to_mechanism(swinging, base="free")
    with pytest.raises(MechanismError, match="'fixed' or 'free', not 'float'"):
        to_mechanism(chain("base", "arm"), base="float")


def test_each_connected_set_of_links_gets_a_base() -> None:
    two = chain("a", "b")
    two.links["c"] = link("c")
    mech = to_mechanism(two, base="free")
    assert {joint.child for joint in mech.joints.values() if isinstance(joint.kind, Free)} == {"a", "c"}


def test_a_closure_carries_the_link_that_nothing_else_carries() -> None:
    hung = robot("base", "bob")
    join(hung, "ball", Spherical(), "base", "bob", closes=True)
    assert not to_mechanism(hung).joints["ball"].cut


def test_links_have_the_poses_of_their_joints_at_zero() -> None:
    arm = chain("base", "upper", "lower")
    first, second = arm.joints.values()
    mech = to_mechanism(arm)
    expected = first.parent_frame @ first.child_frame.inverse() @ second.parent_frame @ second.child_frame.inverse()
    np.testing.assert_allclose(mech.bodies["lower"].origin, expected.position, atol=1e-13)
    np.testing.assert_allclose(mech.bodies["lower"].rotation, expected.rotation, atol=1e-13)


# ---- fixed links ----


def moments(mass: float, com: ArrayLike, inertia: ArrayLike, of: Frame) -> tuple[float, FloatArray, FloatArray]:
    """Mass, first and second moments of particles with the same inertia, about the origin in which `of` is given."""
    values, axes = np.linalg.eigh(np.asarray(inertia))
    squares = np.maximum(values.sum() / 2 - values, 0.0)  # integral of x_i^2 dm along the principal axes
    points = [
        np.asarray(com) + sign * axes[:, k] * np.sqrt(3 * squares[k] / mass) for k in range(3) for sign in (-1, 1)
    ]
    at = of.apply(np.array(points))
    return mass, mass / 6 * at.sum(axis=0), mass / 6 * np.einsum("pi,pj->ij", at, at)


def test_fixed_links_are_one_body_with_the_moments_of_all_their_particles() -> None:
    arm = chain("base", "arm")
    join(arm, "F", Fixed(), "arm", "flange")
    join(arm, "G", Fixed(), "tool", "flange")  # from the far end
    arm.links |= {"flange": link("flange", 0.3), "tool": link("tool", 2.0)}
    parts = [arm.links[name] for name in ("arm", "flange", "tool")]
    flange = arm.joints["F"].parent_frame @ arm.joints["F"].child_frame.inverse()
    tool = flange @ arm.joints["G"].child_frame @ arm.joints["G"].parent_frame.inverse()
    frames = [Frame(), flange, tool]
    mech = to_mechanism(arm)
    assert list(mech.bodies) == ["arm"]
    assert mech.names["link"] == {"base": "ground", "arm": "arm", "flange": "arm", "tool": "arm"}
    body = mech.bodies["arm"]
    found = moments(body.mass, body.com, body.inertia, Frame())
    each = [moments(p.mass, p.com, p.inertia, f) for p, f in zip(parts, frames, strict=True)]
    for part, whole in enumerate(found):
        np.testing.assert_allclose(whole, sum(one[part] for one in each), rtol=1e-12, atol=1e-12)
    separate = to_mechanism(chain("base", "arm"), merge_fixed=False)
    assert list(separate.bodies) == ["base", "arm"]


def test_a_weld_that_closes_a_loop_makes_one_body_and_leaves_the_hinges() -> None:
    bar = chain("base", "crank", "coupler", "coupler_end")
    join(bar, "J4", Revolute((0, 0, 1)), "base", "rocker")
    bar.links["rocker"] = link("rocker")
    join(bar, "weld", Fixed(), "coupler_end", "rocker", closes=True)
    mech = to_mechanism(bar)
    assert list(mech.joints) == ["J1", "J2", "J3", "J4"]
    assert mech.names["link"]["coupler_end"] == mech.names["link"]["rocker"]
    weld = texts(mech, "taken")["joint 'weld'"]
    assert weld == "its links are one body"


def test_a_joint_that_closes_a_loop_keeps_its_loads_and_limits() -> None:
    bar = chain("base", "crank", "coupler", "rocker")
    numbers = {"stiffness": (3.0,), "damping": (0.2,), "reflected_inertia": (0.1,), "max_load": (7.0,)}
    numbers |= {"friction": (0.5,)}
    join(bar, "D", Revolute((0, 0, 1)), "base", "rocker", closes=True, limits=((-1.0, 2.0),), **numbers)
    mech = to_mechanism(bar)
    closing = mech.joints["D"]
    assert (closing.cut, closing.reflected_inertia, closing.max_load) == (True, (0.1,), (7.0,))
    spring, friction = mech.forces
    assert (spring.joint, spring.stiffness, spring.damping) == ("D", 3.0, 0.2)
    assert friction == Friction("D", coulomb=0.5, name="D_friction")
    assert texts(mech, "left out")["joint 'D' > limit"] == "-1 to 2 rad; limits=True makes it a stop"


def test_fixed_joints_that_contradict_each_other_are_refused_with_the_gap() -> None:
    twice = robot("base", "tool")
    first = join(twice, "F", Fixed(), "base", "tool")
    moved = Frame(first.child_frame.position + np.array([0.01, 0, 0]), first.child_frame.rotation)
    twice.joints["G"] = RobotJoint("G", Fixed(), "base", "tool", first.parent_frame, moved)
    with pytest.raises(MechanismError, match=r"joint 'G' fixes links.*0\.01 m"):
        to_mechanism(twice)


def test_a_joint_within_a_body_is_left_out_with_what_depends_on_it() -> None:
    stuck = chain("base", "arm", "hand")
    join(stuck, "F", Fixed(), "arm", "hand")
    stuck.couplings.append(RobotCoupling("gear", {("J1", 0): (1.0,), ("J2", 0): (-2.0,)}))
    mech = to_mechanism(stuck)
    left = texts(mech, "left out")
    assert "cannot move" in left["joint 'J2'"]
    assert "'J2' cannot move" in left["coupling 'gear'"]
    assert not mech.couplings


# ---- point closures ----


def closed_at(points: FloatArray, child_points: FloatArray | None = None, swap: bool = False) -> Mechanism:
    """A platform on a rod, and balls at points of both that coincide in the world where both links lie in it."""
    made = robot("base", "rod", "platform", base="free")
    join(made, "J1", Revolute((0, 0, 1)), "base", "rod")
    join(made, "J2", Revolute((1, 0, 0)), "rod", "platform")
    there = points if child_points is None else child_points
    for number, (a, b) in enumerate(zip(points, there, strict=True), start=1):
        ends = ("base", "platform", Frame(a), Frame(b))
        if swap and number % 2:
            ends = ("platform", "base", Frame(b), Frame(a))
        made.joints[f"C{number}"] = RobotJoint(f"C{number}", Spherical(), *ends, closes=True)
    return to_mechanism(made)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_points_on_a_line_are_one_hinge_about_it(count: int) -> None:
    start, along = RNG.normal(size=3), RNG.normal(size=3)
    points = start + np.linspace(0, 1, count)[:, None] * along
    pose = frame()
    mech = closed_at(points, pose.apply(points), swap=True)
    hinge = mech.joints["C1"]
    assert list(mech.joints)[-1] == "C1"
    assert hinge.cut
    ends = {hinge.parent: hinge.parent_frame, hinge.child: hinge.child_frame}
    axis = hinge.kind.axes[0]
    for body, at in (("base", points), ("platform", pose.apply(points))):
        within = ends[body].inverse().apply(at)  # all on the axis, at the same heights in both
        np.testing.assert_allclose(np.cross(within, axis), 0.0, atol=1e-13)
        heights = within @ axis
        np.testing.assert_allclose(np.abs(heights - heights[0]), np.linalg.norm(points - points[0], axis=1), atol=1e-13)
    assert {texts(mech, "taken")[f"joint 'C{n}'"] for n in range(1, count + 1)} == {
        f"{count} point closures on one line are one hinge"
    }


def test_three_points_that_are_not_on_a_line_weld() -> None:
    points = RNG.normal(size=(3, 3))
    pose = frame()
    made = robot("base", "platform", base="free")
    for number, (a, b) in enumerate(zip(points, pose.inverse().apply(points), strict=True), start=1):
        made.joints[f"C{number}"] = RobotJoint(
            f"C{number}", Spherical(), "base", "platform", Frame(a), Frame(b), closes=True
        )
    join(made, "J", Free(), "base", "platform")
    mech = to_mechanism(made)
    weld = mech.joints["C1"]
    assert isinstance(weld.kind, Fixed)
    across = weld.parent_frame @ weld.child_frame.inverse()
    np.testing.assert_allclose(across.position, pose.position, atol=1e-12)
    np.testing.assert_allclose(across.rotation, pose.rotation, atol=1e-12)


def test_one_point_given_twice_is_one_ball() -> None:
    point = RNG.normal(size=3)
    mech = closed_at(np.array([point, point]))
    assert isinstance(mech.joints["C1"].kind, Spherical)
    assert "C2" not in mech.joints


def test_points_whose_distances_differ_are_joined_with_the_difference_or_kept_apart() -> None:
    points = np.array([[0.0, 0, 0], [0.1, 0, 0]])
    nearly = closed_at(points, points * (1 + 1e-5))
    assert "differ by 1e-06 m" in texts(nearly, "approximated")["joint 'C1'"]
    contradicting = closed_at(points, points * 1.1)
    assert {"C1", "C2"} <= contradicting.joints.keys()


# ---- inertias, names, limits ----


def test_an_inertia_that_no_body_can_have_is_corrected_and_reported() -> None:
    odd = chain("base", "arm")
    turned = rotation()
    odd.links["arm"].inertia = turned @ np.diag([1.0, 2.0, 4.0]) @ turned.T
    mech = to_mechanism(odd)
    np.testing.assert_allclose(np.linalg.eigvalsh(mech.bodies["arm"].inertia), [1.5, 2.5, 4], rtol=1e-12)
    assert texts(mech, "approximated") == {
        "link 'arm' > inertia": "no body has the principal moments 1, 2, 4 kg m^2; 1.5, 2.5, 4 kg m^2 are used"
    }


def test_names_stay_where_they_are_legal_and_others_get_new_ones() -> None:
    named = chain("base link", "hip.1", "hip_1")
    named.joints = {"hip.1": named.joints["J1"], "hip_1": named.joints["J2"]}
    for name, joint in named.joints.items():
        joint.name = name
    named.couplings.append(RobotCoupling("hip_1", {("hip.1", 0): (1.0,), ("hip_1", 0): (-1.0, 0.5)}, 0.1))
    mech = to_mechanism(named, merge_fixed=False)
    assert mech.names["link"] == {"base link": "base link", "hip.1": "hip_1", "hip_1": "hip_1_2"}
    assert mech.names["joint"]["hip.1"] == "hip_1"
    assert mech.names["coupling"] == {"hip_1": "hip_1_coupling"}
    coupling = mech.couplings["hip_1_coupling"]
    assert {at: term.coefficients for at, term in coupling.terms.items()} == {
        "hip_1": (1.0, 0.0, 0.0, 0.0),
        "hip_1_2": (-1.0, 0.5, 0.0, 0.0),
    }


def test_limits_are_left_out_or_stops_and_the_start_is_moved_into_them() -> None:
    def bounded() -> Robot:
        made = chain("base", "a", "b", "c")
        made.joints["J1"].limits = ((0.5, 1.0),)
        made.joints["J2"].limits = ((-1.0, np.inf),)
        made.joints["J2"].start = np.array([-2.0])
        made.joints["J3"].limits = ((0.0, 0.0),)
        return made

    without = to_mechanism(bounded())
    assert not without.transitions
    assert "limits=True makes it a stop" in texts(without, "left out")["joint 'J1' > limit"]
    mech = to_mechanism(bounded(), limits=True)
    stops = [transition.action for transition in mech.transitions.values()]
    assert stops == [Stop("J1", 0.5, 1.0), Stop("J2", -1.0, None)]
    assert {name: q.tolist() for name, q in mech.start_q.items()} == {"J1": [0.5], "J2": [-1.0]}
    assert texts(mech, "approximated") == {"joint 'J2' > start": "moved to its limit"}
    assert "is empty" in texts(mech, "left out")["joint 'J3' > limit"]


def test_springs_dampers_and_rods_keep_their_numbers() -> None:
    made = chain("base", "a", "b")
    made.joints["J1"].stiffness, made.joints["J1"].free, made.joints["J1"].damping = (3.0,), (0.2,), (0.4,)
    join(made, "S", Prismatic((1, 0, 0)), "b", "c", damping=(7.0,))
    made.links["c"] = link("c")
    points = RNG.normal(size=(2, 3))
    made.rods += [
        RobotRod("rod", (None, "c"), points, free=2.0, rigid=True),
        RobotRod("spring", ("a", "c"), points, 5.0, 6.0, 0.5),
        RobotRod("short", ("base", None), points),
    ]
    mech = to_mechanism(made)
    springs = {getattr(force, "joint", None) or getattr(force, "name", ""): force for force in mech.forces}
    assert (springs["J1"].stiffness, springs["J1"].free, springs["J1"].damping) == (3.0, 0.2, 0.4)
    assert springs["S"].damping == 7.0
    assert springs["spring"].stiffness == 5.0
    assert mech.distances["rod"].length == 2.0
    assert "cannot move" in texts(mech, "left out")["tendon 'short'"]


def test_strict_refuses_what_is_not_taken() -> None:
    odd = chain("base", "arm")
    odd.report.left_out("link 'arm' > visual", "shapes have no effect")
    with pytest.raises(MechanismError, match=r"strict=True.*\n.*link 'arm' > visual: left out"):
        to_mechanism(odd, strict=True)
    assert to_mechanism(chain("base", "arm"), strict=True).report.of("taken")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda made: made.links.clear(), "no links"),
        (lambda made: setattr(made.joints["J1"], "child", "nobody"), "there is no link 'nobody'"),
        (lambda made: setattr(made.joints["J1"], "child", "base"), "joins 'base' to itself"),
        (lambda made: setattr(made.links["arm"], "mass", -1.0), "mass is not negative"),
        (lambda made: made.couplings.append(RobotCoupling("c", {("K", 0): (1.0,)})), "there is no joint 'K'"),
        (lambda made: made.couplings.append(RobotCoupling("c", {("J1", 1): (1.0,)})), "has no coordinate 2"),
    ],
)
def test_what_is_no_mechanism_is_refused_by_name(spoil: object, message: str) -> None:
    made = chain("base", "arm")
    spoil(made)  # type: ignore[operator]
    with pytest.raises(MechanismError, match=message):
        to_mechanism(made)


def test_a_free_base_that_is_fixed_stays_where_the_file_has_it() -> None:
    floating = chain("base", "arm")
    place = frame()
    start = np.array([*place.position, *place.quaternion])
    joint = join(floating, "root", Free(), None, "base", start=start)
    on_base = floating.joints["J1"].parent_frame
    expected = joint.parent_frame @ place @ joint.child_frame.inverse() @ on_base
    found = to_mechanism(floating, base="fixed").joints["J1"].parent_frame
    np.testing.assert_allclose(found.position, expected.position, atol=1e-12)
    np.testing.assert_allclose(found.rotation, expected.rotation, atol=1e-12)


def test_the_text_of_a_report_has_many_like_elements_once() -> None:
    report = Report("robot.urdf", "URDF")
    for number in range(20):
        report.left_out(f"joint 'J{number}' > friction", "dry friction")
    for name in "ab":
        report.left_out(f"link '{name}' > visual", "no effect")
    lines = str(report).splitlines()
    assert lines[0] == "robot.urdf (URDF): 0 taken, 0 approximated, 22 left out"
    assert lines[2:] == [
        "    joint 'J0' > friction and 19 more: dry friction",
        "    link 'a' > visual: no effect",
        "    link 'b' > visual: no effect",
    ]
    assert len(report.entries) == 22

"""Derivatives of variables with the loops closed again, compared with closed forms and with assemblies."""

import numpy as np
import pytest

import linkwork as lw
from support.array_functions import driven, motorised
from support.builder import cut_at
from support.cases import four_bar
from support.differences import LIMIT, slope
from support.joint_types import INERTIA
from support.random_mechanisms import FAMILIES, tree_or_loop
from support.rolled import gripper


def slope_of_assembly(batch, row, name, one, entry, closed):
    """Derivative of a variable behind `assemble` by a number of a row."""

    def value(h):
        moved = batch.model.batch(1)
        for key in ("q", "u", "elements", "tau", "time"):
            moved.columns[key][:] = batch.columns[key][row]
        moved.put({key: values[row : row + 1] for key, values in batch.parameters.items()})
        column = batch._column(one)
        if column is None:
            if one not in moved.parameters:
                moved.put({one: np.atleast_2d(batch.model.value(one, batch.model.assemble()))})
            moved.parameters[one][0, entry] += h
        else:
            moved._given[0, column.start + entry] += h
        assert moved.assemble(keep=closed).all(), moved.errors
        return moved.value(name)[0]

    return slope(value)


def check(batch, closed, names, by):
    """Against assemblies next to the rows."""
    for name in names:
        found = batch.gradient(name, by, closed)
        assert batch.errors == {}
        assert list(found) == list(by)
        for one, values in found.items():
            values = values.reshape(len(batch), -1)
            for row, entry in np.ndindex(values.shape):
                expected = slope_of_assembly(batch, row, name, one, entry, closed)
                assert values[row, entry] == pytest.approx(expected, rel=LIMIT, abs=LIMIT), (name, one, entry)


def slider_crank():
    mech = lw.Mechanism("slider-crank")
    for name, length in (("crank", 0.1), ("rod", 0.3), ("slider", 0.1)):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=lw.inertia.rod(1.0, length))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "crank", "rod", parent_frame=lw.Frame((0.1, 0, 0)))
    mech.add_joint("C", lw.Revolute((0, 1, 0)), "rod", "slider", parent_frame=lw.Frame((0.3, 0, 0)))
    mech.add_joint("D", lw.Prismatic((1, 0, 0)), "ground", "slider", at=(0, 0, 0))
    return mech


def test_slider_crank_in_closed_form():
    """x = r cos a + sqrt(l^2 - r^2 sin^2 a), and its rate."""
    model = lw.compile(slider_crank())
    crank, rod = "B.parent_frame.position[1]", "C.parent_frame.position[1]"
    rng = np.random.default_rng(0)
    a, w, r, length = (
        rng.uniform(-3, 3, 20),
        rng.normal(size=20),
        rng.uniform(0.05, 0.2, 20),
        rng.uniform(0.25, 0.4, 20),
    )
    batch = model.batch(20)
    batch.q[:, 0], batch.u[:, 0] = a, w
    batch.q[:, 1] = -a  # a rod that points forward
    batch.put({crank: r, rod: length})
    assert batch.assemble(keep=["A"]).all()
    s, c = np.sin(a), np.cos(a)
    root = np.sqrt(length**2 - r**2 * s**2)
    assert batch.value("slider.r[1]") == pytest.approx(r * c + root, abs=1e-12)
    found = batch.gradient("slider.r[1]", ["A.q", crank, rod, "A.u"], closed=["A"])
    by_angle = -r * s - r**2 * s * c / root
    assert found["A.q"] == pytest.approx(by_angle, abs=1e-12)
    assert found[crank] == pytest.approx(c - r * s**2 / root, abs=1e-12)
    assert found[rod] == pytest.approx(length / root, abs=1e-12)
    assert found["A.u"] == pytest.approx(0.0, abs=1e-12)
    speed = batch.gradient("slider.v[1]", ["A.u", rod], closed=["A"])
    assert speed["A.u"] == pytest.approx(by_angle, abs=1e-12)
    assert speed[rod] == pytest.approx(w * r**2 * s * c * length / root**3, abs=1e-11)


def test_four_bar_in_closed_form():
    """The vectors of the links add up to that of the frame: l r1 + m r2 + n r3 = d."""
    case = four_bar()
    model = lw.compile(case.mechanism)
    batch = model.batch(3)
    batch.q[:, 0] += [0.0, 0.1, 0.2]
    assert batch.assemble(keep=["A"]).all()
    lengths = 0.4, 1.0, 0.8
    by_crank = batch.gradient("B.q", ["B.parent_frame.position[1]"], closed=["A"])["B.parent_frame.position[1]"]
    by_angle = batch.gradient("B.q", ["A.q"], closed=["A"])["A.q"]
    for row, q in enumerate(batch.q):
        angles = np.cumsum(q)
        along = np.array([[np.cos(x), -np.sin(x)] for x in angles])
        across = np.array([[-np.sin(x), -np.cos(x)] for x in angles])
        closing = (np.array(lengths[1:])[:, None] * across[1:]).T
        assert by_crank[row] == pytest.approx(np.linalg.solve(closing, -along[0])[0], rel=1e-12)
        turned = np.linalg.solve(closing, -lengths[0] * across[0])
        assert by_angle[row] == pytest.approx(turned[0] - 1.0, rel=1e-12)


def kept_of(model):
    """Joints that determine the others well."""
    from linkwork.model.independent_coordinates import choose_independent_coordinates

    chosen = choose_independent_coordinates(model).u
    return [joint for joint, span in model.numbering.u.items() if span.start in chosen]


@pytest.mark.parametrize("name", [*list(FAMILIES)[::3], "bennett_4R", "spatial_7R_springs", "loop_on_loop"])
def test_random_mechanisms(name):
    model = lw.compile(tree_or_loop(name).mechanism)
    closed, rng = kept_of(model), np.random.default_rng(1)
    batch = model.batch(1)
    batch.u += rng.normal(size=batch.u.shape)
    batch.tau[:, : model.sizes.nu] = 0.1 * rng.normal(size=(1, model.sizes.nu))
    assert batch.assemble(keep=closed).all()
    tree = [joint for joint, span in model.numbering.u.items() if span.stop <= model.sizes.nu]
    others = [joint for joint in tree if joint not in closed and model.numbering.q[joint].stop > 0]
    body = list(model.mechanism.bodies)[-1]
    free = [one for one in others if model.numbering.u[one].stop - model.numbering.u[one].start == 1]
    names = [
        f"{body}.r[1]",
        f"{body}.v[2]",
        "energy.kinetic",
        *(f"{one}.{x}" for one in free[:1] for x in ("q", "u", "a")),
    ]
    check(
        batch, closed, names, [f"{closed[0]}.q", f"{closed[-1]}.u", f"{body}.mass", f"{body}.com", f"{closed[0]}.tau"]
    )


@pytest.mark.parametrize("name", ["spatial_7R", "spatial_6R_1P", "moving_spatial_7R"])
def test_geometry_of_random_spatial_loops(name):
    model = lw.compile(tree_or_loop(name).mechanism)
    closed = kept_of(model)
    batch = model.batch(1)
    assert batch.assemble(keep=closed).all()
    joint = next(one for one in model.numbering.u if one not in closed)
    body = list(model.mechanism.bodies)[2]
    by = [f"{joint}.parent_frame.position", f"{joint}.child_frame.position"]
    check(batch, closed, [f"{body}.r[1]", f"{body}.v[1]", f"{joint}.u", "energy.kinetic"], by)


def test_couplings_and_states_of_elements_and_motions():
    model = lw.compile(gripper())
    batch = model.batch(2)
    batch.q[:, 0] += [0.0, 0.1]
    assert batch.assemble(keep=["left_A"]).all()
    by = ["left_A.q", "left_A.u", "left_B.parent_frame.position[1]", "gear.offset"]
    check(batch, ["left_A"], ["right_finger.r[1]", "right_A.q", "right_A.u", "left_B.a"], by)
    motor = lw.compile(motorised()).batch(1)
    motor.elements[:] = 0.7
    motor.u[:, 0] = 2.0
    assert motor.assemble(keep=["A"]).all()
    check(motor, ["A"], ["A.a", "motor.current", "C.u"], ["motor.current", "motor.voltage", "A.u", "A.q"])
    moved = lw.compile(driven()).batch(1)
    moved.time[:] = 0.3
    assert moved.assemble(keep=["B"]).all()
    check(moved, ["B"], ["rod.r[1]", "A.q", "A.u"], ["B.q", "B.u", "A_drive.a"])


@pytest.mark.parametrize("cut", ["S", "C"])
def test_joints_with_quaternions(cut):
    """A crank moves by a rod on a ball and a cross a bolt that slides: all of it follows the crank."""
    mech = lw.Mechanism("piston")
    mech.add_body("crank", mass=1.0, com=(0, 0.1, 0), inertia=INERTIA)
    mech.add_body("rod", mass=0.6, com=(0.4, -0.1, 0), inertia=INERTIA, origin=(0, 0.2, 0))
    mech.add_body("bolt", mass=0.8, com=(0.05, 0.01, 0), inertia=INERTIA, origin=(0.8, 0, 0.1))
    mech.add_joint("A", lw.Revolute((1, 0, 4)), "ground", "crank", at=(0, 0, 0))
    mech.add_joint("S", lw.Spherical(), "crank", "rod", at=(0, 0.2, 0))
    mech.add_joint("U", lw.Universal((0, 1, 0), (0, 0, 1)), "bolt", "rod", at=(0.8, 0, 0.1))
    mech.add_joint("C", lw.Prismatic((1, 0, 0)), "ground", "bolt", at=(0.8, 0, 0.1))
    mech.start(u={"A": 4.0})
    batch = lw.compile(cut_at(mech, cut)).batch(1)
    batch.q[:, 0] = 0.3
    assert batch.assemble(keep=["A"]).all()
    names = ["bolt.r[1]", "rod.v[2]", "energy.kinetic"] + ["S.q[2]", "S.u[3]"] * (cut == "C")
    check(batch, ["A"], names, ["A.q", "A.u", "rod.mass", "S.parent_frame.position"])


# ---- rows without derivatives, and bad input ----


def test_rows_whose_joints_do_not_determine_the_others_are_named():
    """The slider at its dead point tells nothing of the crank."""
    model = lw.compile(cut_at(slider_crank(), "B"))
    batch = model.batch(3)
    batch.q[:, 0] = 0.5, 0.0, -0.5
    assert batch.assemble(keep=["A"]).all()
    found = batch.gradient("A.q", ["D.q"], closed=["D"])["D.q"]
    assert list(batch.errors) == [1]
    assert isinstance(batch.errors[1], lw.SingularityError)
    assert str(batch.errors[1]) == "closed: 'D' do not determine the others in this pose; choose others"
    by_crank = batch.gradient("D.q", ["A.q"], closed=["A"])["A.q"]
    assert batch.errors == {}
    assert by_crank[1] == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(found[1])
    assert found[[0, 2]] == pytest.approx(1.0 / by_crank[[0, 2]], rel=1e-10)


def test_rows_in_singular_poses_are_named():
    """All links of a parallelogram are in line: it may move in two ways."""
    mech = lw.Mechanism("parallelogram")
    for name, length in (("crank", 0.1), ("rod", 0.3), ("follower", 0.1)):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=lw.inertia.rod(1.0, length))
    turn = lw.Revolute((0, 1, 0))
    mech.add_joint("A", turn, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", turn, "crank", "rod", parent_frame=lw.Frame((0.1, 0, 0)))
    mech.add_joint("C", turn, "rod", "follower", parent_frame=lw.Frame((0.3, 0, 0)))
    ends = {"parent_frame": lw.Frame((0.3, 0, 0)), "child_frame": lw.Frame((-0.1, 0, 0))}
    mech.add_joint("D", turn, "ground", "follower", **ends)
    model = lw.compile(mech)
    batch = model.batch(2, model.assemble(q={"A": 0.5, "B": -0.5, "C": 0.5}))
    batch.q[1] = 0.0
    batch.u[:] = np.array([1.0, -1.0, 1.0])
    found = batch.gradient("C.q", ["A.q"], closed=["A"])["A.q"]
    assert list(batch.errors) == [1]
    assert "the pose is singular: 2 speeds are independent in it, 1 in those around" in str(batch.errors[1])
    assert found[0] == pytest.approx(1.0, rel=1e-10)
    assert np.isnan(found[1])


def test_lengths_with_which_loops_do_not_close_are_named():
    batch = lw.compile(four_bar().mechanism).batch(2)
    assert batch.assemble(keep=["A"]).all()
    found = batch.gradient("coupler.r[1]", ["C.parent_frame.position[2]", "coupler.mass"], closed=["A"])
    assert all(np.isnan(values).all() for values in found.values())
    assert sorted(batch.errors) == [0, 1]
    for error in batch.errors.values():
        assert str(error).startswith("by 'C.parent_frame.position[2]': ")


def test_open_rows_are_closed_or_named():
    """The derivatives are those of what `assemble` makes of a row; one that it cannot close has none."""
    model = lw.compile(four_bar().mechanism)
    batch = model.batch(2)
    assert batch.assemble(keep=["A"]).all()
    expected = batch.gradient("B.q", ["A.q"], closed=["A"])["A.q"]
    batch.q[:, 1] += 0.01
    batch.put({"B.parent_frame.position[1]": [model.value("B.parent_frame.position[1]", model.assemble()), 30.0]})
    found = batch.gradient("B.q", ["A.q"], closed=["A"])["A.q"]
    assert found[0] == pytest.approx(expected[0], rel=1e-9)
    assert list(batch.errors) == [1]
    assert isinstance(batch.errors[1], lw.AssemblyError)
    assert batch.q[0, 1] == pytest.approx(batch.q[1, 1])  # rows stay as they are


@pytest.mark.parametrize(
    ("by", "closed", "message"),
    [
        (
            ["A.q"],
            ["A", "B"],
            "closed: the mechanism has 1 degree of freedom, but 'A', 'B' have 2 speeds; name as many",
        ),
        (["coupler.mass"], [], "closed: the mechanism has 1 degree of freedom; name as many speeds"),
        (["B.q"], ["A"], "by: 'B.q' follows when loops are closed again; name joint 'B' among those of closed"),
        (["B.u"], "A", "by: 'B.u' follows when loops are closed again"),
        (["A.q"], ["D"], "closed: there is no tree joint 'D': known are 'A', 'B', 'C'"),
        (["A.q_start"], ["A"], "'A.q_start' is a start value"),
        (["coupler.r"], ["A"], "'coupler.r' is no state, input or parameter"),
        ([], ["A"], "by: name at least one"),
    ],
)
def test_bad_input(by, closed, message):
    batch = lw.compile(four_bar().mechanism).batch(2)
    assert batch.assemble(keep=["A"]).all()
    with pytest.raises(lw.MechanismError) as error:
        batch.gradient("B.q", by, closed)
    assert message in str(error.value)

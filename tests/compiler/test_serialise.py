"""The bytes of a model for each kind of joint: type, numbering, canonical frames, start values."""

import numpy as np
import pytest

from linkwork._util.rotations import quaternions_of
from linkwork.mechanism import (
    CurvedSlide,
    CurvedSlot,
    Cylindrical,
    Fixed,
    Frame,
    Free,
    PinInSlot,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    SpringDamper,
    Universal,
    Wrench,
)
from linkwork.mechanism.frames import rotation_matrix
from support.bodies import with_bodies
from support.c_builder import built
from support.model_bytes import read_model

KINDS = [
    Fixed(),
    Revolute((0, 1, 0)),
    Prismatic((0, 1, 0)),
    Universal((0, 1, 0), (1, 0, 1)),
    Cylindrical((0, 1, 0)),
    Planar((0, 1, 0)),
    Spherical(),
    Free(),
    PinInSlot((0, 1, 0), (1, 0, 0)),
    Screw((0, 1, 0), 0.2),
    CurvedSlide((0, 1, 0), (1, 0, 0), 0.4),
    CurvedSlot((0, 1, 0), (1, 0, 0), -0.4),
]


def read(mech):
    """The joints' table and the parameters of the serialised model, by name."""
    model = read_model(built(mech))
    return (
        tuple(model.counts[size] for size in ("nq", "nu", "nq_cut", "nu_cut")),
        model.tables["joints"],
        model.parameters,
    )


def chain(*kinds, ring=None):
    """Bodies on a chain of joints J0, J1, ..., closed by a cut joint R of kind `ring`."""
    mech = with_bodies(*(f"b{i}" for i in range(len(kinds))))
    for i, kind in enumerate(kinds):
        place = Frame((0.1, 0.2, 0.3), (0.6, 0, 0.8, 0))
        mech.add_joint(f"J{i}", kind, f"b{i - 1}" if i else "ground", f"b{i}", parent_frame=place)
    if ring is not None:
        mech.add_joint("R", ring, f"b{len(kinds) - 1}", "ground", at=(0, 0, 0), cut=True)
    return mech


def test_types_and_numbers():
    (nq, nu, *_), table, _ = read(chain(*KINDS))
    assert table[:, 0].tolist() == list(range(len(KINDS)))
    assert (nq, nu) == (26, 24)
    assert table[:, 1].tolist() == [0, 0, 1, 2, 4, 6, 9, 13, 20, 22, 23, 24]
    assert table[:, 2].tolist() == [0, 0, 1, 2, 4, 6, 9, 12, 18, 20, 21, 22]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.type_name)
def test_joint_frames_are_turned_to_the_canonical_ones(kind):
    _, _, values = read(chain(kind))
    for side, rotation in (("parent", Frame(rotation=(0.6, 0, 0.8, 0)).rotation), ("child", np.eye(3))):
        turned = rotation_matrix(values[f"{side}_orientation"][0], side)
        np.testing.assert_allclose(turned, rotation @ kind.canonical_axes, atol=1e-15)


@pytest.mark.parametrize("ring", [Spherical(), Free()], ids=lambda kind: kind.type_name)
def test_quaternions_start_neutral_in_tree_and_cut_joints(ring):
    sizes, table, values = read(chain(Revolute((0, 0, 1)), ring, ring=ring))
    assert sizes == (1 + ring.nq, 1 + ring.nu, ring.nq, ring.nu)
    assert table[2].tolist()[1:] == [1 + ring.nq, 1 + ring.nu]
    np.testing.assert_array_equal(values["q_start"][:, 0], [0, *ring.neutral, *ring.neutral])
    assert not values["q_priority"].any()


def test_start_values_and_springs_stand_at_their_joint():
    mech = chain(Spherical(), Planar((0, 0, 1)), ring=Spherical())
    mech.start(q={"R": [0, 2, 0, 0], "J1": [1, 2, 3]}, u={"J0": [4, 5, 6]})
    mech.add_force(SpringDamper("J1", stiffness=[7, 8, 9], free=0.5))
    mech.add_force(SpringDamper("R", damping=2))
    _, _, values = read(mech)
    found = {name: array[:, 0].tolist() for name, array in values.items() if array.shape[1] == 1}
    assert found["q_start"] == [1, 0, 0, 0, 1, 2, 3, 0, 1, 0, 0]
    assert found["q_priority"] == [0, 0, 0, 0, 2, 2, 2, 1, 1, 1, 1]
    assert found["u_start"] == [4, 5, 6, 0, 0, 0, 0, 0, 0]
    assert found["u_priority"] == [1, 1, 1, 0, 0, 0, 0, 0, 0]
    assert found["stiffness"] == [0, 0, 0, 7, 8, 9, 0, 0, 0]
    assert found["free"] == [0, 0, 0, 0.5, 0.5, 0.5, 0, 0, 0]
    assert found["damping"] == [0, 0, 0, 0, 0, 0, 2, 2, 2]


def test_quaternions_of_every_turn():
    """Whatever element is the largest."""
    rng = np.random.default_rng(3)
    given = np.array([*np.eye(4), *rng.normal(size=(50, 4))])
    given /= np.linalg.norm(given, axis=1, keepdims=True) * np.where(given[:, :1] < 0, -1, 1)
    turns = np.array([rotation_matrix(unit, "turn") for unit in given])
    np.testing.assert_allclose(quaternions_of(turns), given, atol=1e-15)


def test_springs_between_points_and_wrenches_stand_in_their_order():
    mech = chain(Spherical(), Planar((0, 0, 1)))
    first, second = list(mech.bodies)[:2]
    mech.add_force(Wrench(second, (1, 2, 3), name="push"))
    mech.add_force(SpringDamper("J1", damping=2))
    for name, k in (("s", 1.0), ("r", 2.0)):
        points = ((k, 0, 0), (0, 0, k))
        mech.add_force(SpringDamper(bodies=(first, "ground"), points=points, stiffness=k, free=3 * k, name=name))
    model = read_model(built(mech))
    assert model.tables["forces"].tolist() == [[0, -1, 0b1111], [0, -1, 0b1111], [1, -1, 0b1]]
    values = model.parameters
    assert values["spring_points"].tolist() == [[1, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]]
    assert values["spring_stiffness"].ravel().tolist() == [1, 2]
    assert values["spring_damping"].ravel().tolist() == [0, 0]
    assert values["spring_free_length"].ravel().tolist() == [3, 6]
    assert values["wrench_point"].tolist() == [[1, 2, 3]]
    assert model.names[-3:] == ["s", "r", "push"]

"""Frames and kinds of joints: rotations become exact, axes unit vectors; others are refused."""

import numpy as np
import pytest

from linkwork.mechanism import Fixed, Frame, Mechanism, Prismatic, Revolute
from support.bodies import BALL, HINGE, refused, with_bodies

QUARTER_TURN = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]  # about z


class TestRotations:
    def test_quaternion_and_matrix_agree(self):
        half = np.sqrt(0.5)
        np.testing.assert_allclose(Frame(rotation=(half, 0, 0, half)).rotation, QUARTER_TURN, atol=1e-15)

    @pytest.mark.parametrize("rough", [(0.7071, 0, 0, 0.7071), [[0.8, -0.6001, 0], [0.6001, 0.8, 0], [0, 0, 1]]])
    def test_four_digits_become_exact(self, rough):
        matrix = Frame(rotation=rough).rotation
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(3), atol=1e-15)
        np.testing.assert_array_equal(Frame(rotation=matrix).rotation, matrix)

    def test_equal_frames_hash_alike(self):
        assert len({Frame(), Frame((0, 0, 0), np.eye(3)), Frame((1, 0, 0))}) == 2
        assert repr(Frame((1, 0, 0))) == "Frame((1.0, 0.0, 0.0))"
        assert "[0.0, -1.0" in repr(Frame(rotation=QUARTER_TURN))

    @pytest.mark.parametrize(
        "rotation",
        [(1, 1, 0, 0), (0, 0, 0, 0), (1e200, 0, 0, 0), np.diag([1, 1, -1]), np.zeros((3, 3)), 1e300 * np.ones((3, 3))],
    )
    @pytest.mark.filterwarnings("error")
    def test_what_is_none_is_refused(self, rotation):
        with refused("body 'crank'", "rotation"):
            Mechanism("m").add_body("crank", 1.0, (0, 0, 0), BALL, rotation=rotation)
        with refused("joint 'A'", "child_frame", "rotation"):
            with_bodies("crank").add_joint("A", HINGE, "ground", "crank", child_frame=Frame(rotation=rotation))


class TestKinds:
    def test_axis_becomes_a_unit_vector_and_stays_it(self):
        rng = np.random.default_rng(1)
        for scale in (1e-300, 1e-3, 1.0, 1e300):
            axis = Revolute(scale * rng.normal(size=3)).axis
            assert np.linalg.norm(axis) == pytest.approx(1.0, abs=4e-16)
            np.testing.assert_array_equal(Revolute(axis).axis, axis)

    def test_comparison(self):
        assert Revolute((0, 0, 2)) == Revolute((0, 0, 1)) != Prismatic((0, 0, 1))
        assert len({Fixed(), Fixed(), Revolute((0, 0, 2)), Revolute((0, 0, 1))}) == 2
        assert (repr(Fixed()), repr(Prismatic((0, 0, 1)))) == ("Fixed()", "Prismatic((0.0, 0.0, 1.0))")
        assert Fixed() != "fixed"


@pytest.mark.parametrize("make", [lambda: Revolute((0, 1)), lambda: Frame((1, 2)), lambda: Frame(rotation=np.eye(2))])
def test_wrong_shapes_are_refused_at_once(make):
    with refused("must be 3"):
        make()

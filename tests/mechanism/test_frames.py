"""Frames made of axes, Euler angles and points, and their composition."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwork import Frame, MechanismError

RNG = np.random.default_rng(7)
ORDERS = ("x", "Z", "xy", "YZ", "xyz", "ZYX", "zxz", "YXY", "zyx")
POINTS = RNG.normal(size=(4, 5, 3))


def random_frame() -> Frame:
    return Frame(RNG.normal(size=3), Rotation.random(random_state=RNG).as_matrix())


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_are_those_of_scipy(order: str) -> None:
    angles = RNG.uniform(-7, 7, len(order))
    frame = Frame.from_euler(angles, order, origin=(1, 2, 3))
    truth = Rotation.from_euler(order, angles)
    np.testing.assert_allclose(frame.rotation, truth.as_matrix(), rtol=0, atol=4e-15)
    np.testing.assert_allclose(frame.apply(POINTS[0]), truth.apply(POINTS[0]) + np.array([1, 2, 3]), atol=2e-14)


def test_euler_angles_in_degrees_and_a_plain_number() -> None:
    assert np.abs(Frame.from_euler(90, "z", degrees=True).rotate((1, 0, 0)) - [0, 1, 0]).max() < 1e-16
    frame = Frame.from_euler((10, 20, 30), "ZYX", degrees=True)
    truth = Rotation.from_euler("ZYX", (10, 20, 30), degrees=True)
    np.testing.assert_allclose(frame.rotation, truth.as_matrix(), atol=1e-15)


@pytest.mark.parametrize("order", ["", "xyzx", "xY", "xxy", "abc", 3, None])
def test_an_unknown_order_of_euler_angles_is_refused(order: str) -> None:
    with pytest.raises(MechanismError, match="order must be one to three axes"):
        Frame.from_euler((0, 0, 0), order)


def test_as_many_euler_angles_as_axes() -> None:
    with pytest.raises(MechanismError, match="angles of 'xyz' must be 3 numbers"):
        Frame.from_euler((0, 0))
    with pytest.raises(MechanismError, match="must be finite"):
        Frame.from_euler((0, 0, np.nan))


@pytest.mark.parametrize("left_out", ["x", "y", "z", None])
def test_axes_of_any_length_give_the_rotation(left_out: str | None) -> None:
    rotation = Rotation.random(random_state=RNG).as_matrix()
    axes = {name: 3.7 * rotation[:, k] for k, name in enumerate("xyz") if name != left_out}
    frame = Frame.from_axes(**axes, origin=(1, 2, 3))
    np.testing.assert_allclose(frame.rotation, rotation, atol=2e-15)
    assert frame.position.tolist() == [1, 2, 3]


def test_typed_axes_become_orthonormal() -> None:
    frame = Frame.from_axes(x=(0.866, 0.5, 0), y=(-0.5, 0.8660, 0.0004))
    frame.check("frame")
    assert np.abs(frame.rotation.T @ frame.rotation - np.eye(3)).max() < 1e-15


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"x": (1, 0, 0)}, "give two of the axes"),
        ({}, "give two of the axes"),
        ({"x": (1, 0, 0), "y": (1, 1, 0)}, "x and y must be perpendicular, and the angle between them is 45 deg"),
        ({"x": (1, 0, 0), "z": (0, 0, 0)}, "z is zero"),
        ({"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, -1)}, "left-handed"),
        ({"x": (1, 0), "y": (0, 1, 0)}, "x must be 3 numbers"),
    ],
)
def test_axes_that_span_no_frame_are_refused(axes: dict[str, tuple[float, ...]], message: str) -> None:
    with pytest.raises(MechanismError, match=message):
        Frame.from_axes(**axes)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("up", [None, (0.3, -0.2, 0.9)])
def test_a_frame_of_two_points_leads_from_one_to_the_other(axis: str, up: tuple[float, ...] | None) -> None:
    a, b = RNG.normal(size=(2, 3))
    frame = Frame.from_two_points(a, b, axis, up)
    frame.check("frame")
    tip = np.linalg.norm(b - a) * np.eye(3)["xyz".index(axis)]
    np.testing.assert_allclose(frame.apply(tip), b, atol=1e-15)
    upper = frame.rotation[:, 1 if axis == "z" else 2]
    wanted = np.array([0, 0, 1] if up is None else up)
    side = np.cross(b - a, wanted)  # perpendicular to the plane of the line and `up`, in which the upper axis lies
    assert abs(upper @ side) < 1e-14
    assert upper @ wanted > 0


def test_a_vertical_line_has_y_upwards() -> None:
    frame = Frame.from_two_points((0, 0, 0), (0, 0, 2))
    assert frame.rotation[:, 2].tolist() == [0, 1, 0]
    nearly = Frame.from_two_points((0, 0, 0), (1e-8, 0, 1), up=(0, 0, 1))
    assert np.abs(nearly.rotation.T @ nearly.rotation - np.eye(3)).max() < 1e-15


def test_two_points_without_a_line_are_refused() -> None:
    with pytest.raises(MechanismError, match="give two different ones"):
        Frame.from_two_points((1, 2, 3), (1, 2, 3))
    with pytest.raises(MechanismError, match="is parallel to the line"):
        Frame.from_two_points((0, 0, 0), (0, 2, 0), up=(0, -1, 0))
    with pytest.raises(MechanismError, match="axis must be 'x', 'y' or 'z'"):
        Frame.from_two_points((0, 0, 0), (0, 2, 0), axis="X")  # type: ignore[arg-type]


def test_composition_and_inverse_are_those_of_homogeneous_matrices() -> None:
    def matrix(frame: Frame) -> np.ndarray:
        full = np.eye(4)
        full[:3, :3], full[:3, 3] = frame.rotation, frame.position
        return full

    a, b, c = (random_frame() for _ in range(3))
    np.testing.assert_allclose(matrix(a @ b @ c), matrix(a) @ matrix(b) @ matrix(c), atol=4e-15)
    np.testing.assert_allclose(matrix(a.inverse()), np.linalg.inv(matrix(a)), atol=4e-15)
    np.testing.assert_allclose((a @ b).apply(POINTS), a.apply(b.apply(POINTS)), atol=1e-14)
    np.testing.assert_allclose(a.inverse().apply(a.apply(POINTS)), POINTS, atol=1e-14)
    assert a.apply(POINTS).shape == POINTS.shape


def test_a_long_chain_of_frames_stays_orthonormal() -> None:
    step, frame = Frame.from_euler((0.1, 0.2, 0.3)), Frame()
    for _ in range(10000):
        frame = frame @ step
    frame.check("frame")


def test_a_frame_multiplies_frames_only() -> None:
    with pytest.raises(TypeError):
        Frame() @ "x"  # type: ignore[operator]
    with pytest.raises(MechanismError, match="three coordinates"):
        Frame().apply((1, 2))


def test_the_quaternion_of_a_frame() -> None:
    rotation = Rotation.random(random_state=RNG)
    w_last = rotation.as_quat(canonical=True)
    np.testing.assert_allclose(Frame(rotation=rotation.as_matrix()).quaternion, np.roll(w_last, 1), atol=1e-15)

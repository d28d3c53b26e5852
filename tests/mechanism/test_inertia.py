"""Inertias against sums over the shape's volume."""

import numpy as np
import pytest

from linkwork.errors import MechanismError
from linkwork.mechanism import Mechanism, inertia

CELLS = (np.arange(60) + 0.5) / 30 - 1.0  # midpoints of [-1, 1]
CUBE = np.stack(np.meshgrid(CELLS, CELLS, CELLS, indexing="ij"), axis=-1).reshape(-1, 3)


def summed(points, mass):
    """Inertia of equal masses at these points."""
    weight = mass / len(points)
    return weight * (np.eye(3) * (points**2).sum() - points.T @ points)


def round_about(points, axis):
    return points[(np.delete(points, "xyz".index(axis), axis=1) ** 2).sum(axis=1) < 1.0]


def test_box():
    size = np.array([0.3, 0.5, 0.7])
    np.testing.assert_allclose(inertia.box(2.0, size), summed(CUBE * size / 2, 2.0), rtol=1e-3, atol=1e-12)


def test_sphere():
    ball = CUBE[(CUBE**2).sum(axis=1) < 1.0] * 0.4
    np.testing.assert_allclose(inertia.sphere(3.0, 0.4), summed(ball, 3.0), rtol=5e-3, atol=1e-12)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_round_shapes(axis):
    scale = np.full(3, 0.2)
    scale["xyz".index(axis)] = 0.45
    points = round_about(CUBE, axis) * scale
    np.testing.assert_allclose(inertia.cylinder(2.0, 0.2, 0.9, axis), summed(points, 2.0), rtol=5e-3, atol=1e-12)
    scale["xyz".index(axis)] = 0.0
    points = round_about(CUBE, axis) * scale
    np.testing.assert_allclose(inertia.disk(2.0, 0.2, axis), summed(points, 2.0), rtol=5e-3, atol=1e-12)
    line = np.zeros((len(CELLS), 3))
    line[:, "xyz".index(axis)] = CELLS * 0.6
    np.testing.assert_allclose(inertia.rod(2.0, 1.2, axis), summed(line, 2.0), rtol=1e-3, atol=1e-12)


def test_an_axis_is_a_letter_or_a_vector_of_any_length():
    axis = np.array([1.0, -2.0, 0.5])
    line = np.linspace(-1, 1, 2001)[:, None] * 0.6 * axis / np.linalg.norm(axis)
    np.testing.assert_allclose(inertia.rod(2.0, 1.2, axis), summed(line, 2.0), rtol=2e-3)
    x, y, z = np.linalg.qr(np.column_stack([axis, np.eye(3)[:, :2]]))[0].T
    turned = np.column_stack([y, z, x])
    for shape in (lambda a: inertia.disk(2.0, 0.3, a), lambda a: inertia.cylinder(2.0, 0.3, 0.7, a)):
        np.testing.assert_allclose(shape(axis), turned @ shape("z") @ turned.T, atol=1e-15)
        np.testing.assert_array_equal(shape((0, 0, 3)), shape("z"))
    with pytest.raises(MechanismError, match=r"inertia\.rod: axis must be a vector, or 'x', 'y' or 'z', not 'w'"):
        inertia.rod(1.0, 1.0, "w")
    with pytest.raises(MechanismError, match="axis is zero"):
        inertia.disk(1.0, 1.0, (0, 0, 0))


def test_every_shape_is_a_legal_inertia():
    mech = Mechanism("shapes")
    shapes = {
        "rod": inertia.rod(1.0, 0.3, "y"),
        "disk": inertia.disk(1.0, 0.3),
        "cylinder": inertia.cylinder(1.0, 0.3, 2.0),
        "sphere": inertia.sphere(1.0, 0.3),
        "plate": inertia.box(1.0, (0.1, 0.2, 0)),
    }
    for name, matrix in shapes.items():
        mech.add_body(name, 1.0, (0, 0, 0), matrix)
        np.testing.assert_array_equal(mech.bodies[name].inertia, matrix)
        np.testing.assert_array_equal(matrix, matrix.T)
        least, middle, largest = np.linalg.eigvalsh(matrix)
        assert least >= 0.0
        assert middle > 0.0
        assert largest <= (least + middle) * (1.0 + 1e-12)
    assert list(mech.bodies) == list(shapes)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: inertia.rod(1.0, 0.0), "rod: length must be positive"),
        (lambda: inertia.disk(1.0, -1.0), "disk: radius"),
        (lambda: inertia.cylinder(1.0, 0.0, 1.0), "cylinder: radius"),
        (lambda: inertia.cylinder(1.0, 1.0, -2.0), "cylinder: length .*-2"),
        (lambda: inertia.sphere(1.0, -1), "sphere: radius"),
        (lambda: inertia.box(1.0, (1, -1, 1)), "box: size must not be negative"),
        (lambda: inertia.box(1.0, 2.0), "box: size must be 3 numbers"),
        (lambda: inertia.rod(1.0, 1.0, axis="X"), "rod: axis .*'X'"),
    ],
)
def test_bad_sizes(make, words):
    with pytest.raises(MechanismError, match=words):
        make()


@pytest.mark.parametrize("mass", [-1.0, np.nan])
def test_a_bad_mass_is_left_to_the_body_so_that_it_is_named(mass):
    with pytest.raises(MechanismError, match="body 'crank'"):
        Mechanism("m").add_body("crank", mass, (0, 0, 0), inertia.rod(mass, 0.4))

"""Sine, cosine and arc tangent of csrc/math/scalar.h against the long doubles of libm."""

import subprocess

import numpy as np
import pytest

from linkwork.core.sources import source_dir

PROGRAM = """
#include <stdio.h>
#define LW_ARITHMETIC 1
#include "math/scalar.h"
int main(void) {
  double in[2], out[3];
  while (fread(in, sizeof in, 1, stdin)) {
    out[0] = arctan2_double(in[0], in[1]);
    sincos_double(in[0], &out[1], &out[2]);
    fwrite(out, sizeof out, 1, stdout);
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def functions(needs_program, tmp_path_factory):
    """(n, 2) numbers y, x to (n, 3) numbers atan2(y, x), sin y, cos y."""
    folder = tmp_path_factory.mktemp("functions")
    source, program = folder / "functions.c", folder / "functions"
    source.write_text(PROGRAM)
    folders = [f"-I{source_dir('csrc')}", f"-I{source_dir('csrc') / 'include'}"]
    flags = ["-std=c11", "-O2", "-ffp-contract=off", "-Wno-psabi", *folders]
    subprocess.run([needs_program("cc"), *flags, source, "-o", program, "-lm"], check=True)

    def apply(numbers):
        done = subprocess.run([program], input=np.ascontiguousarray(numbers).tobytes(), capture_output=True, check=True)
        return np.frombuffer(done.stdout).reshape(-1, 3)

    return apply


def spread(rng, n, low, high):
    return rng.uniform(-1.0, 1.0, n) * 2.0 ** rng.uniform(low, high, n)


def test_arc_tangent(functions):
    rng = np.random.default_rng(1)
    numbers = np.stack([spread(rng, 100_000, -30, 30), spread(rng, 100_000, -30, 30)], axis=1)
    exact = np.arctan2(*numbers.T.astype(np.longdouble))
    found = functions(numbers)[:, 0]
    assert np.abs((found - exact) / np.spacing(np.abs(exact.astype(float)))).max() < 1.6


def test_arc_tangent_on_the_axes(functions):
    axes = np.array([[y, x] for y in (0.0, -0.0, 1.0, -1.0) for x in (1.0, -1.0, 0.0)] + [[np.nan, 1.0], [1.0, np.nan]])
    found, expected = functions(axes)[:, 0], np.arctan2(*axes.T)
    assert np.array_equal(found, expected, equal_nan=True)
    assert np.array_equal(np.signbit(found[:-2]), np.signbit(expected[:-2]))


@pytest.mark.parametrize(("low", "high"), [(-30, 19.6), (19.6, 50)])
def test_sine_and_cosine(functions, low, high):
    y = spread(np.random.default_rng(2), 100_000, low, high)
    found = functions(np.stack([y, y], axis=1))[:, 1:]
    exact = np.stack([np.sin(y.astype(np.longdouble)), np.cos(y.astype(np.longdouble))], axis=1)
    assert np.abs(found - exact).max() < 3e-16


def test_no_angle_is_too_large(functions):
    found = functions(np.array([[1e300, 1.0], [np.inf, 1.0]]))[:, 1:]
    assert found[0] @ found[0] == pytest.approx(1.0, abs=1e-15)
    assert np.isnan(found[1]).all()

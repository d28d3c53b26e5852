"""The five SDF files of Cassie, loops, gearboxes and springs, against dense equations with a parser of their own."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linkwork as lw
from linkwork.formats import sdf
from linkwork.formats.robot import Robot
from linkwork.formats.to_mechanism import to_mechanism
from support.checkout import beside
from support.maximal import Maximal
from support.moving import largest_difference, moving
from support.sdf_oracle import SdfOracle

# The loops of the shin spring in cassie.sdf, two parallel hinges and a slide, are rigid but for the digits they were
# typed with, so that its motion there is one of rounding errors: it is compared without these two joints as well.
RIGID = ("left-shin-spring-joint", "right-shin-spring-joint")

NAMES = ["cassie", "cassie_reduced", "cassie_simple", "cassie_v2", "cassie_wo_gearbox_spring"]


class Case:
    def __init__(self, name: str, without: tuple[str, ...] = ()) -> None:
        path = beside(f"models/cassie_sdf/{name}.sdf")
        self.robot: Robot = sdf.read(path)
        self.oracle = SdfOracle(path)
        for joint in without:
            del self.robot.joints[joint]
        self.oracle.joints = [one for one in self.oracle.joints if one.name not in without]
        self.mech = to_mechanism(self.robot)
        self.model = lw.compile(self.mech)
        self.names = self.mech.names["link"]
        approximated = self.robot.report.of("approximated")
        changed = {entry.element for entry in approximated}
        # Frames that were made exact, rad: the equations of the oracle have those of the file.
        self.turned = sum(float(angle) for e in approximated for angle in re.findall(r"turned by (\S+) rad", e.text))
        for link, found in self.oracle.links.items():  # inertias that no body can have
            if any(element.startswith(f"link {link!r}") for element in changed):
                found.inertia = self.mech.bodies[self.names[link]].inertia

    def state(self, rng: np.random.Generator) -> lw.State:
        """A closed state near that of the file; angles of hinges that the loops leave free are random."""
        hinges = [name for name in self.model.numbering.q if self.mech.joints[name].kind.nq == 1]
        q = {name: rng.uniform(-0.15, 0.15) for name in hinges if name in self.model.joint_names}
        return self.model.assemble(q=q, u={name: rng.uniform(-1.0, 1.0) for name in q})

    def system(self, state: lw.State) -> Maximal:
        bodies = {
            link: moving(self.model, state, self.names[link], one.mass, one.com, one.inertia)
            for link, one in self.oracle.links.items()
        }
        return self.oracle.maximal(bodies, np.array(self.mech.gravity))


@pytest.mark.parametrize(("name", "without"), [(name, RIGID if name == "cassie" else ()) for name in NAMES])
@pytest.mark.parametrize("count", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_accelerations(name: str, without: tuple[str, ...], count: int) -> None:
    case = Case(name, without)
    rng = np.random.default_rng(8)
    for _ in range(count):
        state = case.state(rng)
        system = case.system(state)
        assert system.residual() < 1e-12 + case.turned  # on arms below a metre
        assert system.residual_rate() < 1e-11 + 5 * case.turned
        assert largest_difference(case.model, state, system, case.names) < 1e-9 + 5 * case.turned


def test_one_frame_is_not_that_of_the_file() -> None:
    """A hinge of cassie_v2 whose angles in the file have rounding errors: all others are compared as they are."""
    turned = {name: Case(name).turned for name in NAMES}
    assert 5e-8 < turned.pop("cassie_v2") < 1e-7
    assert not any(turned.values())


def test_the_whole_of_cassie_closes() -> None:
    case = Case("cassie")
    assert len(case.robot.couplings) == 10
    system = case.system(case.model.assemble())
    assert system.residual() < 1e-14
    assert "gearbox" not in str(case.robot.report)

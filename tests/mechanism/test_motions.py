"""Prescribed motions: given values are kept, and each mistake names the drive and the remedy."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism import Mechanism, Motion, Prismatic, Spherical, Universal
from support.bodies import HINGE, refused, with_bodies


def driven():
    mech = with_bodies("rotor", "arm", "plate")
    mech.add_joint("motor", HINGE, "ground", "rotor", at=(0, 0, 0))
    mech.add_joint("slide", Prismatic((1, 0, 0)), "ground", "arm", at=(0, 0, 0))
    mech.add_joint("cross", Universal((1, 0, 0), (0, 1, 0)), "rotor", "plate", at=(0, 0, 0))
    mech.add_joint("ball", Spherical(), "rotor", "plate", at=(0, 0, 0))
    return mech


@pytest.mark.parametrize(
    ("given", "coefficients"),
    [
        ({}, (0.0, 0.0, 0.0, 0.0)),
        ({"polynomial": 2}, (2.0, 0.0, 0.0, 0.0)),
        ({"polynomial": (1, 2)}, (1.0, 2.0, 0.0, 0.0)),
        ({"polynomial": np.array([1.0, 2.0, 3.0, -4.0])}, (1.0, 2.0, 3.0, -4.0)),
    ],
)
def test_numbers_of_a_motion(given, coefficients):
    motion = Motion(**given)
    assert motion.coefficients == coefficients
    assert motion.constant == coefficients[0]
    assert all(type(value) is float for value in motion.polynomial)


BAD_MOTIONS = {
    "five numbers": ({"polynomial": (1, 2, 3, 4, 5)}, ("polynomial has 5 numbers", "up to 4")),
    "text": ({"polynomial": "1"}, ("Motion: polynomial must be one number",)),
    "nothing": ({"polynomial": None}, ("Motion: polynomial must be one number",)),
    "nested": ({"polynomial": [[1.0]]}, ("Motion: polynomial must be one number",)),
    "NaN": ({"polynomial": (0.0, np.nan)}, ("Motion: polynomial must be finite",)),
    "amplitude": ({"amplitude": np.inf}, ("Motion: amplitude must be finite",)),
    "frequency": ({"frequency": (1, 2)}, ("Motion: frequency must be one number",)),
    "phase": ({"phase": "x"}, ("Motion: phase must be one number",)),
}


@pytest.mark.parametrize(("given", "words"), BAD_MOTIONS.values(), ids=BAD_MOTIONS)
def test_bad_numbers(given, words):
    with refused(*words):
        Motion(**given)


def test_a_drive_is_a_coupling_of_one_term():
    mech = driven()
    motion = Motion((0.1, 2.0), amplitude=0.3, frequency=4.0, phase=0.5)
    mech.prescribe("motor", motion)
    mech.prescribe("cross[2]", motion)
    mech.prescribe("slide", motion, name="pusher")
    assert list(mech.couplings) == ["motor_drive", "cross_2_drive", "pusher"]
    for drive, coordinate in zip(mech.couplings.values(), ("motor", "cross[2]", "slide"), strict=True):
        assert drive.motion == motion
        assert [(name, term.coefficients) for name, term in drive.terms.items()] == [(coordinate, (1.0, 0.0, 0.0, 0.0))]
    mech.add_coupling("moving", {"motor": 1.0, "slide": 2.0}, offset=0.4, motion=motion)
    assert (mech.couplings["moving"].offset, mech.couplings["moving"].motion) == (0.4, motion)


def test_files_keep_motions():
    mech = driven()
    mech.prescribe("motor", Motion((1 / 3, -0.0), amplitude=0.3))
    mech.add_coupling("still", {"slide": 1.0})
    data = mech.to_dict()
    assert data["couplings"][0] == {
        "name": "motor_drive",
        "terms": {"motor": 1.0},
        "offset": 0.0,
        "motion": {"polynomial": [1 / 3, -0.0], "amplitude": 0.3, "frequency": 0.0, "phase": 0.0},
    }
    assert "motion" not in data["couplings"][1]
    again = Mechanism.from_dict(data)
    assert repr(again.to_dict()) == repr(data)
    assert again.couplings == mech.couplings


MISTAKES = {
    "unknown key": ({"ampltude": 1.0}, ("couplings[0].motion.ampltude", "did you mean 'amplitude'")),
    "no numbers": ({"polynomial": "x"}, ("couplings[0].motion", "polynomial must be one number")),
    "no object": (3.0, ("couplings[0].motion", "object")),
}


@pytest.mark.parametrize(("motion", "words"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_a_file(motion, words):
    data = driven().to_dict()
    data["couplings"] = [{"name": "drive", "terms": {"motor": 1.0}, "motion": motion}]
    with refused(*words):
        Mechanism.from_dict(data)


BAD_DRIVES = {
    "unknown joint": (("moter", Motion()), ("prescribe", "'moter'", "did you mean 'motor'")),
    "quaternion": (("ball", Motion()), ("joint 'ball' (Spherical)", "quaternion")),
    "one of several": (("cross", Motion()), ("name 'cross[1]' or 'cross[2]'",)),
    "no motion": (("motor", 3.0), ("prescribe 'motor'", "give a Motion")),
    "name taken": (("motor", Motion(), "slide"), ("a joint 'slide' already", "coupling another name")),
    "no name": (("motor", Motion(), "a.b"), ("coupling 'a.b'", "a_b")),
}


@pytest.mark.parametrize(("arguments", "words"), BAD_DRIVES.values(), ids=BAD_DRIVES)
def test_bad_drives_are_not_added(arguments, words):
    mech = driven()
    with refused(*words):
        mech.prescribe(*arguments)
    with refused("coupling 'gear'", "motion must be a Motion"):
        mech.add_coupling("gear", {"motor": 1.0}, motion=(0.0, 1.0))
    assert not mech.couplings


def test_a_joint_cannot_be_driven_twice_by_one_name():
    mech = driven()
    mech.prescribe("motor", Motion())
    with refused("a coupling 'motor_drive' already"):
        mech.prescribe("motor", Motion((0.0, 1.0)))


def test_it_is_part_of_the_public_face():
    assert lw.Motion is Motion

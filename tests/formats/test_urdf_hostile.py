"""Bad URDF files: every mistake is a MechanismError with file, element and remedy; no other exception comes out."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from pathlib import Path

import pytest

from linkwork.errors import LinkworkError, MechanismError
from linkwork.formats import urdf
from support.urdf_texts import CLOSURES, EVERYTHING, robot

HINGE = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>'
TWO = '<link name="a"/><link name="b"/>'

BAD = {
    "no XML": ("<robot", "no well-formed XML"),
    "another root": ("<sdf/>", "root must be 'robot'"),
    "no link": (robot(""), "no link"),
    "an entity": ('<!DOCTYPE r [<!ENTITY a "b">]><robot name="r">&a;</robot>', "document types and entities"),
    "a macro": (robot('<xacro:leg name="l"/>'), "expand it first"),
    "a property of a macro": (robot('<link name="${prefix}a"/>'), "expand it first"),
    "a link without a name": (robot("<link/>"), "'name' is missing"),
    "an empty name": (robot('<link name=""/>'), "name is empty"),
    "two links of one name": (robot('<link name="a"/><link name="a"/>'), "another link has this name"),
    "two joints of one name": (robot(TWO + HINGE + HINGE), "another joint has this name"),
    "an unknown link": (robot('<link name="a"/>' + HINGE), "no link 'b'"),
    "an unknown type": (robot(TWO + HINGE.replace("revolute", "hinge")), "no type 'hinge'"),
    "a type of Drake": (robot(TWO + HINGE.replace("revolute", "ball")), "<drake:joint>"),
    "a joint to itself": (robot(TWO + HINGE.replace('"b"', '"a"')), "the same link"),
    "no parent": (robot(TWO + HINGE.replace('<parent link="a"/>', "")), "'parent' is missing"),
    "the world as child": (
        robot('<link name="a"/>' + HINGE.replace('"a"', '"world"').replace('"b"', '"world"')),
        "the world",
    ),
    "two parents": (
        robot(TWO + '<link name="c"/>' + HINGE + HINGE.replace('"j"', '"k"').replace('"a"', '"c"')),
        "already the child",
    ),
    "a circle": (
        robot(TWO + HINGE + '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>'),
        "circle",
    ),
    "two roots": (robot(TWO), "no parent joint"),
    "a zero axis": (robot(TWO + HINGE.replace("</joint>", '<axis xyz="0 0 0"/></joint>')), "it is zero"),
    "two numbers": (robot(TWO + HINGE.replace("</joint>", '<axis xyz="0 1"/></joint>')), "3 finite numbers"),
    "no number": (robot(TWO + HINGE.replace("</joint>", '<origin xyz="0 0 nan"/></joint>')), "3 finite numbers"),
    "no mass": (robot('<link name="a"><inertial/></link>'), "'mass' is missing"),
    "negative mass": (
        robot(
            '<link name="a"><inertial><mass value="-1"/>'
            '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        ),
        "must not be negative",
    ),
    "negative damping": (robot(TWO + HINGE.replace("</joint>", '<dynamics damping="-1"/></joint>')), "damping"),
    "negative effort": (robot(TWO + HINGE.replace("</joint>", '<limit effort="-1"/></joint>')), "effort"),
    "mimic of nothing": (robot(TWO + HINGE.replace("</joint>", '<mimic joint="x"/></joint>')), "no joint 'x'"),
    "mimic of itself": (robot(TWO + HINGE.replace("</joint>", '<mimic joint="j"/></joint>')), "itself"),
    "two origins": (robot(TWO + HINGE.replace("</joint>", "<origin/><origin/></joint>")), "two elements"),
    "two rotations": (
        robot(TWO + HINGE.replace("</joint>", '<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/></joint>')),
        "leave one",
    ),
    "a zero quaternion": (
        robot(TWO + HINGE.replace("</joint>", '<origin quat_xyzw="0 0 0 0"/></joint>')),
        "quat_xyzw is zero",
    ),
    "a loop of one link": (
        robot(TWO + HINGE + '<loop name="l" type="fixed"><predecessor link="a"/><successor link="a"/></loop>'),
        "with itself",
    ),
    "a loop of no type": (
        robot(TWO + HINGE + '<loop name="l" type="hinge"><predecessor link="a"/><successor link="b"/></loop>'),
        "no type 'hinge'",
    ),
    "a coupling without joints": (
        robot(
            TWO + HINGE + '<coupling name="c"><predecessor link="a"/><successor link="a"/><ratio value="2"/></coupling>'
        ),
        "no joint that moves",
    ),
    "a ratio of zero": (
        robot(
            TWO + HINGE + '<coupling name="c"><predecessor link="a"/><successor link="b"/><ratio value="0"/></coupling>'
        ),
        "ratio is 0",
    ),
}

YAML = {
    "no YAML": ("closed_loop: [", "no YAML"),
    "a list": ("- closed_loop: 1", "must be a mapping"),
    "an alias": ("closed_loop: &a [x, x]\ntype: *a", "an alias"),
    "depth": ("closed_loop: " + "[" * 50 + "]" * 50, "more than 20 levels"),
    "one frame": ("closed_loop: [[a]]\ntype: [6d]", "no pair of frames"),
    "one link": ("closed_loop: [[a, a]]\ntype: [6d]", "frames of one link"),
    "no link": ("closed_loop: [[a, c]]\ntype: [6d]", "no link or joint 'c'"),
    "no type": ("closed_loop: [[a, b]]\ntype: [5d]", "there is no '5d'"),
    "types": ("closed_loop: [[a, b]]\ntype: [6d, 3d]", "give one for each"),
    "joint types": ("joint_name: [j]\njoint_type: []", "give one for each"),
    "joint type": ("joint_name: [j]\njoint_type: [UJOINT_XX]", "there is no 'UJOINT_XX'"),
    "text": ("closed_loop: a", "must be a list"),
    "numbers": ("name_mot: [[1]]", "list of names"),
    "bytes": (b"closed_loop: \xff\xfe", "no YAML"),
}


def read(tmp_path: Path, text: str | bytes, closures: str | bytes | None = None) -> object:
    path = tmp_path / "robot.urdf"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if closures is not None:
        path.with_suffix(".yaml").write_bytes(closures if isinstance(closures, bytes) else closures.encode())
    return urdf.read(path)


@pytest.mark.parametrize("case", BAD)
def test_mistakes_are_named(case: str, tmp_path: Path) -> None:
    text, message = BAD[case]
    with pytest.raises(MechanismError, match=re.escape(message)) as caught:
        read(tmp_path, text)
    assert "robot.urdf" in str(caught.value)


@pytest.mark.parametrize("case", YAML)
def test_mistakes_in_closures_are_named(case: str, tmp_path: Path) -> None:
    closures, message = YAML[case]
    with pytest.raises(MechanismError, match=re.escape(message)) as caught:
        read(tmp_path, robot(TWO + HINGE), closures)
    assert "robot.yaml" in str(caught.value)


def test_a_large_yaml_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MechanismError, match="at most 1 MB"):
        read(tmp_path, robot(TWO + HINGE), "closed_loop: []\n" + "#" * 1_000_001)


def test_blank_lines_before_the_declaration_are_skipped(tmp_path: Path) -> None:
    text = "\r\n \n<?xml version='1.0'?>\n" + robot(TWO + HINGE)
    assert len(read(tmp_path, text).joints) == 1  # type: ignore[attr-defined]


def test_macros_that_were_expanded_are_read(tmp_path: Path) -> None:
    """The namespace is left in the output of xacro."""
    text = robot(TWO + HINGE).replace("<robot", '<robot xmlns:xacro="http://wiki.ros.org/xacro"', 1)
    assert not read(tmp_path, text).report.entries  # type: ignore[attr-defined]


def test_a_long_chain_is_read(tmp_path: Path) -> None:
    count = 3000
    links = "".join(f'<link name="{k}"/>' for k in range(count + 1))
    joints = "".join(
        f'<joint name="{k}" type="fixed"><parent link="{k}"/><child link="{k + 1}"/></joint>' for k in range(count)
    )
    assert len(read(tmp_path, robot(links + joints)).joints) == count  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_raise_nothing_else(seed: int, tmp_path: Path) -> None:
    """Words are exchanged, doubled and deleted, bytes are changed."""
    rng = random.Random(seed)
    for _ in range(120):
        text, closures = _damaged(EVERYTHING, rng), _damaged(CLOSURES, rng) if rng.random() < 0.5 else CLOSURES
        with suppress(LinkworkError):
            read(tmp_path, text, closures)


def _damaged(text: str, rng: random.Random) -> bytes:
    words = re.findall(r"\w+|\W+", text)
    for _ in range(rng.choice((1, 1, 2, 5))):
        k = rng.randrange(len(words))
        words[k] = rng.choice(
            (rng.choice(words), "", words[k] * 2, "0", "-1", "nan", "1e999", "world", '"', "<x>", "é", "inf", "1" * 400)
        )
    data = bytearray("".join(words).encode())
    for _ in range(rng.choice((0, 0, 1, 3))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)

"""MJCF texts of tendons, springs and actuators, each on a common tree, and of those that are left out."""

from __future__ import annotations

import re
from itertools import count

TREE = """<mujoco model="{name}"><compiler angle="radian" autolimits="true"/><option gravity="0.2 -0.1 -9"/>
<default><geom type="box" contype="0" conaffinity="0"/></default>
<worldbody><site name="w1" pos="0 0 2" euler="0.2 0.1 0.3"/><site name="w2" pos="0.4 0.1 2"/>
  <geom name="ball" type="sphere" size="0.1"/>
  <body name="arm" pos="0 0 1" euler="0.1 0.2 0.3">
    <joint name="a" axis="0 1 0.2" {a}/><joint name="s" type="slide" axis="0.3 0 1" pos="0.1 0 0" {s}/>
    <geom size=".1 .15 .2" pos=".1 .2 .3" mass="2"/><site name="e1" pos="0.3 0.1 0" euler="0.4 0.1 0.2"/>
    <body name="hand" pos="0.4 0 0" euler="0.1 0 0.2">
      <joint name="h" axis="0 0.6 0.8" {h}/><geom size=".1 .1 .2" pos=".1 0 .1" mass="1"/>
      <site name="e2" pos="0.2 0 0.1" euler="0.5 0.1 0"/>
      <body name="tip" pos="0.1 0.2 0.1"><joint name="b" type="ball" pos="0.05 0 0.02" {b}/>
        <geom size=".1 .2 .05" pos="0.1 0 0" mass="0.7"/><site name="e3" pos="0.1 0 0.2" euler="0 0.3 0"/>
      </body>
    </body>
  </body>
  <body name="drone" pos="1 0 1"><joint name="f" type="free" {f}/><geom size=".1 .2 .3" pos="0.1 0 0.1" mass="1.5"/>
    <site name="e4" pos="0.1 0.1 0.1" euler="0.3 0.2 0.1"/>
  </body>
</worldbody>{more}</mujoco>"""
BLANK = dict.fromkeys(("a", "s", "h", "b", "f", "more"), "")


def text_with(**more: str) -> str:
    return TREE.format(**{**BLANK, "name": "elements", **more})


def on(*actuators: str) -> str:
    """Actuators with the names act1, act2 ..."""
    numbers = count(1)
    given = "".join(f"<{one}/>" for one in actuators)
    return re.sub(r"<(\w+) ", lambda tag: f'<{tag[1]} name="act{next(numbers)}" ', f"<actuator>{given}</actuator>")


def sites(*names: str) -> str:
    return "".join(f'<site site="{one}"/>' if one[0] in "we" else f'<pulley divisor="{one}"/>' for one in names)


def on_sum(given: str, *actuators: str) -> str:
    """A fixed tendon of three joints."""
    terms = "".join(f'<joint joint="{name}" coef="{one}"/>' for name, one in (("a", 0.7), ("s", -1.5), ("h", 0.4)))
    return f'<tendon><fixed name="sum" {given}>{terms}</fixed></tendon>{on(*actuators)}'


PATH = ("w1", "e1", "e2", "2", "w2", "e4", "3", "e3", "e2", "e1")  # sites, and divisors of pulleys


def on_cord(given: str, *actuators: str, of: tuple[str, ...] = PATH) -> str:
    """A spatial tendon."""
    return f'<tendon><spatial name="cord" {given}>{sites(*of)}</spatial></tendon>{on(*actuators)}'


POWERS = 'stiffness="30 4 90" damping="2 0.6 0.9"'
LINEAR = 'stiffness="40" damping="3"'
SIX = 'gear="1 2 3 0.1 0.2 0.3"'
MUSCLE = 'lengthrange="0.3 1.4" range="0.7 1.1" lmin="0.4" lmax="1.7" vmax="1.4" fpmax="1.2" fvmax="1.3"'

ELEMENTS = {  # taken exactly
    "cord over pulleys": on_cord(f'{LINEAR} springlength="1.2"'),
    "cord with a dead band": on_cord(f'{LINEAR} springlength="1 2.4"'),
    "powers of a cord": on_cord(f'{POWERS} springlength="1 1.6"'),
    "two points with a dead band": on_cord(f'{LINEAR} springlength="0.5 1"', of=("e1", "e4")),
    "sum with a dead band": on_sum(f'{LINEAR} springlength="-0.1 0.1"'),
    "powers of a sum": on_sum(f'{POWERS} springlength="-0.1 0.1"'),
    "friction of a sum": on_sum('frictionloss="2" damping="1"'),
    "armature of a sum": on_sum('armature="0.8" frictionloss="1"', 'motor tendon="sum" gear="3" armature="0.01"'),
    "powers in joints": {
        "a": f'{POWERS} springref="0.3"',
        "s": f'{POWERS} springref="-0.2"',
        "h": 'damping="0 0 2"',
    },
    "spring of a ball": {"b": 'stiffness="3"', "f": 'stiffness="20"'},
    "powers of balls": {"b": POWERS, "f": 'stiffness="20 3 4" damping="1 0.4 0.8"'},
    "powers by actuators": on_cord(
        'damping="2 0.6 0.9"',
        'general joint="a" gear="2" damping="0.3 0.2 0.1"',
        'general tendon="cord" damping="1 0.3 0.2"',
        'general joint="b" gear="2 1 0" damping="0.3 0.2 0.1"',
    ),
    "motor on a cord": on_cord(
        "",
        'general tendon="cord" gear="-1.5" gainprm="4" biastype="affine" biasprm="2 -30 -1" ctrlrange="-0.5 0.6" '
        'forcerange="-20 30"',
    ),
    "position on a sum": on_sum("", 'position tendon="sum" kp="60" kv="4" gear="2"'),
    "limit of a cord": on_cord('actuatorfrcrange="-3 4"', 'motor tendon="cord" gear="5"'),
    "limit of a sum": on_sum('actuatorfrcrange="-2 3"', 'position tendon="sum" kp="60" forcerange="-9 2"'),
    "site": on(f'motor site="e2" {SIX}', 'motor site="e4" gear="0 0 5 0 0 0"'),
    "site with damping": on(f'velocity site="e2" kv="3" {SIX}', 'velocity site="e4" kv="3" gear="0 1 3 0 0 0"'),
    "site relative to the world": on(f'position site="e3" refsite="w1" kp="9" kv="0.5" {SIX}'),
    "site relative to its base": on(f'position site="e3" refsite="e1" kp="9" kv="0.5" {SIX}'),
    "base relative to its site": on(f'position site="e1" refsite="e3" kp="9" kv="0.5" {SIX}'),
    "orientation on branches": on('position site="e4" refsite="e3" kp="3" kv="0.2" gear="0 0 0 1 0.2 0.3"'),
    "slider-crank": on(
        'position cranksite="e2" slidersite="w1" cranklength="1.9" kp="12" kv="0.4" gear="2"',
        'motor cranksite="e3" slidersite="e1" cranklength="0.1" gear="3"',
    ),
    "ball": on('position joint="b" gear="0.5 1 2" kp="3" kv="0.1"', 'velocity joint="b" gear="1 0 1" kv="2"'),
    "in the parent": on(
        'position jointinparent="b" gear="0.5 1 2" kp="3" kv="0.1"', 'motor jointinparent="f" gear="1 2 3 1 1 2"'
    ),
    "free joint": on('velocity joint="f" gear="1 2 3 0 0 0" kv="2"', 'motor joint="f" gear="0 0 0 1 1 0.5"'),
    "gain by length": on(
        'general joint="h" gainprm="3 0.4 0.2" gaintype="affine" biastype="affine" biasprm="1 -4 -0.5" ctrlrange="-1 1"'
    ),
    "damper": on('damper joint="h" kv="2" ctrlrange="0 3"', 'damper joint="s" kv="1" ctrlrange="0 3"'),
    "filter": on(
        'general joint="a" dyntype="filter" dynprm="0.07" gainprm="3"', 'position joint="s" kp="9" timeconst="0.1"'
    ),
    "filter on a cord": on_cord("", 'position tendon="cord" kp="20" timeconst="0.05"'),
    "filter at a site": on('general site="e4" gear="0 0 4 0 0 1" dyntype="filterexact" dynprm="0.03"'),
    "integrator": on('intvelocity joint="h" kp="8" actrange="-0.2 0.5" kv="0.2"'),
    "cylinder": on('cylinder joint="s" timeconst="0.2" area="0.02" bias="0.3 -4 -0.2"'),
    "controllers": on(
        'pid joint="h" kp="9" kv="0.4" ki="2" imax="0.3" input="pos vel ff" posrange="-0.5 0.5" forcerange="-6 7"',
        'pid joint="b" kp="9" kv="0.4" ki="2" gear="1 2 0.5"',
        'pid joint="a" kp="9" kv="0.4" input="vel"',
    ),
    "motor with a circuit": on(
        'dcmotor joint="h" resistance="0.6" motorconst="0.4" inductance="0.05 0"',
        'dcmotor joint="a" resistance="0.6" motorconst="0.4" cogging="0.2 6 0.3"',
    ),
    "motor with a controller": on(
        'dcmotor joint="h" resistance="0.6" motorconst="0.4" input="pos vel ff voltage" controller="8 3 0.4 0 0.3 9" '
        'inductance="0.05 0" saturation="0 0 4" thermal="0.2 9 0 0.004 25 20"',
        'dcmotor joint="a" resistance="0.6" motorconst="0.4" lugre="30 0.4 0.2 0.3 0.1" saturation="0.5 0 0"',
    ),
    "motor without a setpoint's gain": on(
        'dcmotor joint="h" resistance="0.6" motorconst="0.4" input="pos vel" controller="0 0 0.4"'
    ),
    "limit of a joint": {
        "more": on('damper joint="h" kv="9" ctrlrange="0 3"', 'motor site="e1" gear="1 2 3 0 0 0"'),
        "h": 'actuatorfrcrange="-1.5 2"',
    },
    "muscle": on_cord("", f'muscle tendon="cord" {MUSCLE} force="40"'),
    "muscle by its mass": on(f'muscle joint="a" {MUSCLE} scale="90" tausmooth="0.3"'),
}

WRAP = '<site site="w1"/><geom geom="ball"/><site site="e1"/>'
LEFT = {  # a text, the element that is left out, words of its reason
    "wrapping": (
        f'<tendon><spatial name="wrap" stiffness="20">{WRAP}</spatial></tendon>',
        "tendon 'wrap' > stiffness, damping",
        "over shapes",
    ),
    "pulled over shapes": (
        f'<tendon><spatial name="wrap">{WRAP}</spatial></tendon>' + on('motor tendon="wrap"'),
        "actuator 'act1'",
        "over shapes",
    ),
    "friction of a cord": (on_cord('frictionloss="2"'), "tendon 'cord' > frictionloss", "dry friction acts in joints"),
    "armature of a cord": (on_cord('armature="2"'), "tendon 'cord' > armature", "are missing"),
    "range of a cord": (on_cord('range="0.1 9"'), "tendon 'cord' > range", "not bounded"),
    "range of a sum": (on_sum('range="-9 9"'), "tendon 'sum' > range", "limits=True makes it a stop"),
    "several on a limited joint": (
        {"more": on('damper joint="h" kv="9" ctrlrange="0 3"', 'motor site="e2"'), "h": 'actuatorfrcrange="-1.5 2"'},
        "joint 'h' > actuatorfrcrange",
        "several actuators",
    ),
    "branches": (on('motor site="e2" refsite="e4" gear="1 0 0 0 0 0"'), "actuator 'act1'", "another branch"),
    "muscle without its range": (on('muscle joint="a"'), "actuator 'act1'", "give it as lengthrange"),
    "force and torque on a free joint": (
        on('motor joint="f" gear="1 0 0 1 0 0"'),
        "actuator 'act1'",
        "along axes of the world",
    ),
    "several on a limited cord": (
        on_cord('actuatorfrcrange="-3 4"', 'motor tendon="cord"', 'motor tendon="cord"'),
        "tendon 'cord' > actuatorfrcrange",
        "several actuators",
    ),
}


def text_by(given: str | dict[str, str]) -> str:
    return text_with(**(given if isinstance(given, dict) else {"more": given}))


def text_of(name: str) -> str:
    return text_by(ELEMENTS[name])

"""Forces of actuators of a compiled MJCF model by formulas: gain, bias and states, as `mj_fwdActuation` has them.

Input, length and rate are `input`, {x} and {v}. States follow their differential equations, which MuJoCo integrates by
its time step; an activation stays within its range.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.formats.mjcf.named import NamedModel
from linkwork.formats.mjcf.transmissions import IN_PARENT, ON_JOINT, ON_SITE, NotPossible

NONE, INTEGRATOR, FILTER, FILTER_EXACT, MUSCLE, DC_MOTOR, PID = range(7)  # MuJoCo's mjtDyn
FIXED, AFFINE, OF_MUSCLE, OF_DC_MOTOR, SO3, OF_PID = range(6)  # MuJoCo's mjtGain
NO_BIAS, AFFINE_BIAS, MUSCLE_BIAS, DC_MOTOR_BIAS = range(4)  # MuJoCo's mjtBias
_DYNAMICS = {7: "user"}
_BALL = 1
_LEAST = 1e-15  # MuJoCo's mjMINVAL
_INPUTS = ("set_position", "set_velocity", "feedforward", "voltage")  # MuJoCo's mjtInput, by their bits


@dataclass
class Law:
    """A force as it grows: `formula` of numbers by name, inputs and states."""

    formula: str = "0"
    parameters: dict[str, float] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    states: dict[str, dict[str, Any]] = field(default_factory=dict)

    def number(self, name: str, value: float) -> str:
        """Return the name of a number, which becomes a parameter."""
        self.parameters[name] = float(value)
        return name

    def state(self, name: str, formula: str, start: float, unit: str = "1") -> str:
        """Return the name of a state with its time derivative; {motion} in its unit is that of the length."""
        self.states[name] = {"formula": formula, "start": start, "unit": unit}
        return name

    def drop_unused(self) -> None:
        """Leave out numbers and inputs that no formula reads, as setpoints without a gain."""
        read = set(re.findall(r"[a-z_]+", " ".join([self.formula, *(one["formula"] for one in self.states.values())])))
        self.parameters = {name: value for name, value in self.parameters.items() if name in read}
        self.inputs = [name for name in self.inputs if name in read]


def is_plain(named: NamedModel, actuator: int) -> bool:
    """Return whether a force is gain times input and a linear function of length and rate, without states."""
    model = named.model
    return (
        int(model.actuator_dyntype[actuator]) == NONE
        and int(model.actuator_gaintype[actuator]) == FIXED
        and int(model.actuator_biastype[actuator]) in (NO_BIAS, AFFINE_BIAS)
        and not _period(named, actuator)
    )


def needs_length(named: NamedModel, actuator: int) -> bool:
    """Return whether a force reads the length of its transmission."""
    model = named.model
    gain, bias = int(model.actuator_gaintype[actuator]), int(model.actuator_biastype[actuator])
    if gain == AFFINE and model.actuator_gainprm[actuator, 1]:
        return True
    return gain not in (FIXED, AFFINE) or (bias == AFFINE_BIAS and bool(model.actuator_biasprm[actuator, 1]))


def needs_rate(named: NamedModel, actuator: int) -> bool:
    """Return whether a force reads the rate."""
    model = named.model
    gain, bias = int(model.actuator_gaintype[actuator]), int(model.actuator_biastype[actuator])
    if gain == AFFINE and model.actuator_gainprm[actuator, 2]:
        return True
    return gain not in (FIXED, AFFINE) or (bias == AFFINE_BIAS and bool(model.actuator_biasprm[actuator, 2]))


def law_of(named: NamedModel, actuator: int, activation: np.ndarray) -> Law:
    """Return the force of an actuator; `activation` are the start values of all states of the model."""
    model = named.model
    dynamics, gain = int(model.actuator_dyntype[actuator]), int(model.actuator_gaintype[actuator])
    if dynamics not in (NONE, INTEGRATOR, FILTER, FILTER_EXACT, MUSCLE, DC_MOTOR, PID):
        raise NotPossible(f"its dyntype {_DYNAMICS.get(dynamics, str(dynamics))!r} is a function of MuJoCo's user")
    law = Law()
    if gain == OF_DC_MOTOR:
        _dc_motor(named, actuator, activation, law)
    elif gain == OF_PID:
        _pid(named, actuator, activation, law)
    elif gain in (FIXED, AFFINE, OF_MUSCLE):
        _usual(named, actuator, activation, law)
    elif gain == SO3:
        raise NotPossible(
            "it turns two frames to a target by a torque of three components, each by an output of its own"
        )
    else:
        raise NotPossible("its gain is a function of MuJoCo's user")
    law.drop_unused()
    return law


def _usual(named: NamedModel, actuator: int, activation: np.ndarray, law: Law) -> None:
    model = named.model
    (given,) = _inputs(named, actuator, law) or ["0"]
    dynamics = int(model.actuator_dyntype[actuator])
    if dynamics != NONE:
        if model.actuator_actnum[actuator] != 1:
            raise NotPossible(f"it has {model.actuator_actnum[actuator]} activations of its user's")
        given = _activation(named, actuator, given, activation, law)
    period = _period(named, actuator)
    if period:
        turn = law.number("period", period)
        given = f"({given} - {turn}*floor(({given} - {{x}})/{turn} + 0.5))"
    force = f"{_gain(named, actuator, law)}*{given}"
    bias = _bias(named, actuator, law)
    law.formula = _clipped(named, actuator, f"{force} {bias}".strip(), law)


def _inputs(named: NamedModel, actuator: int, law: Law) -> list[str]:
    """Return the inputs within their ranges: one is called "input", several are called by what they are."""
    model = named.model
    first, count = int(model.actuator_ctrladr[actuator]), int(model.actuator_ctrlnum[actuator])
    spec = int(model.actuator_ctrlspec[actuator])
    names = ["input"] if count == 1 else [name for bit, name in enumerate(_INPUTS) if spec >> bit & 1]
    if count != len(names) and count:
        raise NotPossible(f"it has {count} inputs, which the reader does not know")
    found = []
    for name, control in zip(names[:count], range(first, first + count), strict=True):
        law.inputs.append(name)
        if model.actuator_ctrllimited[control] and not named.disables("clampctrl"):
            low, high = model.actuator_ctrlrange[control].tolist()
            lower, upper = law.number(f"{name}_lower", low), law.number(f"{name}_upper", high)
            found.append(f"min({upper}, max({lower}, {name}))")
        else:
            found.append(name)
    return found


def _activation(named: NamedModel, actuator: int, given: str, activation: np.ndarray, law: Law) -> str:
    """Add the activation of an integrator, filter or muscle."""
    model = named.model
    numbers, dynamics = model.actuator_dynprm[actuator], int(model.actuator_dyntype[actuator])
    if dynamics == INTEGRATOR:
        rate = given
    elif dynamics in (FILTER, FILTER_EXACT):
        rate = f"({given} - activation)/{law.number('time_constant', max(_LEAST, numbers[0]))}"
    else:
        rate = _muscle_rate(given, numbers, law)
    if model.actuator_actlimited[actuator]:
        low, high = model.actuator_actrange[actuator].tolist()
        lower, upper = law.number("activation_lower", low), law.number("activation_upper", high)
        rate = f"if(activation >= {upper}, min(0, {rate}), if(activation <= {lower}, max(0, {rate}), {rate}))"
    start = activation[int(model.actuator_actadr[actuator])]
    return law.state("activation", rate, float(start))


def _gain(named: NamedModel, actuator: int, law: Law) -> str:
    model = named.model
    numbers = model.actuator_gainprm[actuator]
    if int(model.actuator_gaintype[actuator]) == OF_MUSCLE:
        return _muscle_gain(named, actuator, law)
    terms = [law.number("gain", numbers[0])]
    if int(model.actuator_gaintype[actuator]) == AFFINE:
        names = (("gain_by_length", "{x}"), ("gain_by_rate", "{v}"))
        terms += [
            f"{law.number(name, one)}*{what}" for (name, what), one in zip(names, numbers[1:3], strict=True) if one
        ]
    return terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"


def _bias(named: NamedModel, actuator: int, law: Law) -> str:
    model = named.model
    kind, numbers = int(model.actuator_biastype[actuator]), model.actuator_biasprm[actuator]
    if kind == NO_BIAS:
        return ""
    if kind == MUSCLE_BIAS:
        return f"- {_muscle_bias(named, actuator, law)}"
    if kind != AFFINE_BIAS:
        raise NotPossible("its bias is a function of MuJoCo's user")
    terms = [f"+ {law.number('offset', numbers[0])}"] if numbers[0] else []
    terms += [f"- {law.number('stiffness', -numbers[1])}*{{x}}"] if numbers[1] else []
    terms += [f"- {law.number('damping', -numbers[2])}*{{v}}"] if numbers[2] else []
    return " ".join(terms)


def _clipped(named: NamedModel, actuator: int, force: str, law: Law) -> str:
    model = named.model
    if not model.actuator_forcelimited[actuator]:
        return force
    low, high = model.actuator_forcerange[actuator].tolist()
    return f"min({law.number('force_upper', high)}, max({law.number('force_lower', low)}, {force}))"


def _period(named: NamedModel, actuator: int) -> float:
    """Return by which setpoints of servos of rotations may differ; 0: they are no such servos (`wrapPeriod`)."""
    model = named.model
    gain = int(model.actuator_gaintype[actuator])
    servo = (
        gain == FIXED
        and int(model.actuator_biastype[actuator]) == AFFINE_BIAS
        and model.actuator_gainprm[actuator, 0] == -model.actuator_biasprm[actuator, 1]
        and int(model.actuator_dyntype[actuator]) in (NONE, INTEGRATOR)
    )
    if not servo and gain != OF_PID:
        return 0.0
    kind, (target, reference) = int(model.actuator_trntype[actuator]), model.actuator_trnid[actuator].tolist()
    gear = model.actuator_gear[model.actuator_outadr[actuator]]
    if kind == ON_SITE and reference >= 0 and not gear[:3].any():
        return 2.0 * math.pi * float(np.linalg.norm(gear[3:]))
    if kind in (ON_JOINT, IN_PARENT) and int(model.jnt_type[target]) == _BALL:
        return 2.0 * math.pi * float(np.linalg.norm(gear[:3]))
    return 0.0


# ---- muscles ----


def _muscle_rate(given: str, numbers: np.ndarray, law: Law) -> str:
    """Return the rate of an activation (Millard et al.: J. Biomech. Eng. 135 (2013) 021005)."""
    rise, decay, width = (float(one) for one in numbers[:3])
    act = "min(1, max(0, activation))"
    up = f"({law.number('rise_time', rise)}*(0.5 + 1.5*{act}))"
    down = f"({law.number('decay_time', decay)}/(0.5 + 1.5*{act}))"
    excess = f"(min(1, max(0, {given})) - activation)"
    if width < _LEAST:
        time = f"if({excess} > 0, {up}, {down})"
    else:
        share = f"min(1, max(0, {excess}/{law.number('switching_width', width)} + 0.5))"
        time = f"({down} + ({up} - {down})*{share}^3*(3*{share}*(2*{share} - 5) + 10))"
    return f"{excess}/{time}"


def _muscle_numbers(named: NamedModel, actuator: int, numbers: np.ndarray, law: Law) -> tuple[str, float]:
    """Return the normalised length of a muscle, and its largest force."""
    model = named.model
    out = int(model.actuator_outadr[actuator])
    shortest, longest = model.actuator_lengthrange[out].tolist()
    if not shortest < longest:
        raise NotPossible(
            "MuJoCo finds the range of its muscle's length by simulations as it compiles: give it as lengthrange"
        )
    optimum = (longest - shortest) / max(_LEAST, float(numbers[1] - numbers[0]))
    force = float(numbers[2])
    if force < 0.0:
        force = float(numbers[3]) / max(_LEAST, float(model.actuator_acc0[out]))
    law.number("optimal_length", optimum)
    law.number("shortest_length", shortest)
    law.number("least_share", float(numbers[0]))
    return "(least_share + ({x} - shortest_length)/optimal_length)", force


def _muscle_gain(named: NamedModel, actuator: int, law: Law) -> str:
    """Return the active force, which pulls, by an activation of one."""
    numbers = named.model.actuator_gainprm[actuator]
    length, force = _muscle_numbers(named, actuator, numbers, law)
    least, most, fastest, lengthening = (float(numbers[k]) for k in (4, 5, 6, 8))
    a, b = 0.5 * (least + 1.0), 0.5 * (1.0 + most)
    x, rising, falling = (
        length,
        f"(({length} - {least!r})/{max(_LEAST, a - least)!r})",
        f"(({most!r} - {length})/{max(_LEAST, most - b)!r})",
    )
    before, behind = f"((1 - {x})/{max(_LEAST, 1.0 - a)!r})", f"(({x} - 1)/{max(_LEAST, b - 1.0)!r})"
    by_length = (
        f"if({x} < {least!r}, 0, if({x} <= {a!r}, 0.5*{rising}^2, if({x} <= 1, 1 - 0.5*{before}^2, "
        f"if({x} <= {b!r}, 1 - 0.5*{behind}^2, if({x} <= {most!r}, 0.5*{falling}^2, 0)))))"
    )
    law.number("fastest_rate", max(_LEAST, law.parameters["optimal_length"] * fastest))
    v, y = "({v}/fastest_rate)", lengthening - 1.0
    by_rate = (
        f"if({v} <= -1, 0, if({v} <= 0, ({v} + 1)^2, if({v} <= {y!r}, "
        f"{lengthening!r} - ({y!r} - {v})^2/{max(_LEAST, y)!r}, {lengthening!r})))"
    )
    return f"(-{law.number('largest_force', force)}*{by_length}*{by_rate})"


def _muscle_bias(named: NamedModel, actuator: int, law: Law) -> str:
    """Return the passive force by which it pulls."""
    numbers = named.model.actuator_biasprm[actuator]
    length, force = _muscle_numbers(named, actuator, numbers, law)
    most, share = float(numbers[5]), float(numbers[7])
    b = 0.5 * (1.0 + most)
    width = max(_LEAST, b - 1.0)
    return (
        f"{law.number('passive_force', force * share)}*if({length} <= 1, 0, if({length} <= {b!r}, "
        f"0.5*(({length} - 1)/{width!r})^2, 0.5 + ({length} - {b!r})/{width!r}))"
    )


# ---- controllers and DC motors ----


def _setpoints(named: NamedModel, actuator: int, law: Law) -> dict[str, str]:
    """Return the inputs of a controller within their ranges, those that it has not as empty texts."""
    names = [name for bit, name in enumerate(_INPUTS) if int(named.model.actuator_ctrlspec[actuator]) >> bit & 1]
    found = _inputs(named, actuator, law)
    if len(found) != len(names):
        raise NotPossible("its inputs are unknown to the reader")
    return dict.fromkeys(_INPUTS, "") | dict(zip(names, found, strict=True))


def _integral(name: str, error: str, limit: float, start: float, law: Law) -> str:
    """Return the integral of an error, which stops at its limits."""
    if limit > 0.0:
        most = law.number("integral_limit", limit)
        error = f"if({name} >= {most}, min(0, {error}), if({name} <= -{most}, max(0, {error}), {error}))"
    return law.state(name, error, start, "{motion}.s")


def _without(term: str, other: str) -> str:
    return f"({term} - {other})" if term else f"(-{other})"


def _pid(named: NamedModel, actuator: int, activation: np.ndarray, law: Law) -> None:
    model = named.model
    numbers, bias = model.actuator_dynprm[actuator], model.actuator_biasprm[actuator]
    if numbers[1] > 0.0:
        raise NotPossible(_SLEW)
    set_to, integral = _setpoints(named, actuator, law), float(model.actuator_gainprm[actuator, 0])
    error = _without(set_to["set_position"], "{x}")
    period = _period(named, actuator)
    if period:
        turn = law.number("period", period)
        error = f"({error} - {turn}*floor({error}/{turn} + 0.5))"
    terms = []
    if integral > 0.0:
        start = float(activation[int(model.actuator_actadr[actuator])])
        terms.append(f"{law.number('integral_gain', integral)}*{_integral('integral', error, numbers[0], start, law)}")
    if bias[1]:
        terms.append(f"{law.number('stiffness', -bias[1])}*{error}")
    if bias[2]:
        terms.append(f"{law.number('damping', -bias[2])}*{_without(set_to['set_velocity'], '{v}')}")
    terms += [set_to["feedforward"]] if set_to["feedforward"] else []
    terms += [law.number("offset", bias[0])] if bias[0] else []
    law.formula = _clipped(named, actuator, " + ".join(terms) or "0", law)


_SLEW = "its setpoint is limited in its rate by time steps of MuJoCo"


def _dc_motor(named: NamedModel, actuator: int, activation: np.ndarray, law: Law) -> None:
    """Set the torque K i of a motor with its controller, heat, cogging and bristle friction, as far as it has them."""
    model = named.model
    dyn, gain, bias = (of[actuator] for of in (model.actuator_dynprm, model.actuator_gainprm, model.actuator_biasprm))
    if dyn[7] > 0.0:
        raise NotPossible(_SLEW)
    start = iter(activation[int(model.actuator_actadr[actuator]) :].tolist() if model.actuator_actnum[actuator] else ())
    resistance, constant = law.number("resistance", gain[0]), law.number("constant", gain[1])
    set_to = _setpoints(named, actuator, law)
    controlled = any(set_to[name] for name in _INPUTS[:3])
    voltage = []
    if controlled:
        error = _without(set_to["set_position"], "{x}")
        torque = [f"{law.number('position_gain', gain[4])}*{error}"] if gain[4] else []
        if gain[6]:
            slip = _without(set_to["set_velocity"], "{v}")
            torque.append(f"{law.number('rate_gain', gain[6])}*{slip}")
        if gain[5] > 0.0:
            integral = _integral("integral", error, float(dyn[8]), next(start), law)
            torque.append(f"{law.number('integral_gain', gain[5])}*{integral}")
        torque += [set_to["feedforward"]] if set_to["feedforward"] else []
        own = f"{resistance}/{constant}*({' + '.join(torque) or '0'}) + {constant}*{{v}}"
        if gain[7] > 0.0:
            most = law.number("supply_voltage", gain[7])
            own = f"max(-{most}, min({most}, {own}))"
        voltage.append(own)
    voltage += [set_to["voltage"]] if set_to["voltage"] else []
    supplied = " + ".join(voltage) or "0"
    hot, has_current = resistance, dyn[0] > 0.0
    if dyn[2] > 0.0:
        rise = f"({law.number('heat_coefficient', gain[2])}*(temperature + {law.number('hotter', dyn[4] - gain[3])}))"
        hot = f"({resistance}*(1 + {rise}))"
    current = "current" if has_current else f"(({supplied} - {constant}*{{v}})/{hot})"
    if dyn[2] > 0.0:
        heat = f"{hot}*{current}^2 - temperature/{law.number('thermal_resistance', dyn[2])}"
        law.state("temperature", f"({heat})/{law.number('heat_capacity', dyn[3])}", next(start))
    terms = []
    if dyn[5] > 0.0:
        coulomb, static, speed = (
            law.number(name, max(_LEAST, one) if name == "stribeck" else one)
            for name, one in zip(("coulomb", "static", "stribeck"), bias[3:6], strict=True)
        )
        slope, viscous = law.number("bristle_stiffness", dyn[5]), law.number("bristle_damping", dyn[6])
        bend = f"({{v}} - {slope}*abs({{v}})/({coulomb} + ({static} - {coulomb})*exp(-({{v}}/{speed})^2))*bristle)"
        law.state("bristle", bend, next(start), "{motion}")
        terms.append(f"- {slope}*bristle - {viscous}*{bend}")
    if has_current:
        lag = law.number("current_time", dyn[0])
        rate = f"(({supplied} - {constant}*{{v}})/{hot} - current)/{lag}"
        if dyn[1] > 0.0:
            most = law.number("current_rate", dyn[1])
            rate = f"max(-{most}, min({most}, {rate}))"
        law.state("current", rate, next(start))
    if bias[0]:
        teeth = f"{law.number('teeth', bias[1])}*{{x}} + {law.number('phase', bias[2])}"
        terms.insert(0, f"+ {law.number('cogging', bias[0])}*sin({teeth})")
    force = _clipped(named, actuator, f"{constant}*{current}", law)
    law.formula = f"{force} {' '.join(terms)}".strip()

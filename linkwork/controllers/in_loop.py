"""A controller in the loop of a simulation in this process, without an FMU, with the numbers that its FMU has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pythonfmu import Fmi2Causality

from linkwork._util.keywords import checks_keywords
from linkwork._util.names import suggest
from linkwork._util.signatures import required_arguments
from linkwork.controllers.built_in import made
from linkwork.controllers.controller import Controller
from linkwork.errors import FmuError, FmuNameError, MechanismNameError
from linkwork.simulation import controller as simulation
from linkwork.simulation.running_state import RunningState

Source: TypeAlias = str | float | bool | Callable[..., Any]


class InLoop(simulation.Controller):
    """A controller between variables of a mechanism, for `controller` of `linkwork.simulate`; made by `connect`."""

    def __init__(
        self, controller: Controller, inputs: Mapping[str, Source] | None, outputs: Mapping[str, str] | None
    ) -> None:
        self._made = controller
        self._values = {v.name: v.getter() for v in controller.vars.values()}
        self.sample_time = float(controller.sample_time)
        known = {what: _names(controller, what) for what in (Fmi2Causality.input, Fmi2Causality.output)}
        self._inputs = dict(inputs or {})
        _refuse_strangers(controller, self._inputs, known[Fmi2Causality.input], "input")
        self._free = [name for name in known[Fmi2Causality.input] if name not in self._inputs]
        if outputs is None:
            outputs = {name.removesuffix(".tau"): name for name in known[Fmi2Causality.output] if "." in name}
        self._outputs = dict(outputs)
        _refuse_strangers(controller, self._outputs.values(), known[Fmi2Causality.output], "output")
        if not self.sample_time and controller.remembers:
            raise FmuError(
                f"{type(controller).__name__} remembers from sample to sample, so that it needs a sample_time to be in "
                "the loop of a simulation"
            )
        self._slave = controller
        self._connected = self._inputs  # and those that are named like variables of the mechanism

    def start(self, t: float, state: RunningState) -> None:
        """Make a new instance of the controller, with the values that it had when it was connected."""
        self._slave = made(type(self._made), self._made.settings)
        for name, value in self._values.items():
            self._slave[name] = value
        self._connected = self._inputs | {name: name for name in self._free if name in state.model.columns}
        for name, source in self._inputs.items():
            if isinstance(source, str) and source not in state.model.columns:
                raise MechanismNameError(
                    f"input {name!r} of {type(self._made).__name__}: there is no variable {source!r}: "
                    f"{suggest(source, state.names)}; a formula becomes one by `add_output`"
                )
        self._slave.setup_experiment(t)
        self._enter(t, state)
        self._slave.exit_initialization_mode()

    def outputs(self, t: float, state: RunningState) -> dict[str, Any]:
        """Return the inputs of the mechanism; a digital controller takes its sample."""
        self._enter(t, state)
        slave = self._slave
        slave.outputs(t)
        found = {name: slave[output] for name, output in self._outputs.items()}
        if self.sample_time:
            slave.update(t, self.sample_time)
        return found

    def _enter(self, t: float, state: RunningState) -> None:
        slave = self._slave
        slave.time = t
        for name, source in self._connected.items():
            slave[name] = _value(source, t, state)


@checks_keywords
def connect(
    controller: Controller,
    inputs: Mapping[str, Source] | None = None,
    outputs: Mapping[str, str] | None = None,
) -> simulation.Controller:
    """Put a controller in the loop of a simulation, for ``linkwork.simulate(..., controller=...)``.

    Parameters
    ----------
    controller
        A built-in one, such as ``pid.controller(kp=2.0)``, or an instance of a subclass of `Controller`.
    inputs
        By input of the controller, where its value comes from: a variable of the mechanism ("A.q", or an output by
        a formula), a number, or a function f(t) or f(t, state). Inputs named like variables ("A.q") are connected to
        these by themselves; others keep their start values.
    outputs
        By input of the mechanism, the output of the controller: ``{"A": "u"}``. By default outputs named "A.tau" go to
        the joint A, and such as "latch.command" to the input of their name.

    Returns
    -------
    linkwork.Controller
        Every run starts it again.

    Raises
    ------
    FmuError
        If a controller that remembers has no sample time.

    Examples
    --------
    >>> import linkwork as lw
    >>> from linkwork.controllers import connect, pid
    >>> mech = lw.Mechanism("arm")
    >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> law = pid.controller(kp=30.0, ki=40.0, kd=8.0, sample_time=0.001)
    >>> loop = connect(law, inputs={"setpoint": 0.3, "measurement": "A.q"}, outputs={"A": "u"})
    >>> result = lw.simulate(mech, t_end=5.0, controller=loop)
    >>> bool(abs(result["A.q"][-1] - 0.3) < 1e-3)
    True
    """
    if not isinstance(controller, Controller):
        raise FmuError(f"connect takes a controller, such as pid.controller(kp=2.0), not {controller!r}")
    return InLoop(controller, inputs, outputs)


def _names(controller: Controller, causality: Fmi2Causality) -> list[str]:
    return [v.name for v in controller.vars.values() if v.causality is causality]


def _refuse_strangers(controller: Controller, names: Any, known: list[str], what: str) -> None:
    for name in names:
        if name not in known:
            raise FmuNameError(f"{type(controller).__name__} has no {what} {name!r}: {suggest(name, known)}")


def _value(source: Source, t: float, state: RunningState) -> Any:
    if isinstance(source, str):
        return state[source]
    if callable(source):
        return source(t, state) if required_arguments(source) == 2 else source(t)
    return source

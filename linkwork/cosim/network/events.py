"""Events: instances of FMI 3.0 in Event Mode, until nothing changes any more."""

from __future__ import annotations

from collections.abc import Iterable

from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.network.network import Network
from linkwork.errors import CosimError

MOST_ROUNDS = 100


def handle(network: Network, time: float, asked: Iterable[str] = ()) -> bool:
    """Handle the event that instances ask for, and those that changed discrete inputs are; all end in Step Mode.

    Values are exchanged before and after. Return whether an FMU wants the simulation to end.
    """
    active = set(asked) | {one.name for one in network.each() if one.in_event_mode}
    active |= network.with_changed_discrete_inputs()
    ends = False
    waiting = set(active)
    for _ in range(MOST_ROUNDS):
        if not waiting:
            break
        ends |= _update(network, waiting)
        needed = {one.name for one in network.each(waiting) if one.needs_update}
        network.exchange(time)
        waiting = needed | network.with_changed_discrete_inputs()
        active |= waiting
    else:
        raise CosimError(
            f"discrete states of {', '.join(sorted(waiting))} do not converge at t = {time:.9g} s: they request "
            f"another update, or change each other's discrete inputs, after {MOST_ROUNDS} rounds; break the circle"
        )
    for instance in network.each(active):
        instance.enter_step_mode()
    if active:
        network.exchange(time)
    return ends


def _update(network: Network, names: Iterable[str]) -> bool:
    """Give instances their inputs in Event Mode and update their discrete states."""
    ends = False
    for instance in network.each(names):
        if not instance.in_event_mode:
            instance.enter_event_mode()
        instance.write(instance.inputs)
        instance.write(instance.discrete_inputs)
        instance.discrete_inputs.mark()
        update = instance.update_discrete_states()
        instance.needs_update = update.needed
        ends |= update.terminate
        if update.next_event is None:
            network.next_events.pop(instance.name, None)
        else:
            network.next_events[instance.name] = update.next_event
    return ends


def handle_alone(network: Network, instance: Instance) -> bool:
    """Handle an event of one instance, others being elsewhere in time; return whether it wants the simulation to end.

    Its inputs stay what they are.
    """
    ends = False
    for _ in range(MOST_ROUNDS):
        ends |= _update(network, [instance.name])
        if not instance.needs_update:
            instance.enter_step_mode()
            return ends
    raise CosimError(
        f"discrete states of {network.who(instance.name)} do not converge at t = {instance.time:.9g} s: they request "
        f"another update after {MOST_ROUNDS} rounds"
    )

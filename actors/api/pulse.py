"""The pulse that every tool answer carries: of the memory that a request stored, or the latest one."""

from actors.api.context import Context, PublishedPulse, wait_until_replayed
from actors.runtime.ask import ask
from actors.workspace.messages import Pulse, ReadPulse
from events.vocabulary.values import Quadrant
from projections.mind.johari import ACTIONS


async def read_pulse(context: Context) -> Pulse:
    """Return the pulse of the memory that this request stored, or else the latest of the namespace that it names.

    A pulse that suggests a dream is read again: a dream may have ended since.
    """
    if context.pulse is not None:
        return context.pulse
    pulses, namespace = context.state.pulses, context.namespace
    known = pulses.get(namespace)
    if known is None or known.pulse.suggested_action == ACTIONS[Quadrant.BLIND]:
        await wait_until_replayed(context)
        pulse = await ask(context.hub.workspace, ReadPulse(namespace=namespace))
        if pulses.get(namespace) is known:  # a store may have been answered meanwhile
            pulses[namespace] = PublishedPulse(pulse, known.seq if known else 0)
    return pulses[namespace].pulse


def publish_pulse(context: Context, pulse: Pulse, namespace: str, seq: int) -> None:
    """Keep the pulse of a memory that this request stored as event `seq`; publish it unless a later memory has one."""
    context.pulse = pulse
    pulses = context.state.pulses
    for place in (namespace, None):
        if place not in pulses or seq > pulses[place].seq:
            pulses[place] = PublishedPulse(pulse, seq)

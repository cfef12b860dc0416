"""The host side of infeeds, outfeeds and transfers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.hlo.evaluator.registry import EvaluationError, Value

if TYPE_CHECKING:
    from xla_explorer.hlo.shape import Shape


class Host:
    """The host of one device: its infeed and outfeed queues, and values sent and received.

    Parameters
    ----------
    infeed
        Values (arrays or tuples of arrays) that `infeed` takes, first to last.
    on_send
        `on_send(channel, array)` is called by a `send` to the host.
        Without it the arrays are appended to `sent[channel]`.
    on_receive
        `on_receive(channel, shape)` returns the array of a `recv-done` from the host.
        Without it such an instruction is an error.

    Attributes
    ----------
    outfeed
        The values that `outfeed` gave, first to last.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> host = xe.hlo.Host([np.float32(2)])
    >>> text = '''ENTRY main { t = token[] after-all()
    ...   i = (f32[], token[]) infeed(t)
    ...   ROOT x = f32[] get-tuple-element(i), index=0 }'''
    >>> float(xe.evaluate(text, host=host))
    2.0
    """

    @explains_arguments
    def __init__(
        self,
        infeed: Iterable[Value] = (),
        *,
        on_send: Callable[[int, Value], None] | None = None,
        on_receive: Callable[[int, Shape], Value] | None = None,
    ) -> None:
        self.infeed: deque[Value] = deque(infeed)
        self.outfeed: list[Value] = []
        self.sent: dict[int, list[Value]] = {}
        self.on_send = on_send
        self.on_receive = on_receive

    @classmethod
    def of_state(
        cls,
        infeed: Iterable[Value],
        outfeed: list[Value],
        sent: dict[int, list[Value]],
        on_send: Callable[[int, Value], None] | None,
        on_receive: Callable[[int, Shape], Value] | None,
    ) -> Host:
        """Return a host with the given queues, values and callbacks."""
        made = cls(infeed, on_send=on_send, on_receive=on_receive)
        made.outfeed, made.sent = outfeed, sent
        return made

    def take_over(self, other: Host) -> None:
        """Replace the queues and values by those of another host, in place."""
        self.infeed.clear()
        self.infeed.extend(other.infeed)
        self.outfeed[:] = other.outfeed
        self.sent.clear()
        self.sent.update(other.sent)

    def __repr__(self) -> str:
        sent = f", sent on channels {', '.join(map(str, self.sent))}" if self.sent else ""
        return (
            f"<Host: {len(self.infeed)} waiting in the infeed, {len(self.outfeed)} in the "
            f"outfeed{sent}>"
        )

    def send(self, channel: int, value: Value) -> None:
        """Receive a value that the program sends to the host."""
        if self.on_send is not None:
            self.on_send(channel, value)
        else:
            self.sent.setdefault(channel, []).append(value)

    def receive(self, channel: int, shape: Shape, what: str) -> Value:
        """Return a value for a transfer from the host.

        `what` names the instruction in the error.
        """
        if self.on_receive is None:
            raise EvaluationError(
                f"{what} needs {shape.text_without_layout} from the host on channel {channel}, "
                "but nothing is sent",
                "session.executable.host.on_receive = a function of channel and shape; "
                "xe.evaluate takes host=xe.hlo.Host(on_receive=...)",
            )
        return self.on_receive(channel, shape)

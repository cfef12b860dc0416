"""What the evaluator has on the other side of infeeds, outfeeds and transfers with the host."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from xla_explorer.hlo.evaluator.registry import EvaluationError, Value

if TYPE_CHECKING:
    from xla_explorer.hlo.shape import Shape


class Host:
    """The host of one device.

    infeed: values (arrays or tuples of arrays) that `infeed` takes, first to last. outfeed: what `outfeed` gave.
    on_send(channel, array): called by a `send` to the host; without it the arrays gather in `sent[channel]`.
    on_receive(channel, shape) -> array: called by a `recv-done` from the host; an error when there is none.
    """

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

    def __repr__(self) -> str:
        sent = f", sent on channels {', '.join(map(str, self.sent))}" if self.sent else ""
        return f"<Host: {len(self.infeed)} waiting in the infeed, {len(self.outfeed)} in the outfeed{sent}>"

    def send(self, channel: int, value: Value) -> None:
        """Called by the evaluator for each transfer to the host."""
        if self.on_send is not None:
            self.on_send(channel, value)
        else:
            self.sent.setdefault(channel, []).append(value)

    def receive(self, channel: int, shape: Shape, what: str) -> Value:
        """Called by the evaluator for each transfer from the host; `what` names the instruction in the error."""
        if self.on_receive is None:
            raise EvaluationError(
                f"{what} wants {shape.text_without_layout} from the host on channel {channel}, and nobody sends",
                "session.host.on_receive = a function of channel and shape; xe.evaluate takes host=xe.Host(on_receive=...)",
            )
        return self.on_receive(channel, shape)

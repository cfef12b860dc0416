"""First sentences about a failed child process: the running step, if it is recorded."""

import pytest

from xla_explorer.explorer.sessions.isolation.blackboard import Progress
from xla_explorer.explorer.sessions.isolation.failure import IsolatedTimeoutError, failure
from xla_explorer.hlo.text import parse_hlo

ONE = parse_hlo("HloModule one\nENTRY e { x = f32[8] parameter(0) ROOT y = f32[8] negate(x) }")


@pytest.mark.parametrize(
    ("phase", "place"), [("idle", "one did"), ("compiling", "one while compiling did")]
)
def test_a_process_that_had_not_begun_is_not_said_to_do_something(phase: str, place: str) -> None:
    error = failure(
        IsolatedTimeoutError, "did not finish", "", ONE.name, ONE, (), Progress(0, phase, (), ())
    )
    assert str(error).startswith(place)

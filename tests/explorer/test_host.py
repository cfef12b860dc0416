"""`session.executable.host`: transfers with the host, and custom calls defined by the user."""

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.opcode_programs import FEED
from xla_explorer.hlo.evaluator.registry import CUSTOM_CALL_FUNCTIONS

TRANSFER = """HloModule transfer
ENTRY main {
  x = f32[2] parameter(0)
  begin = token[] after-all()
  s = (f32[2], u32[], token[]) send(x, begin), channel_id=5, is_host_transfer=true
  sd = token[] send-done(s), channel_id=5, is_host_transfer=true
  r = (f32[2], u32[], token[]) recv(sd), channel_id=6, is_host_transfer=true
  rd = (f32[2], token[]) recv-done(r), channel_id=6, is_host_transfer=true
  ROOT y = f32[2] get-tuple-element(rd), index=0
}"""


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
def test_infeed_and_outfeed_of_a_session(backend: str) -> None:
    session = xe.compile(FEED, backend=backend)
    with pytest.raises(xe.XlaExplorerError, match=r"session\.executable\.host.infeed"):
        session()
    for number in (7, 8):
        session.executable.host.infeed.append((np.float32([number, 2]), number))
        assert session() == number
    np.testing.assert_array_equal(session.executable.host.outfeed, [[14, 4], [16, 4]])


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
def test_a_token_from_outside(backend: str) -> None:
    session = xe.compile(
        """HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  t = token[] parameter(1)
  y = f32[3] negate(x)
  o = token[] outfeed(y, t), outfeed_shape=f32[3]
  ROOT r = (f32[3], token[]) tuple(y, o)
}""",
        backend=backend,
    )
    found, token = session(np.ones(3, np.float32), None)
    np.testing.assert_array_equal(found, [-1, -1, -1])
    np.testing.assert_array_equal(session.executable.host.outfeed, [[-1, -1, -1]])
    assert token is None
    with pytest.raises(xe.XlaExplorerError, match="takes 2 arrays, got 1"):
        session.run_flat([np.ones(3, np.float32)])


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
def test_transfers_of_a_session(backend: str) -> None:
    session, x = xe.compile(TRANSFER, backend=backend), np.float32([1, 2])
    with pytest.raises(xe.XlaExplorerError, match=r"session\.executable\.host.on_receive"):
        session(x)
    session.executable.host.on_receive = lambda channel, shape: np.full(
        shape.dimensions, channel, np.float32
    )
    np.testing.assert_array_equal(session(x), [6, 6])
    np.testing.assert_array_equal(session.executable.host.sent[5][-1], x)


def test_the_evaluator_takes_a_host() -> None:
    host = xe.hlo.Host(infeed=[(np.float32([1, 2]), 3)])
    assert xe.evaluate(xe.parse_hlo(FEED), host=host) == 3
    assert len(host.outfeed) == 1


def test_a_custom_call_is_given_a_meaning_as_the_error_says() -> None:
    session = xe.compile("""HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  ROOT c = f32[3] custom-call(x), custom_call_target="tests.thrice"
}""")
    with pytest.raises(
        xe.XlaExplorerError, match=r'@xe.hlo.evaluator.evaluates_custom_call\("tests.thrice"\)'
    ):
        session(np.ones(3, np.float32))

    @xe.hlo.evaluator.evaluates_custom_call("tests.thrice")
    def thrice(instruction, operands, evaluator):
        return operands[0] * np.float32(3)

    try:
        np.testing.assert_array_equal(session(np.ones(3, np.float32)), [3, 3, 3])
    finally:
        del CUSTOM_CALL_FUNCTIONS["tests.thrice"]

"""Infeed, outfeed, send and recv with host and devices, asynchronous copies, custom calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.opcode_programs import FEED
from xla_explorer.hlo.evaluator import (
    EvaluationError,
    Evaluator,
    Host,
    RendezvousError,
    UnsupportedOpcodeError,
    evaluate,
    evaluate_replicated,
    evaluates_custom_call,
)
from xla_explorer.hlo.text import parse_hlo


def test_infeed_and_outfeed() -> None:
    host = Host(infeed=[(np.array([1, 2], np.float32), 7)])
    assert int(evaluate(parse_hlo(FEED), evaluator=Evaluator(host=host))) == 7
    (left,) = host.outfeed
    np.testing.assert_array_equal(left, [2, 4])


def test_an_empty_infeed_and_a_wrong_one_are_errors() -> None:
    with pytest.raises(EvaluationError, match="infeed queue is empty"):
        evaluate(parse_hlo(FEED))
    wrong = Host(infeed=[(np.array([1, 2], np.float64), 7)])
    with pytest.raises(EvaluationError, match="its dtype must be float32"):
        evaluate(parse_hlo(FEED), evaluator=Evaluator(host=wrong))


HOST_TRANSFER = """HloModule transfer
ENTRY main {
 x = f32[2] parameter(0)
 begin = token[] after-all()
 s = (f32[2], u32[], token[]) send(x, begin), channel_id=5, is_host_transfer=true
 sd = token[] send-done(s), channel_id=5, is_host_transfer=true
 r = (f32[2], u32[], token[]) recv(sd), channel_id=6, is_host_transfer=true
 rd = (f32[2], token[]) recv-done(r), channel_id=6, is_host_transfer=true
 ROOT y = f32[2] get-tuple-element(rd), index=0
}
"""


def test_send_to_and_receive_from_the_host() -> None:
    module = parse_hlo(HOST_TRANSFER)
    seen: dict[int, Any] = {}
    host = Host(
        on_send=seen.__setitem__, on_receive=lambda channel, shape: seen[5] * np.float32(channel)
    )
    result = evaluate(module, np.array([1, 2], np.float32), evaluator=Evaluator(host=host))
    np.testing.assert_array_equal(result, [6, 12])
    silent = Host()
    with pytest.raises(EvaluationError, match="nothing is sent"):
        evaluate(module, np.array([1, 2], np.float32), evaluator=Evaluator(host=silent))
    np.testing.assert_array_equal(silent.sent[5][0], [1, 2])


PAIRS = 'frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,2}}"}'
PIPELINE = f"""HloModule pipeline
ENTRY main {{
 x = f32[2] parameter(0)
 begin = token[] after-all()
 r = (f32[2], u32[], token[]) recv(begin), channel_id=1, {PAIRS}
 s = (f32[2], u32[], token[]) send(x, begin), channel_id=1, {PAIRS}
 rd = (f32[2], token[]) recv-done(r), channel_id=1
 sd = token[] send-done(s), channel_id=1
 ROOT y = f32[2] get-tuple-element(rd), index=0
}}
"""


def test_send_and_recv_between_devices_by_pairs() -> None:
    inputs = [[np.full(2, d + 1, np.float32)] for d in range(3)]
    results = evaluate_replicated(parse_hlo(PIPELINE), inputs)
    assert [float(r[0]) for r in results] == [0, 1, 2]


DIVERGENT = """HloModule divergent
sender {
 x = f32[] parameter(0)
 begin = token[] after-all()
 s = (f32[], u32[], token[]) send(x, begin), channel_id=9
 d = token[] send-done(s), channel_id=9
 ROOT r = f32[] negate(x)
}
receiver {
 x = f32[] parameter(0)
 begin = token[] after-all()
 r = (f32[], u32[], token[]) recv(begin), channel_id=9
 d = (f32[], token[]) recv-done(r), channel_id=9
 y = f32[] get-tuple-element(d), index=0
 ROOT z = f32[] add(x, y)
}
ENTRY main {
 x = f32[] parameter(0)
 id = u32[] replica-id()
 number = s32[] convert(id)
 ROOT r = f32[] conditional(number, x, x), branch_computations={sender, receiver}
}
"""


def test_one_device_sends_and_the_other_receives() -> None:
    results = evaluate_replicated(parse_hlo(DIVERGENT), [[2.0], [40.0]])
    assert [float(r) for r in results] == [-2.0, 42.0]


def test_a_receiver_without_a_sender_is_named() -> None:
    with pytest.raises(RendezvousError, match=r"%d\S* \(recv-done on channel 9\)"):
        evaluate_replicated(parse_hlo(DIVERGENT), [[2.0], [40.0], [3.0]])


def test_asynchronous_copies_and_wrapped_operations() -> None:
    text = """HloModule asynchronous
wrapped {
 a = f32[3] parameter(0)
 b = f32[3] parameter(1)
 ROOT w = f32[3] multiply(a, b)
}
ENTRY main {
 x = f32[3] parameter(0)
 c = (f32[3], f32[3], u32[]) copy-start(x)
 d = f32[3] copy-done(c)
 s = ((f32[3], f32[3]), f32[3], s32[]) async-start(x, d), calls=wrapped
 u = ((f32[3], f32[3]), f32[3], s32[]) async-update(s)
 ROOT r = f32[3] async-done(u)
}
"""
    np.testing.assert_array_equal(
        evaluate(parse_hlo(text), np.array([1, 2, 3], np.float32)), [1, 4, 9]
    )


CALL = """HloModule custom
ENTRY main {
 x = f32[3] parameter(0)
 ROOT r = (f32[3], f32[]) custom-call(x), custom_call_target="test.square_and_sum", backend_config="2"
}
"""


def test_custom_calls_run_registered_python_functions() -> None:
    module = parse_hlo(CALL)  # reading an unknown target is no error
    with pytest.raises(UnsupportedOpcodeError, match=r"test\.square_and_sum"):
        evaluate(module, np.ones(3, np.float32))

    @evaluates_custom_call("test.square_and_sum")
    def square_and_sum(instruction: Any, operands: Any, evaluator: Any) -> Any:
        return (operands[0] ** 2, np.float32(operands[0].sum()))

    squares, total = evaluate(module, np.array([1, 2, 3], np.float32))
    np.testing.assert_array_equal(squares, [1, 4, 9])
    assert float(total) == 6


def test_a_side_effect_in_a_loop_happens_each_time() -> None:
    text = """HloModule loop
body {
 s = (s32[], token[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 t = token[] get-tuple-element(s), index=1
 one = s32[] constant(1)
 n = s32[] add(i, one)
 o = token[] outfeed(i, t), outfeed_shape=s32[]
 ROOT r = (s32[], token[]) tuple(n, o)
}
condition {
 s = (s32[], token[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 three = s32[] constant(3)
 ROOT c = pred[] compare(i, three), direction=LT
}
ENTRY main {
 zero = s32[] constant(0)
 t = token[] after-all()
 s = (s32[], token[]) tuple(zero, t)
 w = (s32[], token[]) while(s), condition=condition, body=body
 ROOT r = pred[] constant(true)
}
"""
    host = Host()
    evaluate(parse_hlo(text), evaluator=Evaluator(host=host))
    assert [int(v) for v in host.outfeed] == [0, 1, 2]


def test_one_device_that_waits_for_nobody_says_so_and_may_run_again() -> None:
    text = """HloModule m
ENTRY e {
  t = token[] after-all()
  a = (f32[4], u32[], token[]) recv(t), channel_id=1
  b = (f32[4], token[]) recv-done(a), channel_id=1
  ROOT r = f32[4] get-tuple-element(b), index=0
}"""
    runner = Evaluator()
    for _ in range(2):
        with pytest.raises(
            RendezvousError,
            match=r"waits forever at %b \(recv-done on channel 1\); no device answers",
        ):
            evaluate(parse_hlo(text), evaluator=runner)
    with pytest.raises(EvaluationError):
        xe.compile(text, cache=False)()

"""Latency hiding and streams: what runs between a start and its done, and where."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from xla_explorer.compiler.decisions.kinds import meaning_of
from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.target import NVPTX, Link
from xla_explorer.compiler.transforms.scheduling.stream_assignment import stream_of, waits_for
from xla_explorer.foundation.journal import Event, Journal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo
from xla_explorer.hlo.verifier import verify

_SUM = "sum {\n  l = f32[] parameter(0)\n  r = f32[] parameter(1)\n  ROOT o = f32[] add(l, r)\n}\n"


def module_of(*lines: str) -> HloModule:
    return parse_hlo("HloModule m\n" + _SUM + "ENTRY e {\n  " + "\n  ".join(lines) + "\n}\n")


def run(
    module: HloModule, *passes: object, control: PassControl | None = None, link: Link | None = None
) -> list[Event]:
    journal, target = Journal("decisions"), replace(NVPTX, links=(link or Link(),))
    for one in passes:
        (make_pass(one) if isinstance(one, str) else one).run(
            module, PassContext(journal, control, target)
        )
    verify(module)
    return [e for e in journal.events if e.is_decision]


def places(module: HloModule) -> dict[str, int]:
    assert module.entry.schedule is not None
    return {i.name: number for number, i in enumerate(module.entry.schedule)}


OVERLAP = (
    "x = f32[1024,1024] parameter(0)",
    "y = f32[1024,1024] parameter(1)",
    "g = f32[1024,1024] all-reduce-start(x), replica_groups={}, to_apply=sum",
    "h = f32[1024,1024] all-reduce-done(g)",
    "d = f32[1024,1024] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "f = f32[1024,1024] dot(d, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "s = f32[1024,1024] add(h, f)",
    "ROOT n = f32[1024,1024] negate(s)",
)


def test_work_that_needs_nothing_of_it_runs_in_between() -> None:
    module = module_of(*OVERLAP)
    (event,) = run(module, "latency-hiding-scheduler", link=Link(bytes_per_nanosecond=20.0))
    at = places(module)
    assert at["g"] < at["d"] < at["f"] < at["h"] < at["s"]
    assert event.verdict == "accepted" and event.names == ("g", "h")
    assert (
        event.facts
        and event.facts["hidden_microseconds"] > 0
        and event.facts["latency_microseconds"] > 10
    )


def test_a_short_latency_holds_its_result_no_longer_than_needed() -> None:
    module = module_of(*OVERLAP)
    run(module, "latency-hiding-scheduler", link=Link(bytes_per_nanosecond=300.0))
    at = places(module)
    assert at["d"] < at["g"] < at["f"] < at["h"], "one dot hides it"


def test_the_user_wants_it_waited_for_at_once() -> None:
    module = module_of(*OVERLAP)
    (event,) = run(
        module,
        "latency-hiding-scheduler",
        control=PassControl(forbid={"latency-hiding": [("g", "h")]}),
    )
    at = places(module)
    assert (
        at["h"] == at["g"] + 1
        and event.reason is not None
        and event.reason.code == "forbidden-by-user"
    )


def test_nothing_to_overlap_is_said() -> None:
    module = module_of(
        "x = f32[64] parameter(0)",
        "a = f32[64] sine(x)",
        "g = f32[64] all-reduce-start(a), replica_groups={}, to_apply=sum",
        "h = f32[64] all-reduce-done(g)",
        "ROOT n = f32[64] negate(h)",
    )
    (event,) = run(module, "latency-hiding-scheduler")
    assert event.reason is not None and event.reason.code == "nothing-to-overlap"


def test_a_module_without_asynchronous_work_is_left_to_the_memory_scheduler() -> None:
    module = module_of("x = f32[64] parameter(0)", "ROOT a = f32[64] sine(x)")
    assert (
        not make_pass("latency-hiding-scheduler").run(module, PassContext())
        and not module.is_scheduled
    )


def test_the_overlap_limit() -> None:
    lines = ["y = f32[512,512] parameter(0)"]
    for k in range(4):
        lines += [
            f"x{k} = f32[4096] parameter({k + 1})",
            f"g{k} = f32[4096] all-reduce-start(x{k}), replica_groups={{}}, to_apply=sum",
            f"h{k} = f32[4096] all-reduce-done(g{k})",
        ]
    lines += [
        f"d{k} = f32[512,512] dot({f'd{k - 1}' if k else 'y'}, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        for k in range(30)
    ]
    lines.append(
        "ROOT t = (f32[4096], f32[4096], f32[4096], f32[4096], f32[512,512]) tuple(h0, h1, h2, h3, d29)"
    )
    for limit in (1, 2, 4):
        module = module_of(*lines)
        run(module, make_pass("latency-hiding-scheduler", overlap_limit=limit))
        at = places(module)
        flying = [
            sum([at[f"g{k}"] < position < at[f"h{k}"] for k in range(4)])
            for position in range(len(at))
        ]
        assert max(flying) == limit


def test_few_bytes_alive_go_before_hiding_when_the_user_sets_a_limit() -> None:
    lines = ["x = f32[1024] parameter(0)"]
    for k in range(6):
        lines += [
            f"i{k} = f32[262144] iota(), iota_dimension=0",
            f"a{k} = f32[262144] sine(i{k})",
            f"z{k} = f32[] constant(0)",
            f"r{k} = f32[] reduce(a{k}, z{k}), dimensions={{0}}, to_apply=sum",
        ]
    lines += [
        "g = f32[1024] all-reduce-start(x), replica_groups={}, to_apply=sum",
        "h = f32[1024] all-reduce-done(g)",
        "ROOT t = (f32[], f32[], f32[], f32[], f32[], f32[], f32[1024]) tuple(r0, r1, r2, r3, r4, r5, h)",
    ]

    def peak(limit: int) -> int:
        module = module_of(*lines)
        run(module, make_pass("latency-hiding-scheduler", memory_limit=limit))
        at = places(module)
        schedule = module.entry.schedule
        assert schedule is not None
        last = {i: max([at[u.name] for u in i.users], default=len(at)) for i in schedule}
        return max(
            sum([i.shape.byte_size for i in schedule[: p + 1] if last[i] > p and i.shape.is_array])
            for p in range(len(schedule))
        )

    assert peak(1 << 21) <= 3 << 20
    assert peak(1 << 21) <= peak(0)


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_have_a_valid_order(seed: int) -> None:
    generator = np.random.default_rng(seed)
    lines, names = ["v0 = f32[32] parameter(0)", "v1 = f32[32] parameter(1)"], ["v0", "v1"]
    for k in range(2, 40):
        a, b = (names[int(n)] for n in generator.integers(0, len(names), 2))
        if generator.integers(0, 4) == 0:
            lines += [
                f"g{k} = f32[32] all-reduce-start({a}), replica_groups={{}}, to_apply=sum",
                f"v{k} = f32[32] all-reduce-done(g{k})",
            ]
        else:
            lines.append(f"v{k} = f32[32] add({a}, {b})")
        names.append(f"v{k}")
    lines.append("ROOT t = (" + ", ".join(["f32[32]"] * 3) + f") tuple({', '.join(names[-3:])})")
    module = module_of(*lines)
    events = run(
        module,
        "latency-hiding-scheduler",
        "stream-assignment",
        "copy-insertion",
        "memory-scheduler",
    )
    assert all(meaning_of(e.by, e.reason.code) for e in events if e.reason)


def test_streams_of_starts_and_dones() -> None:
    module = module_of(*OVERLAP)
    events = run(module, "latency-hiding-scheduler", "stream-assignment")
    named = {i.name: i for i in module.entry.instructions.values()}
    stream = stream_of(named["g"])
    assert stream > 0 and waits_for(named["g"]) == (0,) and waits_for(named["h"]) == (stream,)
    assert stream_of(named["h"]) == stream_of(named["d"]) == 0 and waits_for(named["d"]) == ()
    again = parse_hlo(module.to_text())
    assert stream_of(next(i for i in again.entry.instructions.values() if i.name == "g")) == stream
    assert (
        events[-1].by == "stream-assignment"
        and events[-1].facts
        and events[-1].facts["stream"] == stream
    )
    assert not make_pass("stream-assignment").run(module, PassContext()), (
        "a second run changes nothing"
    )


def test_what_finds_no_stream_stays_on_the_main_one() -> None:
    module = module_of(
        "x = f32[1024] parameter(0)",
        "y = f32[512,512] parameter(1)",
        "g = f32[1024] all-reduce-start(x), replica_groups={}, to_apply=sum",
        "k = f32[1024] all-reduce-start(x), replica_groups={}, to_apply=sum",
        "d = f32[512,512] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "h = f32[1024] all-reduce-done(g)",
        "l = f32[1024] all-reduce-done(k)",
        "ROOT t = (f32[1024], f32[1024], f32[512,512]) tuple(h, l, d)",
    )
    events = run(module, "latency-hiding-scheduler", "stream-assignment")
    said = [e.reason.code if e.reason else "" for e in events if e.by == "stream-assignment"]
    assert sorted(said) == ["", "no-free-stream"]
    module = module_of(*OVERLAP)
    (event,) = run(module, "stream-assignment")
    assert event.reason is not None and event.reason.code == "no-schedule"


def test_a_done_that_follows_at_once_needs_no_stream() -> None:
    module = module_of(
        "x = f32[64] parameter(0)",
        "a = f32[64] sine(x)",
        "g = f32[64] all-reduce-start(a), replica_groups={}, to_apply=sum",
        "h = f32[64] all-reduce-done(g)",
        "ROOT n = f32[64] negate(h)",
    )
    events = run(module, "latency-hiding-scheduler", "stream-assignment")
    assert events[-1].reason is not None and events[-1].reason.code == "nothing-in-between"

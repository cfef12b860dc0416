"""Profiles written from XSpace's definition: a CPU's as of jaxlib, synthetic GPU and TPU."""

from __future__ import annotations

from typing import Any

from tests.frontends.hlo_proto.messages import message, table
from xla_explorer.frontends.xla_profile import space

US = 1_000_000  # picoseconds


class PlaneWriter:
    """A plane in the making: names get their numbers as they come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kinds: dict[tuple[str, str], tuple[int, bytes]] = {}
        self.stat_names: dict[str, int] = {}
        self.lines: list[bytes] = []

    def _stats(self, values: dict[str, Any]) -> list[bytes]:
        found = []
        for name, value in values.items():
            field = {
                int: "int64_value",
                str: "str_value",
                bytes: "bytes_value",
                float: "double_value",
            }[type(value)]
            found.append(
                message(
                    space.STAT,
                    metadata_id=self.stat_names.setdefault(name, len(self.stat_names) + 1),
                    **{field: value},
                )
            )
        return found

    def kind(self, name: str, display: str = "", **stats: Any) -> int:
        if (name, display) not in self.kinds:
            number = len(self.kinds) + 1
            raw = message(
                space.EVENT_METADATA,
                id=number,
                name=name,
                display_name=display,
                stats=self._stats(stats),
            )
            self.kinds[name, display] = number, raw
        return self.kinds[name, display][0]

    def line(self, name: str, *events: tuple[int, float, float, dict[str, Any]]) -> None:
        """events: kind, start and length in microseconds, statistics."""
        raw = [
            message(
                space.EVENT,
                metadata_id=kind,
                offset_ps=int(start * US),
                duration_ps=int(length * US),
                stats=self._stats(stats),
            )
            for kind, start, length, stats in events
        ]
        self.lines.append(message(space.LINE, name=name, timestamp_ns=1_000, events=raw))

    def written(self) -> bytes:
        names = {
            number: message(space.STAT_METADATA, id=number, name=name)
            for name, number in self.stat_names.items()
        }
        return message(
            space.PLANE,
            name=self.name,
            lines=self.lines,
            event_metadata=table(self.kinds.values()),
            stat_metadata=table(names),
        )


def profile_of(*planes: PlaneWriter) -> bytes:
    return message(space.SPACE, planes=[plane.written() for plane in planes], hostnames=["host"])


def metadata_plane(name: str, program: int, proto: bytes) -> PlaneWriter:
    plane = PlaneWriter("/host:metadata")
    plane.kind(f"{name}({program})", "", **{"Hlo Proto": proto, "program_id": program})
    return plane


def cpu_plane(module: str = "jit_f", program: int = 3) -> PlaneWriter:
    """Return two runs of three kernels, one a loop with a kernel inside, as XLA:CPU traces them."""
    plane = PlaneWriter("/host:CPU")
    events = []
    for run in (71, 72):
        stats = {"hlo_module": module, "program_id": program, "run_id": run, "device_ordinal": 0}
        start = 0 if run == 71 else 100
        for op, at, length in (
            ("e", 0, 10),
            ("loop", 12, 40),
            ("body_fusion", 20, 12),
            ("body_fusion", 34, 14),
            ("r", 60, 2.0 + run % 2),
        ):
            events.append((plane.kind(op), start + at, length, {"hlo_op": op, **stats}))
            events.append((plane.kind(f"end: {op}"), start + at + length, 0.1, {}))
    plane.line("python", (plane.kind("$f.py:1 f"), 0, 200, {}))
    plane.line("tf_XLAEigen/1", *events)
    return plane


def gpu_plane() -> PlaneWriter:
    """Return a stream with two kernels and a copy, and the lines that a viewer derives."""
    plane = PlaneWriter("/device:GPU:0")
    stats = {"hlo_module": "jit_f(3)", "correlation_id": 9}
    plane.line(
        "Stream #20(Compute)",
        (plane.kind("loop_fusion_kernel"), 0, 5, {"hlo_op": "e", **stats}),
        (plane.kind("gemm_fusion"), 6, 9, {"hlo_op": "loop/r", **stats}),
        (plane.kind("MemcpyD2H"), 16, 3, {"memcpy_details": "size:64"}),
    )
    plane.line("XLA Ops", (plane.kind("e"), 0, 5, {"hlo_op": "e", **stats}))
    return plane


def tpu_plane() -> PlaneWriter:
    """Two runs of a module; operations name their instruction by its text."""
    plane = PlaneWriter("/device:TPU:0")
    module = plane.kind("jit_f(3)")
    fusion = plane.kind("%e = f32[4]{0} exponential(f32[4]{0} %x)", "e", hlo_category="loop fusion")
    root = plane.kind("%r = f32[4]{0} add(%e, %x)")
    plane.line("XLA Modules", (module, 0, 20, {"run_id": 5}), (module, 50, 20, {"run_id": 6}))
    plane.line(
        "XLA Ops",
        (fusion, 1, 4, {}),
        (root, 6, 8, {}),
        (fusion, 51, 5, {}),
        (root, 57, 8, {}),
        (root, 90, 1, {}),
    )
    plane.line("Steps", (plane.kind("1"), 0, 20, {}))
    return plane

"""Measurements and choices of XLA:GPU's autotuner, from its dump file.

The file is that of `--xla_gpu_dump_autotune_results_to`, or `autotune_results.pbtxt` of a dump. XLA
writes text if the name ends in .txt, .pbtxt, .textproto or .prototxt, else a serialized message.
Sources: xla/autotune_results.proto, xla/autotuning.proto.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.protobuf import Message, MessageType

_RESULTS: Final = MessageType("AutotuneResults", version=1, dots=2, convs=3, results=4)
_ENTRY: Final = MessageType("AutotuneResults.Entry", device=1, hlo=2, result=3)
_RESULT: Final = MessageType(
    "AutotuneResult", conv=5, gemm=6, failure=7, scratch_bytes=8, run_time=9, cuda_conv_plan=15, algorithm=16, triton=17,
    custom_kernel_fusion=18,
)  # fmt: skip
_DURATION: Final = MessageType("Duration", seconds=1, nanos=2)
_KEYS: Final = {
    "conv": MessageType("ConvKey", algorithm=1, tensor_ops_enabled=2),
    "gemm": MessageType("GemmKey", algorithm=1, autotune_workspace_size=2),
    "algorithm": MessageType("AlgorithmProto", algo_id=1, math_type=2, is_cudnn_frontend=4),
    "triton": MessageType("TritonGemmKey", block_m=1, block_n=2, block_k=3, split_k=4, num_stages=5, num_warps=6, num_ctas=7,
                          is_tma_allowed=8, is_warp_specialization_allowed=9, waves_per_eu=10),
    "custom_kernel_fusion": MessageType("CustomKernelFusionKey", kernel_index=1),
}  # fmt: skip
"""Fields of a kernel's choice that are numbers only."""
_TOKEN: Final = re.compile(
    r"""\s*(?:#[^\n]*\s*)*(?:(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<mark>[{}<>:,;\[\]])|(?P<word>[^\s{}<>:,;\[\]"']+))"""
)
_DEEPEST: Final = 32
_INSTRUCTION: Final = re.compile(r"(?:ROOT )?%?[\w.\-]+ = (\(.*?\)|\S+) ([a-z][\w\-]*)\(")


class AutotuningError(XlaExplorerError, ValueError):
    """A file that holds no autotuning results."""


class Tuned(NamedTuple):
    """One choice of the autotuner.

    hlo: the tuned instructions, as the autotuner's key. kind: of kernel (`gemm`, `triton` ...).
    choice: its parameters. us: its measured time, None if it has none.
    """

    device: str
    hlo: str
    kind: str
    choice: tuple[tuple[str, str], ...]
    us: float | None
    scratch_bytes: int

    @property
    def summary(self) -> str:
        """The choice for people."""
        figures = ", ".join([f"{name} {value}" for name, value in self.choice]) or "nothing else"
        time = f", {self.us:.4g} us" if self.us is not None else ""
        return (
            f"{self.kind}: "
            f"{figures}{time}{f', {self.scratch_bytes} bytes of scratch' if self.scratch_bytes else ''}"
        )

    def shapes(self) -> list[tuple[str, str]]:
        """Return (shape without layout, opcode) of each instruction in the key, sorted.

        They identify the fusion.
        """
        return sorted(
            [(plain_shape(shape), opcode) for shape, opcode in _INSTRUCTION.findall(self.hlo)]
        )


def plain_shape(text: str) -> str:
    """Return the text of a shape without layouts and comments."""
    return re.sub(r"\{[^}]*\}|/\*.*?\*/|\s", "", text)


def read_autotuning(raw: bytes, name: str) -> list[Tuned]:
    """Return the choices in a file, text or serialized. AutotuningError for other contents."""
    text = name.endswith((".txt", ".pbtxt", ".textproto", ".prototxt"))
    try:
        found = list(_of_text(raw.decode()) if text else _of_message(Message(_RESULTS, raw)))
    except (XlaExplorerError, ValueError) as problem:
        said = problem.message if isinstance(problem, XlaExplorerError) else problem
        raise AutotuningError(
            f"{name} holds no autotuning results: {said}",
            "give what --xla_gpu_dump_autotune_results_to wrote",
        ) from None
    return found


def _of_text(text: str) -> Iterator[Tuned]:
    fields = text_proto(text)
    if not fields.keys() <= {"version", "results", "dots", "convs"}:
        raise AutotuningError(
            "unknown fields "
            f"{', '.join(sorted(fields.keys() - {'version', 'results', 'dots', 'convs'})[:3])}"
        )
    for entry in [one for name in ("results", "dots", "convs") for one in fields.get(name, ())]:
        entry = _inside(entry)
        result = _inside(*entry.get("result", ())[-1:])
        time = _inside(*result.get("run_time", ())[-1:])
        kind = next(
            (
                name
                for name in result
                if name in _RESULT.numbers and name not in ("failure", "scratch_bytes", "run_time")
            ),
            "other",
        )
        choice = [
            (name, str(values[-1]))
            for name, values in _inside(*result.get(kind, ())[-1:]).items()
            if isinstance(values[-1], str)
        ]
        seconds, nanos = [float(_last(time, name, "0")) for name in ("seconds", "nanos")]
        us = seconds * 1e6 + nanos / 1e3 if time else None
        yield Tuned(
            _last(entry, "device"),
            _last(entry, "hlo"),
            kind,
            tuple(choice),
            us,
            int(_last(result, "scratch_bytes", "0")),
        )


def _inside(value: Any = None) -> Mapping[str, list[Any]]:
    return value if isinstance(value, dict) else {}


def _last(fields: Mapping[str, list[Any]], name: str, default: str = "") -> str:
    return str(fields.get(name, [default])[-1])


def _of_message(message: Message) -> Iterator[Tuned]:
    for entry in [
        one for name in ("results", "dots", "convs") for one in message.messages(name, _ENTRY)
    ]:
        result = entry.message("result", _RESULT)
        time = (
            result.message("run_time", _DURATION)
            if result is not None and result.has("run_time")
            else None
        )
        kind = next(
            (
                name
                for name in (*_KEYS, "cuda_conv_plan")
                if result is not None and result.has(name)
            ),
            "other",
        )
        key = result.message(kind, _KEYS[kind]) if result is not None and kind in _KEYS else None
        choice = (
            [(name, str(key.number(name))) for name in _KEYS[kind].numbers if key.has(name)]
            if key is not None
            else []
        )
        us = time.number("seconds") * 1e6 + time.number("nanos") / 1e3 if time is not None else None
        scratch = result.number("scratch_bytes") if result is not None else 0
        yield Tuned(entry.text("device"), entry.text("hlo"), kind, tuple(choice), us, scratch)


def text_proto(text: str) -> dict[str, list[Any]]:
    """Return a message in protobuf's text format: field -> its values, texts or messages.

    AutotuningError for malformed text.
    """
    around: list[dict[str, list[Any]]] = [{}]
    name = said = (
        ""  # the field that waits for its value; the field whose text may go on in a further pair of quotes
    )
    at, text = 0, text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or len(around) > _DEEPEST:
            raise AutotuningError(f"not protobuf's text format at character {at}")
        at, mark, word = found.end(), found["mark"], found["word"]
        if mark in ("{", "<") and name:
            around[-1].setdefault(name, []).append({})
            around.append(around[-1][name][-1])
            name = said = ""
        elif mark in ("}", ">") and not name and len(around) > 1:
            around.pop()
            said = ""
        elif found["text"] is not None and (name or said):
            value = re.sub(
                r"\\(.)",
                lambda escaped: {"n": "\n", "t": "\t"}.get(escaped[1], escaped[1]),
                found["text"][1:-1],
            )
            if name:
                around[-1].setdefault(name, []).append(value)
                name, said = "", name
            else:
                around[-1][said][-1] += value
        elif word is not None and name:
            around[-1].setdefault(name, []).append(word)
            name = ""
        elif word is not None:
            name, said = word, ""
        elif mark is None or mark not in ":,;[]":
            raise AutotuningError(f"not protobuf's text format at character {at}")
    if len(around) > 1 or name:
        raise AutotuningError("the text ends inside of a message")
    return around[0]

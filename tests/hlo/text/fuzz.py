"""Mutated HLO text: the parser may raise only HloParseError and HloVerifyError.

    python tests/hlo/text/fuzz.py --seconds 600 --seed 1 --found /tmp/found

A child process with a limit on its memory reads, verifies, prints and reads each text again, with
an alarm. A text that breaks the promise is shrunk by lines and tokens, and written to the folder
`--found`. Seeds are the texts of this project's tests and, if it lies beside the checkout, the
corpus of XLA's own tests.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from tests.support.corpora import SHARED  # noqa: E402
from xla_explorer.hlo.analysis.module_equality import modules_equal  # noqa: E402
from xla_explorer.hlo.text import HloParseError, parse_hlo  # noqa: E402
from xla_explorer.hlo.verifier import HloVerifyError, verify  # noqa: E402

CORPUS = SHARED / "xla_corpus" / "dev" / "modules.jsonl.gz"
SECONDS_PER_TEXT = 5
MEMORY = 3 << 30  # bytes of address space; numpy alone reserves about one of the three
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_][\w.\-]*|-?\d+(?:\.\d+)?|\s+|.', re.DOTALL)
_NUMBER = re.compile(r"-?\d+")

# Written for this fuzzer: each names constructs that short texts rarely hold together.
SEEDS = (
    """HloModule all, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, entry_computation_layout={(f32[2,3]{1,0})->(f32[2,3]{1,0}, s32[])}

FileNames
1 "model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main (p: f32[2,3]) -> (f32[2,3], s32[]) {
  %p = f32[2,3]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  %c = f32[2,3]{1,0} constant({ { 1, -0, inf }, { nan, 1e-40, 3 } }), metadata={op_name="jit(f)/c" stack_frame_id=1}
  %z = f32[] constant(0)
  %r = f32[2]{0} reduce(%p, %z), dimensions={1}, to_apply=%add
  %w = f32[2,3]{1,0} reduce-window(%p, %z), window={size=1x2 pad=0_0x1_0}, to_apply=%add
  %k = s32[] constant(3), control-predecessors={%w}
  %f = f32[2,3]{1,0:T(8,128)S(1)} add(%w, %c), backend_config={"a":[1,{"b":"c"}]}, frontend_attributes={x="y"}
  ROOT %t = (f32[2,3]{1,0}, s32[]) tuple(%f, %k)
}
""",
    """HloModule loops

cond { s = (s32[], f32[<=4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[<=4]) parameter(0)
  ROOT t = (s32[], f32[<=4]) copy(s) }
ENTRY e {
  x = (s32[], f32[<=4]) parameter(0)
  w = (s32[], f32[<=4]) while(x), condition=cond, body=body
  y = f32[4] parameter(1)
  st = ((f32[4]), f32[4], s32[]) negate-start(y)
  dn = f32[4] negate-done(st)
  g = f32[8] all-gather(y), dimensions={0}, replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true
  cc = c64[2]{0} constant({(1, -2), (nan, inf)})
  ROOT o = (f32[4], f32[8], (s32[], f32[<=4])) tuple(dn, g, w)
}
""",
    "ROOT d = f32[2,5]{1,0} dot(f32[2,3]{1,0} a, f32[3,5]{1,0} b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
)
_EXTREMES = ("-1", "0", "1", "2147483647", "-2147483648", "4294967296", "9223372036854775807", "-9223372036854775808",
             "18446744073709551616", "1" + "0" * 40, "99999", "1e999", "nan", "-0", "00", "0x10", "64")  # fmt: skip
_STRANGE = (
    "\x00",
    "\x1b",
    "\x7f",
    "\u00e9",
    "\u0660",
    "\u2028",
    "\u200b",
    "\x85",
    "\x0b",
    "\ufeff",
    "\U0001f600",
    "\ud800",
    "\r",
    "\t",
    "\\",
    '"',
    "'",
)
_BRACES = "(){}[]"
_HUGE = ("f32[1048576,1048576]", "pred[1099511627776]", "s4[4294967296]", "f32[<=9223372036854775807]", "f64[4294967295,4294967295]",
         "f32[0,9223372036854775807]", "(" * 80 + "f32[]" + ")" * 80, "f32[" + "1," * 300 + "1]", "token[]", "opaque[]", "b(f32[4])")  # fmt: skip
_SHAPE = re.compile(r"[a-z]\w*\[[^\]\n]*\](?:\{[^{}\n]*\})?")
_WORDS = ("while", "tuple", "constant", "{...}", "sharding={replicated}", "control-predecessors={a}", "metadata={", "to_apply=e", "calls=f",
          "dimensions={0,0}", "ROOT", "ENTRY", "HloModule", "/*", "*/", "//", "->", "window={size=0 stride=0}", "replica_groups=[2,2]<=[4]",
          "f32[]", "parameter(0)", "= f32[] add(", "condition=e, body=e", "is_scheduled=true", "mesh['x'=2] {'x'}", "<=[4]T(1,0)")  # fmt: skip


class Found(NamedTuple):
    """A text that broke the promise, and how."""

    kind: str
    text: str
    detail: str


class TooLong(BaseException):
    """The alarm rang; no `except Exception` between here and there may take it."""


# -- the mutations: each takes a text and the pool of texts, and gives another ---------------------
def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def delete_token(text: str, generator: random.Random, pool: list[str]) -> str:
    parts = _tokens(text)
    at = generator.randrange(len(parts))
    del parts[at : at + generator.choice((1, 1, 1, 2, 5))]
    return "".join(parts)


def duplicate_token(text: str, generator: random.Random, pool: list[str]) -> str:
    parts = _tokens(text)
    at = generator.randrange(len(parts))
    parts[at:at] = parts[at : at + generator.choice((1, 1, 3))] * generator.choice((1, 1, 1, 2, 40))
    return "".join(parts)


def swap_tokens(text: str, generator: random.Random, pool: list[str]) -> str:
    parts = _tokens(text)
    solid = [k for k, part in enumerate(parts) if not part.isspace()] or [0]
    a, b = generator.choice(solid), generator.choice(solid)
    parts[a], parts[b] = parts[b], parts[a]
    return "".join(parts)


def line_surgery(text: str, generator: random.Random, pool: list[str]) -> str:
    lines = text.split("\n")
    a, b = generator.randrange(len(lines)), generator.randrange(len(lines))
    match generator.randrange(3):
        case 0:
            del lines[a]
        case 1:
            lines.insert(b, lines[a])
        case _:
            lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)


def change_number(text: str, generator: random.Random, pool: list[str]) -> str:
    found = list(_NUMBER.finditer(text))
    if not found:
        return text + generator.choice(_EXTREMES)
    m = generator.choice(found)
    value = (
        generator.choice(_EXTREMES)
        if generator.random() < 0.6
        else str(int(m.group()[:30]) + generator.choice((-1, 1, 2)))
    )
    return text[: m.start()] + value + text[m.end() :]


def unbalance(text: str, generator: random.Random, pool: list[str]) -> str:
    at = generator.randrange(len(text) + 1)
    if generator.random() < 0.5:
        places = [k for k, character in enumerate(text) if character in _BRACES]
        if places:
            at = generator.choice(places)
            return text[:at] + generator.choice(("", *_BRACES)) + text[at + 1 :]
    return text[:at] + generator.choice(_BRACES) * generator.choice((1, 1, 1, 3, 2000)) + text[at:]


def splice(text: str, generator: random.Random, pool: list[str]) -> str:
    a, b = text.split("\n"), generator.choice(pool).split("\n")
    if generator.random() < 0.5:
        return "\n".join(a[: generator.randrange(len(a) + 1)] + b[generator.randrange(len(b)) :])
    at, start = generator.randrange(len(a) + 1), generator.randrange(len(b))
    return "\n".join(a[:at] + b[start : start + generator.choice((1, 1, 2, 6))] + a[at:])


def strange_character(text: str, generator: random.Random, pool: list[str]) -> str:
    at = generator.randrange(len(text) + 1)
    return text[:at] + generator.choice(_STRANGE) + text[at + generator.randrange(2) :]


def change_shape(text: str, generator: random.Random, pool: list[str]) -> str:
    found = list(_SHAPE.finditer(text))
    if not found:
        return generator.choice(_HUGE) + text
    m = generator.choice(found)
    other = generator.choice(found).group() if generator.random() < 0.5 else generator.choice(_HUGE)
    return text[: m.start()] + other + text[m.end() :]


def insert_word(text: str, generator: random.Random, pool: list[str]) -> str:
    parts = _tokens(text)
    word = (
        generator.choice(_WORDS)
        if generator.random() < 0.6
        else generator.choice(_tokens(generator.choice(pool)) or [""])
    )
    at = generator.randrange(len(parts) + 1)
    parts[at : at + generator.randrange(2)] = [word]
    return "".join(parts)


MUTATIONS: tuple[Callable[[str, random.Random, list[str]], str], ...] = (
    delete_token, duplicate_token, swap_tokens, line_surgery, change_number, change_number, unbalance, splice, strange_character,
    change_shape, insert_word, insert_word,
)  # fmt: skip


def mutate(text: str, generator: random.Random, pool: list[str]) -> str:
    """One to five mutations of a text."""
    for _ in range(generator.choice((1, 1, 1, 2, 3, 5))):
        text = generator.choice(MUTATIONS)(text or " ", generator, pool)
    return text


# -- one text --------------------------------------------------------------------------------------
def _alarm(signum: int, frame: Any) -> None:
    raise TooLong


def examine(text: str, seconds: float = SECONDS_PER_TEXT) -> tuple[str, Found | None]:
    """(`refused`, `unverified` or `accepted`; None or what went wrong).

    seconds: of processor time, so that a busy machine is no hang.
    """
    before = signal.signal(signal.SIGPROF, _alarm)
    try:
        return _examine(text, seconds)
    except TooLong:  # the alarm rang while an error was being looked at
        return "refused", Found(f"over {seconds:g} s", text, "")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _examine(text: str, seconds: float) -> tuple[str, Found | None]:
    signal.setitimer(signal.ITIMER_PROF, seconds)
    outcome = "refused"
    try:
        module = parse_hlo(text)
        outcome = "accepted"
        try:
            verify(module)
        except HloVerifyError as error:
            str(error)
            outcome = "unverified"
        printed = module.to_text()
        again = parse_hlo(printed)
        if outcome == "accepted":
            difference = modules_equal(module, again)
            if difference is not None:
                return outcome, Found("round trip", text, str(difference))
    except HloParseError as error:
        if outcome != "refused":
            return outcome, Found(
                "our own text refused" if outcome == "accepted" else "", text, str(error)
            )
        str(error)
    except TooLong:
        return outcome, Found(f"over {seconds:g} s", text, "")
    except BaseException as error:  # whatever it is, it is a finding
        if isinstance(error, KeyboardInterrupt):
            raise
        place = traceback.extract_tb(error.__traceback__)[-1]
        return outcome, Found(
            f"{type(error).__name__} in {Path(place.filename).name}:{place.name}",
            text,
            traceback.format_exc(limit=-6),
        )
    return outcome, None


def shrink(found: Found, seconds: float = 20.0) -> Found:
    """Return the same finding from less text: lines first, then tokens; stop after `seconds`."""
    best, deadline = found, time.monotonic() + seconds
    for cut in (lambda t: t.splitlines(keepends=True), _tokens):
        size = max(len(cut(best.text)) // 2, 1)
        while size:
            at, parts = 0, cut(best.text)
            while at < len(parts) and time.monotonic() < deadline:
                shorter = parts[:at] + parts[at + size :]
                _, again = examine("".join(shorter))
                if again is not None and again.kind == best.kind:
                    best, parts = again, shorter
                else:
                    at += size
            size //= 2
    return best


def seed_texts(limit_characters: int = 12_000) -> list[str]:
    """Return the texts to mutate."""
    texts = list(SEEDS)
    if CORPUS.is_file():
        with gzip.open(CORPUS, "rt") as lines:
            texts += [
                row["hlo"] for row in map(json.loads, lines) if len(row["hlo"]) <= limit_characters
            ]
    return texts


def fuzz(
    seconds: float, seed: int, texts: list[str], most: int = 1000, count: int | None = None
) -> tuple[Counter[str], list[Found]]:
    """Examine mutated texts for `seconds`, or `count` of them, which is deterministic.

    Return how many were refused, unverified and accepted, and the findings, one of each kind.
    """
    generator, outcomes, kinds = random.Random(seed), Counter[str](), {}
    deadline = time.monotonic() + seconds
    while (
        time.monotonic() < deadline
        and len(kinds) < most
        and (count is None or sum(outcomes.values()) < count)
    ):
        text = mutate(generator.choice(texts), generator, texts)
        outcome, found = examine(text)
        outcomes[outcome] += 1
        if found is not None and found.kind and found.kind not in kinds:
            kinds[found.kind] = shrink(found)
    return outcomes, list(kinds.values())


def main(arguments: list[str] | None = None) -> int:
    """Run the command; exit code 1 if it found something."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--texts", type=int, help="stop after so many texts")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--found", type=Path, help="a folder for what was found")
    parser.add_argument(
        "--no-corpus", action="store_true", help="mutate only the seeds of this file"
    )
    options = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    outcomes, found = fuzz(
        options.seconds,
        options.seed,
        list(SEEDS) if options.no_corpus else seed_texts(),
        count=options.texts,
    )
    for number, one in enumerate(found):
        print(f"--- {one.kind}\n{one.text!r}\n{one.detail}")
        if options.found:
            options.found.mkdir(parents=True, exist_ok=True)
            (options.found / f"{options.seed}_{number}.json").write_text(json.dumps(one._asdict()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"{sum(outcomes.values())} texts, seed {options.seed}: {dict(outcomes)}; {len(found)} findings; peak {peak} MiB"
    )
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())

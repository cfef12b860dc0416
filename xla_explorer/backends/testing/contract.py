"""`xe.backends.contract(name)`: what every backend promises, checked one by one, each failure with what to mend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xla_explorer.backends.interfaces import (
    CompileOptions,
    Compiler,
    CompileResult,
    EventRecorder,
    Executable,
    FeedTransfer,
    Platform,
    StreamExecutor,
    TransferManager,
    TupleTransfer,
)
from xla_explorer.backends.registry import platform
from xla_explorer.backends.testing.outcome import judge, reason_of, reference
from xla_explorer.backends.testing.programs import PROGRAMS
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.primitive_type import F32
from xla_explorer.hlo.shape import parse_shape
from xla_explorer.hlo.text import parse_hlo

if TYPE_CHECKING:
    import pandas

SMALL = """HloModule contract
ENTRY main {
  x = f32[5,3] parameter(0)
  y = f32[5,3] parameter(1)
  z = f32[5,3] multiply(x, y)
  s = f32[5,3] add(z, x)
  ROOT result = (f32[5,3], f32[5,3]) tuple(s, z)
}
"""
_HONESTY_TYPES = ("f32", "s32", "pred")  # supports() is asked about every opcode, for these
_PLACES = ("kernel", "library", "copy", "evaluator")


class ContractCheck(NamedTuple):
    """status: `ok`, `failed`, `skipped`. message: what is wrong and what to mend, or why it was skipped."""

    name: str
    status: str
    message: str


class ContractError(XlaExplorerError, AssertionError):
    """A backend breaks its contract; the message lists every broken promise."""


class Contract:
    """checks: a ContractCheck each."""

    def __init__(self, backend: str, checks: list[ContractCheck]) -> None:
        self.backend, self.checks = backend, checks

    @property
    def failures(self) -> list[ContractCheck]:
        """What is broken."""
        return [check for check in self.checks if check.status == "failed"]

    @property
    def kept(self) -> bool:
        """Nothing is broken."""
        return not self.failures

    def require(self) -> None:
        """ContractError when something is broken: one line a test."""
        if self.failures:
            lines = [f"- {check.name}: {check.message}" for check in self.failures]
            raise ContractError(f"{self.backend} breaks {len(lines)} of {len(self.checks)} promises:\n" + "\n".join(lines))

    def to_frame(self) -> pandas.DataFrame:
        """A row a check: name, status, message."""
        import pandas

        return pandas.DataFrame(self.checks, columns=list(ContractCheck._fields))

    def __repr__(self) -> str:
        width = max(len(check.name) for check in self.checks)
        lines = [f"{check.status:8}{check.name:{width + 2}}{check.message}".rstrip() for check in self.checks]
        return "\n".join([f"<Contract of {self.backend}: {'kept' if self.kept else f'{len(self.failures)} promises broken'}>", *lines])


class _Skipped(Exception):
    """The check does not apply; the text says why."""


class _Subject:
    """The backend under test, and what several checks need of it."""

    def __init__(self, backend: Platform, sample: int) -> None:
        self.backend, self.sample = backend, sample
        self.module = parse_hlo(SMALL)
        self.inputs = [np.arange(1, 16, dtype=np.float32).reshape(5, 3), np.full((5, 3), 0.5, np.float32)]

    def compile(self) -> CompileResult:
        compiler, options = self.backend.compiler(), CompileOptions(cache=False)
        try:
            return compiler.run_backend(compiler.run_hlo_passes(self.module, options), options)
        except XlaExplorerError as problem:
            if (why := self.backend.availability()) is None:
                raise
            raise _Skipped(f"it does not even compile here ({why}): {problem.message}") from None

    @cached_property
    def result(self) -> CompileResult:
        return self.compile()

    @property
    def executable(self) -> Executable:
        if self.result.executable is None:
            raise _Skipped(f"it does not run here: {self.result.why_not or self.backend.availability()}")
        return self.result.executable

    @cached_property
    def executor(self) -> StreamExecutor:
        if (why := self.backend.availability()) is not None:
            raise _Skipped(f"there is no device: {why}")
        return self.backend.stream_executor()

    @cached_property
    def manager(self) -> TransferManager:
        if (why := self.backend.availability()) is not None:
            raise _Skipped(f"there is no device: {why}")
        return self.backend.transfer_manager()

    def expected(self, inputs: list[Any]) -> list[Any]:
        return flatten_value(evaluate(self.module, *inputs))


def _missing(part: object, protocol: type) -> list[str]:
    names = getattr(protocol, "__protocol_attrs__", None) or {n for n in vars(protocol) if not n.startswith("_")}
    return sorted([name for name in names if not hasattr(part, name)])


def parts_have_their_interfaces(s: _Subject) -> str | None:
    """Platform, Compiler, StreamExecutor and TransferManager have every name of their protocols."""
    parts: list[tuple[object, type]] = [(s.backend, Platform), (s.backend.compiler(), Compiler)]
    if s.backend.availability() is None:
        parts += [(s.backend.stream_executor(), StreamExecutor), (s.backend.transfer_manager(), TransferManager)]
    lacking = [
        f"{type(part).__name__} ({protocol.__name__}): {', '.join(_missing(part, protocol))}"
        for part, protocol in parts
        if _missing(part, protocol)
    ]
    return f"missing: {'; '.join(lacking)}. Add these names; see xla_explorer/backends/interfaces" if lacking else None


def platform_describes_itself(s: _Subject) -> str | None:
    """One sentence."""
    if s.backend.description.strip().endswith("."):
        return None
    return "Platform.description is one sentence with a full stop: what the device is and where it runs"


def source_is_left_alone(s: _Subject) -> str | None:
    """Compiling does not touch the module that was given."""
    before = s.module.to_text()
    s.compile()
    if s.module.to_text() == before:
        return None
    s.module = parse_hlo(SMALL)
    return "run_hlo_passes changed the module it was given: work on a copy (`optimize(module, ...)` makes one)"


def stages_come_in_order(s: _Subject) -> str | None:
    """`hlo`, `hlo-optimized`, then the backend's own; lines point at instructions that exist."""
    names = list(s.result.stages)
    if names[:2] != ["hlo", "hlo-optimized"]:
        return f"stages are {names}: the first two must be `hlo` and `hlo-optimized` (use hlo_stage)"
    known = {i.id for i in s.result.trace.module.instructions()}
    for stage in s.result.stages.values():
        if not stage.is_text:
            continue
        if not stage.text.strip():
            return f"stage {stage.name} is empty: leave it out, or give it its text"
        unknown = {origin for origin in stage.origins if origin is not None} - known
        if unknown and stage.name != "hlo":
            return f"stage {stage.name}: lines claim the instruction ids {sorted(unknown)[:5]}, which the optimised module does not have"
        if len(stage.origins) > len(stage.text.splitlines()) + 2:
            return f"stage {stage.name} has {len(stage.origins)} origins for {len(stage.text.splitlines())} lines: one origin a line"
    return None


def no_executable_has_a_reason(s: _Subject) -> str | None:
    """Where there is no executable, why_not says why."""
    if s.result.executable is None and s.result.why_not is None:
        return "CompileResult.executable is None without a why_not: give the Reason that keeps it from running"
    return None


def values_are_the_evaluators(s: _Subject) -> str | None:
    """Dtypes, shapes and values."""
    got, want = s.executable.execute([np.array(a) for a in s.inputs]), s.expected(s.inputs)
    if len(got) != len(want):
        return f"execute gave {len(got)} results, the module has {len(want)} leaves: return them all, depth first"
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"result {number} is {a.dtype}{list(a.shape)}, the module says {b.dtype}{list(b.shape)}: copy back in the shape's type"
        if not np.allclose(a, b, rtol=1e-5):
            return f"result {number} is wrong by up to {float(np.max(np.abs(a - b))):.3g}: compare session.bisect() and the stages"
    return None


def inputs_are_left_alone(s: _Subject) -> str | None:
    """execute() does not write to its arguments."""
    given = [np.array(a) for a in s.inputs]
    s.executable.execute(given)
    if all(np.array_equal(a, b) for a, b in zip(given, s.inputs, strict=True)):
        return None
    return "execute wrote to its arguments: copy them to the device, or give results buffers of their own"


def results_own_their_memory(s: _Subject) -> str | None:
    """A later run leaves earlier results alone."""
    first = s.executable.execute([np.array(a) for a in s.inputs])
    kept = [np.array(a) for a in first]
    s.executable.execute([np.zeros_like(a) for a in s.inputs])
    if all(np.array_equal(a, b) for a, b in zip(first, kept, strict=True)):
        return None
    return "a second execute changed the results of the first: results must not be views of memory that is used again; copy them out"


def steps_say_where_they_run(s: _Subject) -> str | None:
    """runs_on is one of the known places, and what is not native has a Reason."""
    for step in s.executable.steps:
        if step.runs_on not in _PLACES:
            return f"step %{step.name} runs on {step.runs_on!r}: one of {', '.join(_PLACES)}"
        if step.runs_on == "evaluator" and step.reason is None and s.backend.name != "interpreter":
            return f"step %{step.name} ({step.opcode}) runs on the evaluator without a reason: put the Reason of supports() into the step"
    return None


def supports_tells_the_truth(s: _Subject) -> str | None:
    """Whatever supports() answers None for runs natively and right; whatever it refuses does not run natively."""
    _ = s.result  # skipped where nothing compiles
    compiler, options = s.backend.compiler(), CompileOptions(cache=False)
    # Where nothing runs, that every opcode compiles or is refused is all there is to see, and one type shows it.
    types = _HONESTY_TYPES if s.backend.availability() is None else _HONESTY_TYPES[:1]
    for program in PROGRAMS[:: s.sample]:
        for element_type in [t for t in types if t in program.types]:
            what = f"{program.opcode} on {element_type}"
            module = parse_hlo(program.text(element_type, (2, 3)))
            trace = compiler.run_hlo_passes(module, options)
            refused = [
                i
                for c in trace.module.computations.values()
                if c not in trace.module.fusion_computations()
                for i in c.instructions.values()
                if compiler.supports(i) is not None
            ]
            try:
                result = compiler.run_backend(trace, options)
            except Exception as problem:
                if reason_of(problem) is None:
                    return f"{what}: run_backend raised {type(problem).__name__}: {problem}. Refuse with a Reason in CompileResult.why_not"
                continue
            if result.executable is None:
                if not refused and s.backend.availability() is None and result.why_not is not None:
                    return (
                        f"{what}: supports() claims every instruction, but the compile is refused ({result.why_not}): let supports() say so"
                    )
                continue
            for step in result.executable.steps:
                says_no = compiler.supports(trace.module.find(step.instruction)) is not None
                if says_no != (step.runs_on == "evaluator") and s.backend.name != "interpreter":
                    there = "on the evaluator" if step.runs_on == "evaluator" else "natively"
                    return f"{what}: supports() says {'no' if says_no else 'yes'} to %{step.name}, which runs {there}: make them agree"
            outcome, _ = judge(result, *reference(module, program.values, 0))
            if outcome.status in ("wrong", "crashed"):
                return (
                    f"{what}: supports() claims it, but it is {outcome.status} ({outcome.message}): "
                    f"return a Reason for {program.opcode} until there is code for it"
                )
    return None


def copies_keep_to_their_size(s: _Subject) -> str | None:
    """Bytes come back as they went; neighbours and the rest of a longer buffer stay as they were."""
    executor, generator = s.executor, np.random.default_rng(0)
    for size in (1, 7, 64, 1000, 4097):
        first, second = executor.allocate(size), executor.allocate(size)
        data, other = generator.bytes(size), generator.bytes(size)
        executor.copy_to_device(second, other)
        executor.copy_to_device(first, data)
        executor.synchronize()
        back = executor.copy_from_device(first, size)
        if len(back) != size:
            return f"copy_from_device gave {len(back)} bytes, {size} were asked for: copy exactly `size` bytes"
        if back != data:
            at = next(k for k in range(size) if back[k] != data[k])
            return f"{size} bytes copied to the device come back different from byte {at} on: copy_to_device must copy all len(data) bytes"
        if executor.copy_from_device(second, size) != other:
            return f"copying {size} bytes into one buffer changed its neighbour: copy_to_device wrote more than len(data) bytes"
        part = generator.bytes(max(size // 2, 1))
        executor.copy_to_device(first, part)
        executor.synchronize()
        if executor.copy_from_device(first, size) != part + data[len(part) :]:
            return (
                f"copying {len(part)} bytes into a buffer of {size} changed bytes behind them: write len(data) bytes, not the buffer's size"
            )
        if len(executor.copy_from_device(first, len(part))) != len(part):
            return f"copy_from_device was asked for {len(part)} of {size} bytes and gave another number: copy exactly `size` bytes"
        executor.deallocate(first)
        executor.deallocate(second)
    return None


def copies_that_do_not_fit_are_refused(s: _Subject) -> str | None:
    """ValueError, both ways."""
    memory = s.executor.allocate(8)
    for attempt, what in (
        (lambda: s.executor.copy_to_device(memory, bytes(9)), "copy_to_device of 9 bytes into 8"),
        (lambda: s.executor.copy_from_device(memory, 9), "copy_from_device of 9 bytes out of 8"),
    ):
        try:
            attempt()
        except ValueError:
            continue
        return f"{what} went through: compare with DeviceMemory.size and raise ValueError"
    return None


def literals_travel(s: _Subject) -> str | None:
    """Arrays of several types and layouts, and nested tuples, to the device and back."""
    column_major = F32[3, 5].with_layout((0, 1))
    values: list[Any] = [
        literal_from_array(np.arange(6, dtype=np.int16).reshape(2, 3)),
        literal_from_array(np.float64(2.5)),
        literal_from_array((np.arange(3.0), (np.array([True, False]), np.arange(4, dtype=np.uint8)))),
        literal_from_array(np.arange(15, dtype=np.float32).reshape(3, 5), column_major),
    ]
    for literal in values:
        buffers = s.manager.transfer_literal_to_device(s.executor, literal)
        s.executor.synchronize()
        leaves = [leaf for _, leaf in literal.shape.leaves()]
        if len(buffers) != len(leaves):
            return f"{literal.shape} became {len(buffers)} buffers: one for each of its {len(leaves)} array leaves, depth first"
        small = [leaf for buffer, leaf in zip(buffers, leaves, strict=True) if buffer.size < leaf.byte_size]
        if small:
            return f"the buffer of a {small[0]} is smaller than its {small[0].byte_size} bytes: allocate shape.byte_size"
        if s.manager.transfer_literal_from_device(s.executor, buffers, literal.shape) != literal:
            return f"a literal of shape {literal.shape} comes back different: use the order of the shape's layout both ways"
        for buffer in buffers:
            s.executor.deallocate(buffer)
    return None


def synchronize_waits(s: _Subject) -> str | None:
    """What was queued on a stream is there after synchronize(stream)."""
    stream = s.executor.create_stream()
    memory = s.executor.allocate(256)
    for value in range(1, 9):
        s.executor.copy_to_device(memory, bytes([value]) * 256, stream)
    s.executor.synchronize(stream)
    if s.executor.copy_from_device(memory, 256) != bytes([8]) * 256:
        return "after synchronize(stream) the copies queued on it were not done, or not in order: wait until the queue is empty"
    return None


def results_are_read_after_synchronize(s: _Subject) -> str | None:
    """Between a launch and reading from the device there is a synchronize."""
    executable, executor = s.executable, s.executor
    with _watched(type(executor)) as calls:
        for factor in (1.0, 3.0):
            inputs = [a * np.float32(factor) for a in s.inputs]
            got, want = executable.execute([np.array(a) for a in inputs]), s.expected(inputs)
            if "launch" in calls and _read_too_early(calls):
                return (
                    "execute reads results with copy_from_device after launch without synchronize in between: a launch only queues the "
                    "work. Call synchronize(stream) before the first copy_from_device"
                )
            if not all(np.allclose(a, b, rtol=1e-5) for a, b in zip(got, want, strict=True)):
                return "results of repeated runs differ from the evaluator's: look for work that is still queued when execute returns"
            calls.clear()
    return None


def _read_too_early(calls: list[str]) -> bool:
    pending = False
    for name in calls:
        if name == "launch":
            pending = True
        elif name == "synchronize":
            pending = False
        elif pending:
            return True
    return False


@contextmanager
def _watched(cls: type) -> Iterator[list[str]]:
    """The names of the calls of launch, synchronize and copy_from_device on any executor of a class, in order."""
    calls: list[str] = []
    kept = {name: getattr(cls, name) for name in ("launch", "synchronize", "copy_from_device")}
    own = {name for name in kept if name in vars(cls)}

    def recorder(name: str) -> Callable[..., Any]:
        def call(self: Any, *arguments: Any, **options: Any) -> Any:
            calls.append(name)
            return kept[name](self, *arguments, **options)

        return call

    try:
        for name in kept:
            setattr(cls, name, recorder(name))
        yield calls
    finally:
        for name, function in kept.items():
            setattr(cls, name, function) if name in own else delattr(cls, name)


def events_go_forward(s: _Subject) -> str | None:
    """An event recorded later is not earlier."""
    if not isinstance(s.executor, EventRecorder):
        raise _Skipped("the executor has no events (EventRecorder)")
    first = s.executor.record_event()
    second = s.executor.record_event()
    s.executor.synchronize()
    return None if s.executor.elapsed_us(first, second) >= 0 else "elapsed_us of two events in order is negative: give later minus earlier"


def tuples_are_tables_of_addresses(s: _Subject) -> str | None:
    """8 bytes an element, little-endian."""
    if not isinstance(s.manager, TupleTransfer):
        raise _Skipped("the transfer manager writes no tuple tables (TupleTransfer)")
    elements = [s.executor.allocate(4), s.executor.allocate(12)]
    table = s.manager.write_tuple_index_table(s.executor, elements)
    s.executor.synchronize()
    want = b"".join([e.address.to_bytes(8, "little") for e in elements])
    if s.executor.copy_from_device(table, len(want)) == want:
        return None
    return "write_tuple_index_table must write one address of 8 bytes an element, little-endian, in order"


def feeds_keep_their_order(s: _Subject) -> str | None:
    """An empty outfeed is a LookupError, and so the host never waits for ever."""
    if not isinstance(s.manager, FeedTransfer):
        raise _Skipped("the transfer manager has no infeed and outfeed (FeedTransfer)")
    try:
        s.manager.transfer_literal_from_outfeed(s.backend.stream_executor(), parse_shape("f32[2]"))
    except LookupError:
        return None
    return "reading an outfeed that nobody wrote to must raise LookupError"


CHECKS: tuple[Callable[[_Subject], str | None], ...] = (
    parts_have_their_interfaces,
    platform_describes_itself,
    source_is_left_alone,
    stages_come_in_order,
    no_executable_has_a_reason,
    values_are_the_evaluators,
    inputs_are_left_alone,
    results_own_their_memory,
    steps_say_where_they_run,
    supports_tells_the_truth,
    copies_keep_to_their_size,
    copies_that_do_not_fit_are_refused,
    literals_travel,
    synchronize_waits,
    results_are_read_after_synchronize,
    events_go_forward,
    tuples_are_tables_of_addresses,
    feeds_keep_their_order,
)


def contract(backend: str | Platform, *, sample: int = 1) -> Contract:
    """Check a backend, by its registered name or as a Platform. `.require()` raises when a promise is broken; never raises itself.

    sample: whether supports() tells the truth is asked about every `sample`-th program only; running all is what takes time.
    """
    found = platform(backend) if isinstance(backend, str) else backend
    subject = _Subject(found, sample)
    checks = []
    for check in CHECKS:
        name = check.__name__.replace("_", "-")
        try:
            problem = check(subject)
            checks.append(ContractCheck(name, "failed" if problem else "ok", problem or ""))
        except _Skipped as why:
            checks.append(ContractCheck(name, "skipped", str(why)))
        except Exception as raised:
            checks.append(ContractCheck(name, "failed", f"raised {type(raised).__name__}: {raised}. {(check.__doc__ or '').strip()}"))
    return Contract(found.name, checks)

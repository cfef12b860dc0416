"""Every column of every table once: its name, unit, meaning, and which values are better.

A fact has one name everywhere: in frames, reports, pages, tables of the command line and JSON.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Column(NamedTuple):
    """A column.

    Attributes
    ----------
    name : str
        An identifier.
    unit : str
        `us`, `ms`, `s`, `bytes`, `flops`, `share` (of a whole, from 0 to 1) or `count`; empty for
        words.
    sentence : str
        Its meaning.
    better : str
        `less`, `more`, or empty if neither is.
    rank : int
        Its importance on a narrow terminal: 0 is shown first, 9 last.
    """

    name: str
    unit: str
    sentence: str
    better: str = ""
    rank: int = 5


_ALL: Final = (
    # Names and places.
    Column("kernel", "", "the name of a kernel, with %", rank=0),
    Column("name", "", "the name of an instruction or of a found thing", rank=0),
    Column("opcode", "", "the opcode of an instruction", rank=4),
    Column("op", "", "the opcode, as a search spells it", rank=2),
    Column("computes", "", "the work of a kernel as a formula", rank=2),
    Column("instruction", "", "the id of an instruction, or its name in tables of text", rank=8),
    Column("id", "", "the id of an instruction", rank=8),
    Column("shape", "", "the shape of a value", rank=4),
    Column("line", "", "the source line, file:line", rank=2),
    Column("lines", "", "the lines of code of a row", rank=6),
    Column("scope", "", "the path of name scopes", rank=6),
    Column("computation", "", "the computation of an instruction", rank=7),
    Column("file", "", "a source file", rank=0),
    Column("function", "", "a function of the source, or of LLVM IR", rank=1),
    Column("runs_on", "", "the code that runs: native, evaluator, a library or a device", rank=4),
    Column("stream", "", "the stream of a device", rank=6),
    Column("text", "", "a printed line", rank=1),
    Column("number", "count", "a number in a sequence, from 1", rank=3),
    Column("place", "", "the file and line of a rule or a check", rank=7),
    Column("value", "", "the name of a value in memory", rank=0),
    # Decisions.
    Column("verdict", "", "accepted, refused or undecided", rank=0),
    Column("kind", "", "the kind of a decision, a remark or a value", rank=4),
    Column("producer", "", "the first subject of a decision, with %", rank=1),
    Column("consumer", "", "the second subject of a decision, with %", rank=1),
    Column("subjects", "", "all subjects of a decision, with %", rank=7),
    Column("code", "", "the code of a reason, or code of a line", rank=1),
    Column("reason", "", "the reason in a sentence, with numbers", rank=3),
    Column("message", "", "a remark of LLVM", rank=1),
    Column("facts", "", "numbers of a decision by name", rank=9),
    Column("cost_us", "us", "the cost of a refusal in one run, by the cost model", "less", 2),
    Column("cost_bytes", "bytes", "the bytes of a refusal in one run", "less", 6),
    Column("override", "", "a forced or forbidden decision", rank=0),
    Column("granted", "", "True if an override was carried out", "more", 1),
    Column("holds", "", "the mark of a condition: met, not met, not checked", rank=0),
    Column("condition", "", "a condition of a decision", rank=1),
    Column("measured", "", "the value that a condition compared", rank=2),
    Column("written_at", "", "the file and line of a condition", rank=7),
    Column("sentence", "", "a finding, an advice or a rule in a sentence", rank=1),
    # Times. A time is of one run unless its sentence says otherwise.
    Column("median_us", "us", "the measured time, the median of the runs", "less", 1),
    Column("iqr_us", "us", "the interquartile range of the runs", "less", 5),
    Column("predicted_us", "us", "the predicted time, by the cost model", "less", 2),
    Column("estimated_us", "us", "the part of a time that is split by estimated cost", "", 6),
    Column("time_us", "us", "the time of the kernels of a line", "less", 2),
    Column("gain_us", "us", "an upper bound of the gain of an advice", "more", 1),
    Column("time", "us", "the time of a found thing", "less", 3),
    Column("ms", "ms", "the time of a pass or a rule in the compile", "less", 1),
    Column("seconds", "s", "the time of a pass in the compile", "less", 3),
    Column("cycles", "count", "cycles of the processor's counter", "less", 7),
    Column("n", "count", "the number of timed runs", "", 7),
    Column("share", "share", "the share of the whole time", "", 4),
    Column("roof_share", "share", "the lower bound of the machine over the time", "more", 3),
    Column("bound", "", "the limit of a kernel: memory, arithmetic, launch or latency", rank=3),
    Column("limit", "", "the limiting resource of a loop nest", rank=4),
    # Work and sizes.
    Column("calls", "count", "executions in a run", "less", 5),
    Column("bytes", "bytes", "bytes read and written (estimate)", "less", 5),
    Column("bytes_read", "bytes", "bytes read (estimate)", "less", 6),
    Column("bytes_written", "bytes", "bytes written (estimate)", "less", 6),
    Column("flops", "flops", "operations, transcendental ones included (estimate)", "", 5),
    Column("intensity", "count", "operations per byte", "", 7),
    Column("gb_per_s", "count", "gigabytes per second", "more", 6),
    Column("instructions", "count", "instructions of the module, or of a loop", "less", 3),
    Column("kernels", "count", "kernels", "less", 3),
    Column("modules", "count", "modules in which a rule was applied", "", 6),
    Column("size", "bytes", "the size of a value", "less", 2),
    Column("offset", "bytes", "the place of a value in its allocation", "", 4),
    Column("allocation", "", "the memory of a value", rank=3),
    Column("start", "count", "the first position of a value in program order", "", 5),
    Column("end", "count", "the last position of a value in program order", "", 5),
    Column("shared_with", "", "values that use the same memory", rank=6),
    # Passes and rules.
    Column("step", "count", "the number of a pass; 0 is the module as written", "", 2),
    Column("pass", "", "the name of a pass", rank=1),
    Column("pipeline", "", "the pipelines around a pass", rank=6),
    Column("changed", "", "True if a pass changed the module", rank=2),
    Column("instructions_before", "count", "instructions before a pass", "less", 5),
    Column("instructions_after", "count", "instructions after a pass", "less", 4),
    Column("delta_instructions", "count", "the change of the number of instructions", "less", 2),
    Column("delta_bytes", "bytes", "the change of the bytes", "less", 4),
    Column("delta_flops", "flops", "the change of the operations", "less", 4),
    Column("added", "count", "instructions or lines that were added", "", 4),
    Column("removed", "count", "instructions or lines that were removed", "", 4),
    Column("modified", "count", "instructions that were changed in place", "", 5),
    Column("rewrites", "count", "applied rules", "", 3),
    Column("attempts", "count", "rules that were tried", "", 6),
    Column("error", "", "the error of a pass", rank=4),
    Column("rule", "", "the name of a rewrite rule", rank=0),
    Column("accepted", "count", "how often a rule was applied", "", 2),
    Column("refused", "count", "how often a rule was refused", "", 2),
    Column("tried", "count", "instructions on which a rule was tried", "", 5),
    Column("fitted", "count", "instructions that matched a pattern", "", 5),
    Column("made", "count", "instructions that a rule replaced", "", 4),
    Column("sources", "", "the source instructions of an instruction", rank=1),
    Column("how", "", "how an instruction came from its sources", rank=2),
    # Loops.
    Column("family", "", "the family of a kernel", rank=4),
    Column("form", "", "nest, or opaque", rank=5),
    Column("made_by", "", "who made the code: a writer, the policy or the user", rank=6),
    Column("schedule", "", "the directives of a schedule", rank=1),
    Column("loop", "", "a loop of machine code", rank=1),
    Column("ipc", "count", "instructions per cycle, by llvm-mca", "more", 3),
    Column("block_throughput", "count", "cycles of an iteration, by llvm-mca", "less", 4),
    Column("bottleneck", "", "the limiting port of a loop, by llvm-mca", rank=4),
    Column("model", "", "the processor model of llvm-mca", rank=7),
    # LLVM.
    Column("level", "", "ir or machine", rank=5),
    Column("lines_before", "count", "lines before a pass of LLVM", "", 5),
    Column("lines_after", "count", "lines after a pass of LLVM", "", 4),
    Column("diff", "", "a unified diff", rank=8),
    Column("runs", "count", "how often a pass ran", "", 5),
    # Searches.
    Column("what", "", "instruction, decision or pass", rank=1),
)

COLUMNS: Final = {one.name: one for one in _ALL}
"""The columns by name."""


def column(name: str) -> Column:
    """Return a column by name; one of no noun, such as `step_13_algsimp`, has no unit."""
    return COLUMNS.get(name) or Column(name, "", "")

"""`xla-explorer conform`: the conformance programs on a PJRT plugin that is a file."""

from __future__ import annotations

from argparse import Namespace
from html import escape
from pathlib import Path

from xla_explorer.backends.testing.conformance import Conformance, Failure, conformance_of
from xla_explorer.backends.xla.plugin_file import ApiVersion, PluginRunner, api_version
from xla_explorer.cli.output import print_frame
from xla_explorer.cli.terminal import say
from xla_explorer.explorer.xla.conforming import Harnesses, run_harnesses
from xla_explorer.foundation.file_writing import write_file

_JAXLIB = "jaxlib"  # in place of a file: JAX's own CPU
_COLOURS = {True: "#2e7d32", False: "#b3261e"}


def conform(given: Namespace) -> int:
    """Run the programs; the exit code is 1 if one is wrong or crashes."""
    version = None if given.plugin == _JAXLIB else api_version(given.plugin)
    runner = PluginRunner(given.plugin if version is not None else None)
    harnesses = None
    try:
        platform = runner.platform_version()
        found = conformance_of(
            Path(given.plugin).name,
            runner,
            _names(given.opcodes),
            _names(given.types),
            seed=given.seed,
            most=given.most,
        )
        if given.harnesses:
            harnesses = run_harnesses(runner, given.harnesses, given.most)
    finally:
        runner.close()
    if given.json:
        print_frame(found.to_frame(), as_json=True)
    else:
        say(_device(version, platform))
        print(f"{given.plugin}: {summary(found)}")
        if harnesses is not None:
            print(f"{given.plugin}: {harnesses.summary()}")
        for failure in _failures(found, harnesses):
            print(f"\n{failure}")
    if given.output is not None:
        write_file(given.output, page(found, version, platform, harnesses))
        say(f"written: {given.output}")
    if given.badge is not None:
        write_file(given.badge, badge(found))
        say(f"written: {given.badge}")
    return 1 if _failures(found, harnesses) else 0


def _device(version: ApiVersion | None, platform: str) -> str:
    """Return the device's versions in a line; JAX's own CPU has none of the interface."""
    words = " ".join(platform.split())
    return f"PJRT {version.major}.{version.minor}: {words}" if version else f"jaxlib: {words}"


def _failures(found: Conformance, harnesses: Harnesses | None) -> list[Failure]:
    return [*found.failures, *(harnesses.failures if harnesses is not None else [])]


def _names(text: str) -> list[str] | None:
    return [one for one in text.replace(" ", "").split(",") if one] or None


def summary(found: Conformance) -> str:
    """Return the counts of a run in a line."""
    counts = [f"{number} {status}" for status, number in found.counts.items() if number]
    return f"{len(found.rows)} programs: {', '.join(counts)}"


def page(
    found: Conformance,
    version: ApiVersion | None,
    platform: str,
    harnesses: Harnesses | None = None,
) -> str:
    """Return a page with the table of opcodes and types, and each failure's smallest module."""
    title = f"Conformance of {escape(found.backend)}"
    told = escape(_device(version, platform))
    failed = _failures(found, harnesses)
    failures = "".join([f"<pre>{escape(str(one))}</pre>" for one in failed])
    counts = summary(found) + (f"; {harnesses.summary()}" if harnesses is not None else "")
    refused = [row for row in found.rows if row.status == "refused"]
    reasons = "".join(
        [
            f"<li>{escape(f'{row.opcode} {row.element_type}: {row.message}')}</li>"
            for row in refused[:200]
        ]
    )
    style = (
        "body{font:14px sans-serif;margin:2em;max-width:72em}table{border-collapse:collapse}"
        "td,th{padding:1px 8px;border:1px solid #ccc}pre{background:#f4f4f4;padding:1em}"
    )
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        f"<style>{style}</style><h1>{title}</h1><p>{told}</p><p>{escape(counts)}. Each "
        "program was compared with the evaluator.</p>"
        f"{f'<h2>Failures, minimised</h2>{failures}' if failures else ''}"
        f"<h2>Opcodes and types</h2>{found.table().to_html()}"
        f"{f'<h2>Refused</h2><ul>{reasons}</ul>' if reasons else ''}</html>\n"
    )


def badge(found: Conformance) -> str:
    """Return a badge with the share of the programs that give the evaluator's values."""
    good, whole = found.counts["ok"], max(len(found.rows), 1)
    text = f"{100 * good // whole} % of {whole}" + ("" if found.passed else ", failures")
    left, right = 118, 12 + 7 * len(text)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="HLO conformance: {text}"><rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{_COLOURS[found.passed]}"/>'
        '<g fill="#fff" font-family="sans-serif" font-size="12">'
        f'<text x="6" y="14">HLO conformance</text><text x="{left + 6}" y="14">{text}</text></g></svg>\n'
    )

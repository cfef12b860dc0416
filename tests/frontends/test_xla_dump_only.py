"""Of a dump only the texts around some passes are read, where that is enough."""

from __future__ import annotations

from pathlib import Path

from xla_explorer.frontends.xla_dump import DumpFolder, read_stages

DUMP = Path(__file__).parents[1] / "explorer" / "xla" / "dumps" / "cpu_attention"


def test_the_texts_after_a_pass_and_before_it_are_read_and_both_ends() -> None:
    dumped = DumpFolder(DUMP).module()
    every = [stage.name for stage in read_stages(dumped)[0]]
    some = [stage.name for stage in read_stages(dumped, only=("fusion",))[0]]
    assert every == ["", "pipeline-start", "dot-library-rewriter", "fusion", "after_optimizations"]
    assert some == ["", "dot-library-rewriter", "fusion", "after_optimizations"]
    assert [stage.name for stage in read_stages(dumped, only=())[0]] == ["", "after_optimizations"]

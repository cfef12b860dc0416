"""`xe.aot` as a notebook sees it: what it shows of itself, what it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.explorer.aot import AotArgumentError

TEXT = "HloModule small.1\nENTRY e {\n  x = f32[8,4] parameter(0)\n  ROOT y = f32[8,4] tanh(x)\n}"


def test_a_package_shows_itself_with_its_footprint_and_build_line() -> None:
    package = xe.aot(TEXT, "aarch64-linux-gnu", "neoverse-n1")
    assert repr(package).startswith("AotPackage small_1 for aarch64-linux-gnu neoverse-n1: ")
    shown = package._repr_mimebundle_()
    assert (
        package.build_line in str(package)
        and ".text" in str(package)
        and "<table>" in shown["text/html"]
    )
    assert list(package.footprint.columns) == ["kind", "what", "bytes"]
    assert "fmla" in package.assembly or "fmul" in package.assembly
    assert package.header.language == "c" and "small_1_run" in package.header


def test_saving_writes_the_files_by_their_names(tmp_path: Path) -> None:
    package = xe.aot(TEXT, prefix="net")
    folder = package.save(tmp_path / "made" / "here")
    assert sorted(path.name for path in folder.iterdir()) == [
        "net.cmake",
        "net.h",
        "net.o",
        "net_example.c",
        "net_example.cpp",
    ]
    assert (folder / "net.o").read_bytes() == package.object_bytes
    assert sorted(xe.aot(TEXT, "wasm32-unknown-unknown", prefix="net").files) == ["net.h", "net.o"]


def test_a_traced_function_and_a_module_are_taken_as_text_is() -> None:
    @xe.hlo
    def doubled(x: xe.f32[8]):
        return x + x

    assert xe.aot(doubled).prefix == "doubled"
    module = xe.parse_hlo(TEXT)
    before = module.to_text()
    assert xe.aot(module).object_bytes == xe.aot(TEXT).object_bytes and module.to_text() == before


def test_what_cannot_be_used_is_named() -> None:
    with pytest.raises(AotArgumentError, match="two_words"):
        xe.aot(TEXT, prefix="two words")
    with pytest.raises(TypeError):
        xe.aot(3)


@pytest.mark.parametrize(
    "options",
    [
        {"triple": "x86_64-linux-gnu */ int evil; /*"},
        {"triple": "x86_64-linux-gnu\n"},
        {"cpu": "x86-64-v3 */"},
        {"features": "+avx\n"},
        {"triple": 3},
    ],
)
def test_names_for_llvm_hold_no_other_characters(options) -> None:
    with pytest.raises(xe.XlaExplorerError, match=f"{next(iter(options))}="):
        xe.aot("HloModule m\nENTRY e { ROOT x = f32[2] parameter(0) }", **options)

"""A user's file is replaced whole or not at all."""

from __future__ import annotations

import errno
import functools
import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.cli.main import main
from xla_explorer.explorer.display.display import Svg
from xla_explorer.foundation.file_reading import read_file
from xla_explorer.foundation.file_writing import FileWriteError, replaced_file, write_file
from xla_explorer.foundation.journal import Journal

TEXT = "HloModule m\nENTRY e { x = f32[4] parameter(0)\n ROOT r = f32[4] add(x, x) }\n"


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def hlo_file(folder: Path) -> str:
    path = folder / "m.hlo"
    path.write_text(TEXT)
    return str(path)


@functools.cache
def session() -> xe.Session:
    return xe.compile(TEXT)


@functools.cache
def profile() -> object:
    return xe.compile(TEXT, backend="interpreter").profile(repeats=1)


WRITERS = {
    "session.save": ("page.html", lambda path: session().save(path)),
    "aot.save": ("m.o", lambda path: xe.aot(TEXT).save(path.parent)),
    "graph.svg": ("g.svg", lambda path: xe.graph(TEXT).save(path)),
    "graph.dot": ("g.dot", lambda path: xe.graph(TEXT).save(path)),
    "svg": ("p.svg", lambda path: Svg("<svg/>", "").save(path)),
    "journal": ("j.jsonl", lambda path: Journal().save(path)),
    "trace": ("t.json", lambda path: session().timeline(path)),
    "opt -o": ("o.hlo", lambda path: main(["opt", hlo_file(path.parent), "-o", str(path)])),
    "run -o": ("o.npz", lambda path: main(["run", hlo_file(path.parent), "-o", str(path)])),
    "report -o": ("r.html", lambda path: main(["report", hlo_file(path.parent), "-o", str(path)])),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.sampled(5)
def test_a_full_disk_leaves_the_old_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, write = WRITERS[name]
    hlo_file(tmp_path)
    path = write_file(tmp_path / file, "what stood there")
    path.chmod(0o640)
    before = set(tmp_path.iterdir())
    with monkeypatch.context() as patched:
        patched.setattr("xla_explorer.foundation.file_writing.os.fsync", no_space)
        try:
            assert write(path) == 2  # the command line warns and goes on
        except OSError as problem:
            assert problem.errno == errno.ENOSPC
    assert path.read_text() == "what stood there"
    assert set(tmp_path.iterdir()) == before  # nothing half-written beside it
    write(path)
    assert path.read_bytes() != b"what stood there"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    assert write_file(tmp_path / "new", b"x").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_keeps_its_target(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"


def test_a_pipe_is_written_to() -> None:
    read, write = os.pipe()
    try:
        write_file(f"/dev/fd/{write}", "through")
        assert os.read(read, 100) == b"through"
    finally:
        os.close(read), os.close(write)


def test_an_interrupted_block_leaves_the_old_file(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.npz", b"old")
    with pytest.raises(KeyboardInterrupt), replaced_file(path) as file:
        np.savez(file, np.zeros(100))
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


REFUSED = {
    "a folder": ("", "it is a folder", "add the name of a file"),
    "no folder": ("missing/file", "missing must exist", "create it first"),
    "a file as folder": ("file/x", "file must be a folder", "choose a folder"),
    "a long name": ("x" * 300, "too long", "choose a shorter name"),
    "a null byte": ("x\0y", "embedded null", "choose another name"),
    "a system's folder": ("/proc/x.html", "no files in /proc", "choose a folder of your own"),
    "a full device": ("/dev/full", "No space left", "free space there, or choose another disk"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the paths are Linux's")
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_written_says_so(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    place, cause, hint = REFUSED[name]
    path = os.path.join(tmp_path, place) if place else tmp_path
    with pytest.raises(FileWriteError, match="cannot write ") as refused:
        write_file(path, "x")
    assert cause in refused.value.message and refused.value.hint == hint
    assert isinstance(refused.value, OSError)


@pytest.mark.parametrize("file", [0, 1, True])
def test_a_number_is_no_path(file: int) -> None:
    """An open descriptor would be written and closed."""
    with pytest.raises(TypeError):
        write_file(file, "x")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        read_file(file)  # type: ignore[arg-type]
    os.fstat(file)

"""Files outside the folders of a server stay unread."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from xla_explorer.agents import folders
from xla_explorer.agents.folders import Folders, RefusedError

TEXT = "ENTRY m { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }"


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    folder = tmp_path / "inside"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.hlo").write_text(TEXT)
    (folder / "deep" / "b.mlir").write_text("module {}")
    (folder / "notes.py").write_text("print(1)")
    (tmp_path / "secret.hlo").write_text("secret")
    return folder


def test_files_below_the_folder(inside: Path) -> None:
    given = Folders([inside])
    assert given.read("a.hlo") == (TEXT.encode(), "a.hlo")
    assert given.read("deep/../deep/b.mlir")[1] == "b.mlir"
    assert given.read(str(inside / "a.hlo"))[0] == TEXT.encode()
    assert sorted(name for name, _ in given.listed()) == ["a.hlo", "deep/b.mlir"]


@pytest.mark.parametrize(
    "name",
    [
        "../secret.hlo", "deep/../../secret.hlo", "/etc/passwd", "~/secret.hlo", "file:///etc/passwd", "", "a.hlo\0",
        "a\n.hlo", "x" * 5000, "notes.py", "deep", ".", "missing.hlo", "link.hlo", "out/secret.hlo", "$HOME/a.hlo", "\u202ea.hlo",
    ],
)  # fmt: skip
def test_what_is_refused(inside: Path, name: str) -> None:
    (inside / "link.hlo").symlink_to(inside.parent / "secret.hlo")
    (inside / "out").symlink_to(inside.parent, target_is_directory=True)
    given = Folders([inside])
    with pytest.raises(RefusedError) as refused:
        given.read(name)
    assert "secret" not in str(refused.value).replace(name, "")
    assert str(inside.parent) not in str(refused.value)
    assert "link.hlo" not in dict(given.listed())


def test_a_pipe_is_no_file(inside: Path) -> None:
    os.mkfifo(inside / "p.hlo")
    with pytest.raises(RefusedError, match="is no file"):
        Folders([inside]).read("p.hlo")


def test_a_large_file(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MOST_BYTES", 10)
    with pytest.raises(RefusedError, match="more than 10"):
        Folders([inside]).read("a.hlo")


def test_a_link_inside_is_read(inside: Path) -> None:
    (inside / "again.hlo").symlink_to(inside / "a.hlo")
    assert Folders([inside]).read("again.hlo")[0] == TEXT.encode()


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="is no folder"):
        Folders([tmp_path / "missing"])

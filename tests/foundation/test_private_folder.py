"""A cache folder is read only if this user wrote it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from xla_explorer.foundation.private_folder import private_folder, read_private

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners and modes")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_folder_is_made_for_this_user_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert private_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a" / "b") == 0o700


def test_a_folder_of_ours_that_others_may_write_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert private_folder(tmp_path) and mode(tmp_path) == 0o700


def test_a_foreign_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert not private_folder(tmp_path)


def test_what_is_read_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    assert read_private(file) is None
    file.write_bytes(b"content")
    file.chmod(0o644)
    assert read_private(file) == b"content"
    file.chmod(0o666)
    assert read_private(file) is None, "others may write it"
    file.chmod(0o600)
    (tmp_path / "link").symlink_to(file)
    assert read_private(tmp_path / "link") is None, "links are not followed"
    os.mkfifo(tmp_path / "pipe")
    assert read_private(tmp_path / "pipe") is None, "and does not block"
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert read_private(file) is None, "another user's"


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    from xla_explorer.foundation.file_reading import FileReadError, read_file

    os.mkfifo(tmp_path / "pipe.hlo")
    with pytest.raises(FileReadError, match="it is a pipe"):
        read_file(tmp_path / "pipe.hlo")
    with pytest.raises(FileReadError, match="it is a device"):
        read_file("/dev/zero")
    with pytest.raises(FileReadError, match="No such file"):
        read_file(tmp_path / "nothing.hlo")
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    assert read_file(f"/dev/fd/{reading}") == b"text", "what a shell hands over"
    os.close(reading)

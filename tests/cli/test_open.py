"""`xla-explorer open`: modules by time, pages without private paths, a server for one user."""

from __future__ import annotations

import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.explorer.xla.test_profile import _module
from tests.frontends.xla_profile_fixtures import cpu_plane, metadata_plane, profile_of
from xla_explorer.cli import opening
from xla_explorer.cli.main import main
from xla_explorer.cli.opening import PageServer, list_page
from xla_explorer.explorer.recorded_modules import RecordedModules
from xla_explorer.explorer.xla.recorded_programs import NothingRecordedError
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.hlo.text import module_text

TEXT = "HloModule {name}\nENTRY e {{\n  x = f32[4] parameter(0)\n  e = f32[4] exponential(x)\n  ROOT r = f32[4] add(e, x)\n}}\n"


def cluster_folder(folder: Path, modules: int = 3) -> Path:
    """Write a dump of some modules, and beside it a profile in which `jit_f` ran."""
    (folder / "dump").mkdir(parents=True)
    for number in range(modules):
        name = "jit_f" if number == 1 else f"jit_g{number}"
        for when in ("before_optimizations", "cpu_after_optimizations"):
            (folder / "dump" / f"module_{number:04}.{name}.{when}.txt").write_text(
                TEXT.format(name=name)
            )
    (folder / "host.xplane.pb").write_bytes(
        profile_of(metadata_plane("jit_f", 3, _module()), cpu_plane())
    )
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PageServer]:
    with PageServer(RecordedModules(cluster_folder(tmp_path / "job"))) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def _get(address: str, **headers: str) -> str:
    with urllib.request.urlopen(
        urllib.request.Request(address, headers=headers), timeout=60
    ) as answer:
        return str(answer.read().decode())


def test_modules_stand_by_time_and_a_profile_is_joined_by_name(tmp_path: Path) -> None:
    found = RecordedModules(cluster_folder(tmp_path))
    assert [(row.name, row.runs, row.passes) for row in found.rows] == [
        ("jit_f", 2, 2),
        ("jit_g0", 0, 2),
        ("jit_g2", 0, 2),
    ]
    frame = found.session(found.rows[0].key).last_profile
    assert frame["kernel"].tolist() == ["(whole program)", "%e", "%r"] and frame[
        "instruction"
    ].notna().tolist() == [False, True, True]


def test_of_modules_of_one_name_the_equal_one_has_the_times(tmp_path: Path) -> None:
    """Of two dumped modules called `jit_f`, the one that equals the profile's has the times.

    The profile's module computes the same under other names.
    """
    folder = cluster_folder(tmp_path)
    other = TEXT.format(name="jit_f").replace("exponential", "cosine")
    (folder / "dump" / "module_0009.jit_f.cpu_after_optimizations.txt").write_text(other)
    same = module_text(read_hlo_proto(_module(), "f").module).replace("%e", "%named_otherwise")
    (folder / "dump" / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(same)
    found = RecordedModules(folder)
    assert {row.key: row.runs for row in found.rows} == {
        "dump-0": 0,
        "dump-1": 2,
        "dump-2": 0,
        "dump-9": 0,
    }
    assert (
        found.session("dump-1").last_profile is not None
        and found.session("dump-9").last_profile is None
    )


def test_modules_of_one_name_are_told_by_their_numbers(tmp_path: Path) -> None:
    """A dump of a job has dozens called `jit_convert_element_type`."""
    folder = cluster_folder(tmp_path)
    (folder / "dump" / "module_0009.jit_g0.cpu_after_optimizations.txt").write_text(
        TEXT.format(name="jit_g0")
    )
    page = list_page(RecordedModules(folder))
    assert (
        page.count("<small>") == 2
        and "<small>module 0</small>" in page
        and "<small>module 9</small>" in page
    )


def test_a_profile_alone_is_enough(tmp_path: Path) -> None:
    (tmp_path / "a.xplane.pb").write_bytes(
        profile_of(metadata_plane("jit_f", 3, _module()), cpu_plane())
    )
    found = RecordedModules(tmp_path / "a.xplane.pb")
    session = found.session(found.rows[0].key)
    assert (
        session.module.name == "jit_f" and session.last_profile["kernel"].iloc[1] == "%body_fusion"
    )


def test_the_server_answers_with_its_token_only(server: PageServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    listed = _get(server.address)
    assert listed.index("jit_f") < listed.index("jit_g0") and "/tmp" not in listed
    page = _get(server.address + server.found.rows[0].key)
    assert page.startswith("<!doctype html>") and "jit_f · compiled by XLA" in page
    root = server.address.replace(server.token + "/", "")
    for address in (
        root,
        root + "x" * 22 + "/",
        server.address + "dump-99",
        server.address + "../" + server.token,
        server.address + "a/b",
    ):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            _get(address)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        _get(server.address, Host=f"evil.example:{server.server_port}")


def test_the_page_of_the_longest_module_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["open", str(cluster_folder(tmp_path / "job")), "--save", str(page)]) == 0
    assert "jit_f" in page.read_text() and str(tmp_path) not in page.read_text()
    assert main(["open", str(tmp_path / "job" / "dump" / "none")]) == 2
    assert str(tmp_path / "none") not in capsys.readouterr().err


def test_an_empty_folder_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(NothingRecordedError, match="no XLA dump and no profile"):
        RecordedModules(tmp_path)


def test_thousands_of_modules_are_listed_without_reading_them(tmp_path: Path) -> None:
    for number in range(3000):
        (tmp_path / f"module_{number:04}.jit_g{number}.before_optimizations.txt").touch()
    assert len(RecordedModules(tmp_path).rows) == 3000


@pytest.mark.parametrize("line", ["GET foo", "GET ?", "GET x?y HTTP/1.0", "GET * HTTP/1.1"])
def test_a_request_without_a_path_is_answered(
    server: PageServer, line: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        connection.sendall(f"{line}\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
        connection.shutdown(socket.SHUT_WR)
        assert b"404" in connection.recv(65536) or line.count(" ") < 2
    assert "Traceback" not in capfd.readouterr().err


def test_the_command_line_of_the_browser_does_not_hold_the_token() -> None:
    address = "http://127.0.0.1:1234/secret-token/"
    with opening._redirecting_file(address) as shown:
        assert "secret" not in shown and shown.startswith("file://")
        file = Path(shown.removeprefix("file://"))
        assert address in file.read_text() and file.parent.stat().st_mode & 0o077 == 0
    assert not file.exists()

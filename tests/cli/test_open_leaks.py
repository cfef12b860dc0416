"""Answers of `xla-explorer open`'s server, unpacked, hold file names and no other path part."""

from __future__ import annotations

import base64
import json
import re
import shutil
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.explorer.xla.test_profile import _module
from tests.frontends.xla_profile_fixtures import cpu_plane, metadata_plane, profile_of
from xla_explorer.cli.opening import PageServer
from xla_explorer.explorer.page.payload import unpacked
from xla_explorer.explorer.recorded_modules import RecordedModules

DUMP = Path(__file__).parents[1] / "explorer" / "xla" / "dumps" / "cpu_attention"
PLACE = 'metadata={op_name="jit(f)/add" source_file="/home/secret/project/model.py" source_line=7}'


def _job(folder: Path, *, changed: bool = False) -> Path:
    """Write a dump with a user's source file, a damaged module, and a profile."""
    shutil.copytree(DUMP, folder)
    for path in folder.glob("*.txt"):
        path.chmod(0o644)
        if "buffer-assignment" not in path.name:
            text = re.sub(r", metadata=\{[^}]*\}", "", path.read_text())
            path.write_text(
                re.sub(r"(?m)^(\s+.*= .*\))$", rf"\1, {PLACE}", text).replace(
                    "exponential(", "cosine(" if changed else "exponential("
                )
            )
    (folder / "module_0090.jit_bad.before_optimizations.txt").write_text(
        'HloModule "/home/secret/x.py"\nENTRY e { "/home/secret/a.txt" }'
    )
    (folder / "host.xplane.pb").write_bytes(
        profile_of(metadata_plane("jit_f", 3, _module()), cpu_plane())
    )
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PageServer]:
    secret = tmp_path / "secret"
    with PageServer(
        RecordedModules(_job(secret / "job")),
        0,
        RecordedModules(_job(secret / "older", changed=True)),
    ) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def _answer(address: str) -> tuple[int, str]:
    """Return the status, and headers and body with the data of the page unpacked."""
    try:
        with urllib.request.urlopen(address, timeout=60) as found:
            status, headers, body = found.status, found.headers, found.read().decode()
    except urllib.error.HTTPError as problem:
        status, headers, body = problem.code, problem.headers, problem.read().decode()
    data = [
        json.dumps(unpacked(base64.b64decode(text)))
        for text in re.findall(r">([A-Za-z0-9+/=]{200,})<", body)
    ]
    return status, "\n".join([str(headers), body, *[f"(unpacked) {one}" for one in data]])


def test_no_answer_has_a_path_of_the_machine(server: PageServer, tmp_path: Path) -> None:
    keys = [row.key for row in server.found.rows]
    answers = {
        key: _answer(f"{server.address}{key}")
        for key in ("", *keys, "against", "dump-77", "..%2F..%2Fetc%2Fpasswd")
    }
    answers["no token"] = _answer(server.address.rsplit("/", 2)[0] + "/")
    shown = [text for status, text in answers.values() if status == 200]
    assert len(shown) >= 4 and sum(text.count("model.py:7") for text in shown) > 2, (
        "the sweep saw pages with source lines"
    )
    assert sum("(unpacked)" in text for text in shown) >= 2
    leaks = {
        key: text[max(at - 60, 0) : at + 60]
        for key, (_, text) in answers.items()
        if (at := text.find("secret")) >= 0
    }
    assert leaks == {}
    assert not any(
        str(tmp_path) in text
        or str(Path.home()) + "/" in text
        or str(Path(__file__).parents[2]) in text
        for _, text in answers.values()
    )

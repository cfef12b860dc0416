"""The server by the SDK's own client, over stdio and HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.agents.test_tools import TEXT
from xla_explorer.agents.folders import Folders
from xla_explorer.agents.registry import TOOLS
from xla_explorer.agents.server import HttpServer, make_server, skill
from xla_explorer.agents.workspace import Limits, Workspace
from xla_explorer.cli.main import main
from xla_explorer.foundation.optional import MissingExtraError

ROOT = Path(xe.__file__).resolve().parents[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "step.hlo").write_text(TEXT)
    return tmp_path


def sdk() -> Any:
    return pytest.importorskip("mcp", reason="needs the extra `mcp`")


def with_client(target: Any, talk: Callable[[Any], Awaitable[Any]], **options: Any) -> Any:
    async def run() -> Any:
        async with sdk().Client(target, read_timeout_seconds=120, **options) as client:
            return await talk(client)

    return asyncio.run(run())


async def conversation(client: Any) -> list[str]:
    """Ask whether two instructions were fused, and try some bad requests."""
    listed = await client.list_tools()
    assert [one.name for one in listed.tools] == list(TOOLS)
    opened = await client.call_tool("open", {"path": "step.hlo"})
    why = await client.call_tool("why", {"program": "p1", "producer": "%e", "consumer": "%d"})
    refused = await client.call_tool("open", {"path": "../../etc/passwd"})
    unknown = await client.call_tool("shell", {"command": "id"})
    assert not opened.is_error and not why.is_error
    assert refused.is_error and unknown.is_error
    resources = await client.list_resources()
    texts = [(await client.read_resource(one.uri)).contents[0].text for one in resources.resources]
    assert texts[0] == skill() and "step.hlo" in texts[2] and "passes.history" in texts[1]
    with pytest.raises(Exception, match="no such resource"):
        await client.read_resource("file:///etc/passwd")
    return [one.content[0].text for one in (opened, why, refused)]


def check(texts: list[str]) -> None:
    opened, why, refused = texts
    assert opened.startswith("p1: step on cpu")
    assert why.startswith("fusion of %e into %d: refused")
    assert "no file" in refused and "root:" not in refused


def test_over_stdio(folder: Path) -> None:
    sdk()
    from mcp.client.stdio import StdioServerParameters

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "xla_explorer", "mcp", str(folder)],
        env={"PYTHONPATH": str(ROOT)},
        cwd="/",
    )
    check(with_client(server, conversation))


@pytest.fixture
def http(folder: Path) -> Iterator[HttpServer]:
    sdk()
    server = HttpServer(Workspace(Folders([folder])), token="right")
    thread = server.start()
    yield server
    server.stop()
    thread.join(20)
    assert not thread.is_alive()


def with_token(server: HttpServer, token: str, talk: Callable[[Any], Awaitable[Any]]) -> Any:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async def run() -> Any:
        head = {"Authorization": f"Bearer {token}"} if token else {}
        async with httpx2.AsyncClient(headers=head, timeout=120) as connection:
            transport = streamable_http_client(server.address, http_client=connection)
            async with sdk().Client(transport, read_timeout_seconds=120) as client:
                return await talk(client)

    return asyncio.run(run())


def test_over_http(http: HttpServer) -> None:
    assert http.address.startswith("http://127.0.0.1:")
    check(with_token(http, "right", conversation))


@pytest.mark.parametrize("token", ["", "wrong", "righ", "right2"])
def test_without_the_token_nothing_is_answered(http: HttpServer, token: str) -> None:
    async def talk(client: Any) -> Any:
        return await client.list_tools()

    with pytest.raises(BaseException):  # noqa: B017, PT011  # the SDK wraps it in groups
        with_token(http, token, talk)


def test_requests_that_are_no_requests(http: HttpServer) -> None:
    import httpx2

    good = {"Authorization": "Bearer right", "Accept": "application/json, text/event-stream"}
    with httpx2.Client(timeout=20) as client:
        assert client.post(http.address, json={}).status_code == 401
        assert client.get(http.address.replace("/mcp", "/")).status_code == 401
        rebound = {**good, "Host": "evil.example"}
        assert client.post(http.address, json={}, headers=rebound).status_code in (403, 421)
        origin = {**good, "Origin": "https://evil.example"}
        assert client.post(http.address, json={}, headers=origin).status_code == 403
        large = client.post(http.address, content=b"x" * (2 << 20), headers=good)
        assert large.status_code == 413
        assert client.post(http.address, content=b"{", headers=good).status_code == 400
        assert client.get(http.address.replace("/mcp", "/etc"), headers=good).status_code == 404


def test_a_question_that_takes_too_long_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sdk()
    import time

    from xla_explorer.agents import server as module

    monkeypatch.setattr(module, "_GRACE_SECONDS", 0.2)
    monkeypatch.setattr(module, "answered", lambda *_: time.sleep(1.5))
    server = make_server(Workspace(Folders([folder]), Limits(seconds=0.1)))

    async def talk(client: Any) -> Any:
        return await client.call_tool("files", {})

    found = with_client(server, talk)
    assert found.is_error and "took more than" in found.content[0].text


def test_a_fault_does_not_end_the_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sdk()
    from xla_explorer.agents import server as module

    def fails(*_: Any) -> str:
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(module, "answered", fails)
    server = make_server(Workspace(Folders([folder])))

    async def talk(client: Any) -> Any:
        return [await client.call_tool("files", {}) for _ in range(2)]

    for found in with_client(server, talk):
        assert found.is_error and found.content[0].text == "internal error: RuntimeError"


def test_the_skill_lists_every_tool(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "--skill"]) == 0
    text = capsys.readouterr().out
    assert all(f"- `{name}`: " in text for name in TOOLS) and "{tools}" not in text


def test_without_the_extra_the_command_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    with pytest.raises(MissingExtraError, match=r"xla-explorer\[mcp\]"):
        make_server(Workspace(Folders([folder])))
    assert main(["mcp", str(folder)]) != 0
    assert "xla-explorer[mcp]" in capsys.readouterr().err

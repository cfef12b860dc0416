"""The server of the Model Context Protocol: tools, resources and the skill, over stdio or HTTP.

The official SDK (extra `mcp`) has the protocol. Over HTTP the server listens on the loopback
interface; each request needs the token and the host name of the server.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, Final

from xla_explorer import __version__
from xla_explorer.agents import tools as tools  # registers the tools
from xla_explorer.agents.budget import MOST_TOKENS, Part, Reply, tokens
from xla_explorer.agents.folders import RefusedError
from xla_explorer.agents.registry import TOOLS, Tool, answered
from xla_explorer.agents.workspace import Workspace
from xla_explorer.explorer.asking import Cost, questions
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional
from xla_explorer.foundation.visible_text import cleaned_text

HOST: Final = "127.0.0.1"
_LARGEST_REQUEST: Final = 1 << 20
_GRACE_SECONDS: Final = 30.0
_SKILL: Final = Path(__file__).with_name("skill.md")
_SCHEME: Final = "xla-explorer://"

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Any, Send], Awaitable[None]]


def skill() -> str:
    """Return the text that explains the tools to an agent."""
    rows = [f"- `{one.name}`: {one.sentence}" for one in TOOLS.values()]
    return _SKILL.read_text(encoding="utf-8").replace("{tools}", "\n".join(rows))


def error_text(problem: BaseException) -> str:
    """Return an error as text within the budget."""
    text = str(problem) if isinstance(problem, XlaExplorerError) else type(problem).__name__
    while tokens(text) > MOST_TOKENS // 2:
        text = text[: len(text) // 2]
    return cleaned_text(text)


def make_server(workspace: Workspace) -> Any:
    """Return the server of the SDK; MissingExtraError without it."""
    types: Any = import_optional("mcp_types", "mcp")
    server: Any = import_optional("mcp.server", "mcp")
    handlers = _Handlers(workspace, types)
    return server.Server(
        "xla-explorer",
        version=__version__,
        instructions=skill().partition("\n## ")[0],
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_read_resource=handlers.read_resource,
    )


class _Handlers:
    """The requests of the protocol."""

    def __init__(self, workspace: Workspace, types: Any) -> None:
        self.workspace, self.types = workspace, types

    async def list_tools(self, context: Any, request: Any) -> Any:
        return self.types.ListToolsResult(tools=[self._tool(one) for one in TOOLS.values()])

    def _tool(self, one: Tool) -> Any:
        return self.types.Tool(
            name=one.name,
            description=one.sentence,
            input_schema=one.schema(),
            annotations=self.types.ToolAnnotations(
                read_only_hint=True, open_world_hint=False, idempotent_hint=one.cost < Cost.RUNS
            ),
        )

    async def call_tool(self, context: Any, request: Any) -> Any:
        try:
            text, wrong = await self._answer(request.name, request.arguments or {}), False
        except XlaExplorerError as problem:
            text, wrong = error_text(problem), True
        except Exception as problem:  # a fault of ours must not end the server
            text, wrong = f"internal error: {type(problem).__name__}", True
        content = [self.types.TextContent(type="text", text=text)]
        return self.types.CallToolResult(content=content, is_error=wrong)

    async def _answer(self, name: str, arguments: dict[str, Any]) -> str:
        """Return an answer made in a thread; after the limit of the server the client goes on."""
        anyio: Any = import_optional("anyio", "mcp")
        limit = self.workspace.limits.seconds + _GRACE_SECONDS
        with anyio.move_on_after(limit):
            found: str = await anyio.to_thread.run_sync(
                answered, self.workspace, name, arguments, abandon_on_cancel=True
            )
            return found
        raise RefusedError(f"{name} took more than {limit:.0f} s", "ask for less")

    async def list_resources(self, context: Any, request: Any) -> Any:
        rows = [
            ("skill", "How to use the tools"),
            ("questions", "All questions that `ask` takes"),
            ("files", "Modules below the folders of the server"),
        ]
        found = [
            self.types.Resource(uri=f"{_SCHEME}{name}", name=name, description=sentence, mime_type="text/markdown")
            for name, sentence in rows
        ]  # fmt: skip
        return self.types.ListResourcesResult(resources=found)

    async def read_resource(self, context: Any, request: Any) -> Any:
        uri = str(request.uri)
        made = {"skill": skill, "questions": _questions, "files": self._files}
        name = uri.removeprefix(_SCHEME)
        if not uri.startswith(_SCHEME) or name not in made:
            known = ", ".join([f"{_SCHEME}{one}" for one in made])
            errors: Any = import_optional("mcp.shared.exceptions", "mcp")
            raise errors.MCPError(-32602, f"no such resource; there are {known}")
        content = self.types.TextResourceContents(
            uri=uri, mime_type="text/markdown", text=made[name]()
        )
        return self.types.ReadResourceResult(contents=[content])

    def _files(self) -> str:
        return answered(self.workspace, "files", {"tokens": MOST_TOKENS})


def _questions() -> str:
    lines = [
        f"{one.name}({', '.join([a.name for a in one.arguments])}): {one.summary}"
        for one in questions().values()
    ]
    return Reply("questions of `ask`", [Part(lines)]).fitted(MOST_TOKENS, lambda cut: "")


async def serve_stdio(workspace: Workspace) -> None:
    """Serve one client on standard input and output, until it ends."""
    stdio: Any = import_optional("mcp.server.stdio", "mcp")
    server = make_server(workspace)
    async with stdio.stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def http_app(workspace: Workspace, token: str) -> App:
    """Return the application that answers at `/mcp` if the token is given."""
    app = make_server(workspace).streamable_http_app(
        host=HOST, max_request_body_size=_LARGEST_REQUEST
    )
    return _with_token(app, token)


def _with_token(app: App, token: str) -> App:
    wanted = f"Bearer {token}".encode()

    async def checked(scope: Scope, receive: Any, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and hmac.compare_digest(given, wanted):
            await app(scope, receive, send)
        elif scope["type"] == "http":
            head = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": head})
            await send({"type": "http.response.body", "body": b"the token is missing or wrong\n"})

    return checked


class HttpServer:
    """The server on a port of the loopback interface. address, token: what a client needs.

    `serve` returns when the process ends or after `stop`.
    """

    def __init__(self, workspace: Workspace, port: int = 0, token: str = "") -> None:
        self._uvicorn: Any = import_optional("uvicorn", "mcp")
        self.token = token or secrets.token_urlsafe(24)
        config = self._uvicorn.Config(
            http_app(workspace, self.token),
            host=HOST,
            port=port,
            log_level="error",
            access_log=False,
        )
        self._server = self._uvicorn.Server(config)
        self._socket = config.bind_socket()
        self.address = f"http://{HOST}:{self._socket.getsockname()[1]}/mcp"

    def serve(self) -> None:
        """Answer requests."""
        self._server.run(sockets=[self._socket])

    def start(self) -> threading.Thread:
        """Answer requests in a thread."""
        thread = threading.Thread(target=self.serve, daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """End `serve`."""
        self._server.should_exit = True

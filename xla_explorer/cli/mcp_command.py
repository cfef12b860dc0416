"""`xla-explorer mcp`: the tools of the explorer for agents, by the Model Context Protocol."""

from __future__ import annotations

import asyncio
import os
from argparse import Namespace

from xla_explorer.agents.folders import Folders
from xla_explorer.agents.server import HttpServer, make_server, serve_stdio, skill
from xla_explorer.agents.workspace import Limits, Workspace
from xla_explorer.cli.terminal import say

_TOKEN = "XLA_EXPLORER_MCP_TOKEN"


def mcp(given: Namespace) -> int:
    """Serve the tools over standard input and output, or over HTTP on this machine."""
    if given.skill:
        print(skill())
        return 0
    workspace = Workspace(Folders(given.folders), Limits(given.seconds, runs=not given.no_run))
    if given.http is None:
        make_server(workspace)  # a missing extra is named before the protocol begins
        asyncio.run(serve_stdio(workspace))
        return 0
    server = HttpServer(workspace, given.http, os.environ.get(_TOKEN, ""))
    say(f"{server.address} (this machine only; Ctrl-C ends it)")
    if _TOKEN not in os.environ:
        say(f"header: Authorization: Bearer {server.token}")
    server.serve()
    return 0

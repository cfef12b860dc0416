"""`xla-explorer open`: a list of modules and a page for each, for this machine's browser alone.

The server listens on the loopback interface. Every address begins with a random token, and requests
for another host name are refused. So a page from elsewhere can neither guess the address nor rebind
its own name. Pages are those of `session.save`: they fetch nothing, and have file names instead of
paths.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import webbrowser
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import quote, unquote

from xla_explorer.backends.cpu.machine_limits import machine_limits
from xla_explorer.cli.terminal import say
from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.display.quantities import microseconds
from xla_explorer.explorer.page.html_page import export_page
from xla_explorer.explorer.page.private_paths import cut_paths
from xla_explorer.explorer.page.session_source import SessionSource
from xla_explorer.explorer.recorded_modules import RecordedModules
from xla_explorer.explorer.xla.flipped import differences
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_writing import write_file

_HOST: Final = "127.0.0.1"
_MOST_ROWS: Final = 5000
_AGAINST: Final = (
    "against"  # the key of the page that holds two folders against each other; no module has it
)
_LINK: Final = '<p><a href="{}{}">what XLA decided otherwise in {}</a></p>'
_STYLE: Final = (
    "body{font:14px/1.5 system-ui,sans-serif;margin:24px;color:#1c1c1c;background:#fff}"
    "table{border-collapse:collapse}td,th{padding:2px 12px 2px "
    "0;text-align:left}td.n{text-align:right}"
    "@media(prefers-color-scheme:dark){body{background:#161616;color:#e6e6e6}a{color:#8ab4f8}}"
)


def _number(key: str) -> str:
    """Return the number that distinguishes modules of one name: of the dump, or of the profile."""
    kind, number, *_ = key.split("-")
    return f"module {number}" if kind == "dump" else f"program {number}" if number else ""


def list_page(found: RecordedModules, prefix: str = "", against: str = "") -> str:
    """Return the modules by time as HTML, each a link below `prefix`.

    against: name of the other folder of a comparison.
    """
    counts = Counter([row.name for row in found.rows])
    rows = "".join([
        '<tr><td><a '
        f'href="{prefix}{quote(row.key, safe="")}">{escape(row.name or "(device work without a module)")}</a>'
        f'{f" <small>{escape(_number(row.key))}</small>" if counts[row.name] > 1 else ""}</td>'
        f'<td class="n">{microseconds(row.time_us) if row.time_us is not None else ""}</td>'
        f'<td class="n">{row.runs or ""}</td><td class="n">{row.passes or ""}</td></tr>'
        for row in found.rows[:_MOST_ROWS]
    ])  # fmt: skip
    more = (
        f"<p>{len(found.rows) - _MOST_ROWS} more are not listed.</p>"
        if len(found.rows) > _MOST_ROWS
        else ""
    )
    title = escape(cut_paths(found.headline()))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        "'unsafe-inline'\">"
        f"<title>{title} · "
        f"xla_explorer</title><style>{_STYLE}</style></head><body><main><h1>{title}</h1><p>Compiled "
        "by XLA. "
        "Device time is as the profile recorded it; a module without a time was not recorded.</p>"
        f"{_LINK.format(prefix, _AGAINST, escape(cut_paths(against))) if against else ''}"
        "<table><thead><tr><th>module</th><th>device time</th><th>runs</th><th>HLO "
        f"texts</th></tr></thead><tbody>{rows}</tbody></table>"
        f"{more}</main></body></html>\n"
    )


def difference_page(found: RecordedModules, against: RecordedModules) -> str:
    """Return a comparison of the longest module with that of its name in another folder.

    Without one of its name, it is compared with the longest there.
    """
    row = found.rows[0]
    other = next((one for one in against.rows if one.name == row.name), against.rows[0])
    report = differences(found.session(row.key), against.session(other.key), machine_limits())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        "'unsafe-inline'\">"
        f"<title>{escape(row.name)} · compiled by XLA, twice · "
        f"xla_explorer</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{escape(row.name)} · compiled by XLA, twice</h1>{cut_paths(report.to_html())}</main></body></html>\n"
    )


class PageServer(ThreadingHTTPServer):
    """Serves the pages of a folder below a token. address: where to look."""

    daemon_threads = True

    def __init__(
        self, found: RecordedModules, port: int = 0, against: RecordedModules | None = None
    ) -> None:
        super().__init__((_HOST, port), _Handler)
        self.against = against
        self.found, self.token = found, secrets.token_urlsafe(16)
        self._lock = threading.Lock()
        self._page = cache(self._made)

    @property
    def address(self) -> str:
        """The list of modules."""
        return f"http://{_HOST}:{self.server_port}/{self.token}/"

    def _made(self, key: str) -> str:
        if not key:
            return list_page(
                self.found, against=self.against.name if self.against is not None else ""
            )
        if key == _AGAINST and self.against is not None:
            return difference_page(self.found, self.against)
        return export_page(SessionSource(self.found.session(key)))

    def page(self, key: str) -> str:
        """Return the page of a module; pages are made one at a time."""
        with self._lock:
            return self._page(key)


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        """Answer with the list or a module's page, and with 404 for anything else."""
        parts = self.path.partition("?")[0].split(
            "/"
        )  # `GET foo`, which HTTP does not allow, has one
        token, rest = (parts[1], parts[2:]) if len(parts) > 1 else ("", [])
        own = f"{_HOST}:{self.server.server_port}"
        if (
            self.headers.get("Host") != own
            or not hmac.compare_digest(token.encode(), self.server.token.encode())
            or len(rest) != 1
        ):
            self._answer(404, "not found")
            return
        try:
            self._answer(200, self.server.page(unquote(rest[0])))
        except XlaExplorerError as problem:
            self._answer(
                404,
                "<!doctype "
                f"html><title>xla_explorer</title><p>{escape(cut_paths(str(problem)))}</p>",
            )

    def _answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(body))), ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
        ):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the address contains the token."""

    def version_string(self) -> str:
        """Return the name of the product, without versions."""
        return "xla_explorer"


def open_folder(
    path: str, save: str | None, port: int, *, browser: bool, against: str | None = None
) -> int:
    """Serve the folder until Ctrl-C, or write one page; return the exit code.

    The page is that of the longest module, or its comparison with another folder's.
    """
    found = RecordedModules(path)
    other = RecordedModules(against) if against is not None else None
    if save is not None:
        text = (
            export_page(SessionSource(found.session(found.rows[0].key)))
            if other is None
            else difference_page(found, other)
        )
        write_file(save, text)
        say(f"written: {Path(save)}: {found.rows[0].name}")
        return 0
    with PageServer(found, port, other) as server:
        print(
            f"{found.headline()}\n{server.address}\n(this machine only; Ctrl-C ends it)", flush=True
        )
        with ExitStack() as stack:
            if browser:
                webbrowser.open(stack.enter_context(_redirecting_file(server.address)))
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                return 0
    return 0


@contextmanager
def _redirecting_file(address: str) -> Iterator[str]:
    """Yield the address of a file that leads to another address, readable by this user only.

    Every user of the machine can see a browser's command line, so it must not contain the token.
    """
    with TemporaryDirectory(prefix="xla-explorer-") as folder:  # mode 0700
        file = Path(folder) / "open.html"
        target = escape(address)
        file.write_text(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={target}"><a '
            f'href="{target}">xla_explorer</a>'
        )
        yield file.as_uri()

"""Finished rows on disk, a JSON line each: what makes a killed sweep resumable."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class RowStore:
    """Appends rows as they come; `rows` by key are those of earlier runs. A line torn by a kill is dropped, and so is what is no
    row: without a status it says nothing."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: dict[str, dict[str, Any]] = {}
        if path is None or not path.exists():
            return
        whole = path.read_bytes()
        for line in whole.splitlines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict) and all(isinstance(row.get(name), str) for name in ("key", "status", "module", "option")):
                self.rows[row["key"]] = row
        if whole and not whole.endswith(b"\n"):
            with open(path, "ab") as file:
                file.write(b"\n")

    def add(self, row: dict[str, Any]) -> None:
        """Keep a row; it is on disk when this returns."""
        self.rows[row["key"]] = row
        if self.path is not None:
            with open(self.path, "a") as file:
                file.write(json.dumps(row) + "\n")
                file.flush()
                os.fsync(file.fileno())

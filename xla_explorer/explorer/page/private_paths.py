"""Paths of somebody's machine, taken out of what leaves it: of an absolute path only the name of the file stays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_SEGMENT = r"[^\s\"'<>:/\\,;=(){}\[\]*|&]"
# A path that stands free in a text. Not after a name, a closing bracket or `<`:
# `jit(f)/jit(main)/add` and `</b>` are none.
_FREE = re.compile(rf"(?<![\w)\]}}./*<:\\-])(?:file://)?/(?:{_SEGMENT}+/)+(?={_SEGMENT})")
_WINDOWS = re.compile(
    rf"(?<![\w)\]}}])[A-Za-z]:[\\/]{{1,2}}(?:(?:{_SEGMENT}| )+[\\/]{{1,2}})+(?={_SEGMENT})"
)
# Between quotes a path may hold anything.
_QUOTED = re.compile(r'(?<=")/(?:[^"\n\\/]|\\.)+/(?:(?:[^"\n\\/]|\\.)*/)*(?=[^"\n/]+")')
_ESCAPED = re.compile(
    r"(?<=&quot;)/(?:(?!&quot;)[^\n/])+/(?:(?:(?!&quot;)[^\n/])*/)*(?=(?:(?!&quot;)[^\n/])+&quot;)"
)
# Shares of a network, also of WSL, with backslashes as they are or as a string literal has them; a
# way up from a working folder, or from home; places in stores (gs://, s3://, file://host); who logs
# in where.
_SHARE = re.compile(rf"(?<![\w\\])\\{{2,}}(?:(?:{_SEGMENT}| )+[\\/]+)+(?={_SEGMENT})")
_UPWARDS = re.compile(
    rf"(?<![\w)\]}}./])(?:\.\.[\\/]{{1,2}}|~[\w.-]*/)(?:\.\.[\\/]{{1,2}}|{_SEGMENT}+[\\/]{{1,2}})*(?={_SEGMENT})"
)
_STORE = re.compile(rf"\b(?!https?:)[A-Za-z][A-Za-z0-9+.-]*://(?:[^\s\"'<>/]*/)+(?={_SEGMENT})")
_LOGIN = re.compile(r"(?<=://)[^\s\"'<>/@]+@")
_ROOT = re.compile(rf"/{_SEGMENT}+")
_PLACE = re.compile(
    rf"(?<![\w)\]}}./])(?:{_SEGMENT}+[/\\])+(?={_SEGMENT}+\.\w+:\d)"
)  # before `file.py:12`
_WHOLE = re.compile(r"(?:file://)?/[^\n\"/<>]+/(?:[^\n\"/<>]*/)*(?=[^\n\"/<>]+\Z)")


def without_paths(text: str) -> str:
    """`text` with absolute paths cut to the names of their files: `/home/me/model.py:12` becomes `model.py:12`."""
    if "/" not in text and "\\" not in text:
        return text
    if "/" not in text.replace("/*", "").replace("*/", "").replace(" // ", "") and "\\" not in text:
        return text  # the comments of HLO: /*index=5*/, the quotients of loop nests: i // 128
    text = _STORE.sub("", _LOGIN.sub("", text))
    if text.startswith(("/", "file:")) and not text.startswith("//"):
        text = _WHOLE.sub("", text, count=1)
        if _ROOT.fullmatch(text):
            return text[1:]
    for pattern in (_WINDOWS, _SHARE, _UPWARDS, _QUOTED, _ESCAPED, _FREE):
        text = pattern.sub("", text)
    return text


def without_folders(text: str) -> str:
    """The same, and of a line of a source file also the folders that lead to it from anywhere: `models/gpt.py:38` becomes `gpt.py:38`."""
    return _PLACE.sub("", without_paths(text))


def data_without_folders(data: Any) -> Any:
    """`without_folders` of every string in nested lists, tuples and dicts; keys stay."""
    return _mapped(data, without_folders)


def data_without_paths(data: Any) -> Any:
    """`without_paths` of every string in nested lists, tuples and dicts; keys stay."""
    return _mapped(data, without_paths)


def _mapped(data: Any, cut: Callable[[str], str]) -> Any:
    if isinstance(data, str):
        return cut(data) if "/" in data or "\\" in data else data
    if isinstance(data, dict):
        return {key: _mapped(value, cut) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [
            value
            if (kind := type(value)) is int
            or (kind is str and "/" not in value and "\\" not in value)
            else _mapped(value, cut)
            for value in data
        ]
    return data

"""The pages of the public names, from their docstrings by numpydoc.

`tests.api.public_api` lists the names.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

from numpydoc.docscrape_sphinx import SphinxDocString

import xla_explorer as xe
from notebooks.book.member_examples import EXAMPLES, FIRST
from tests.api.public_api import classes, names

# group -> (title, description); a name belongs to the longest group that is its prefix
GROUPS = {
    "xe": ("xe: the calls", "The calls of the package: `import xla_explorer as xe`."),
    "xe.compare": ("xe.compare", "Comparison of two programs, compilations or backends."),
    "xe.hlo": (
        "xe.hlo",
        "The language HLO: control flow for traced functions, several devices, printing.",
    ),
    "xe.charts": ("xe.charts", "Charts with altair (extra `charts`)."),
    "xe.xla": (
        "xe.xla: real XLA",
        "Passes, times and memory of real XLA for a program (extra `jax`).",
    ),
    "xe.errors": (
        "xe.errors",
        "Every error that the public calls document. All are `XlaExplorerError`.",
    ),
    "Session": ("Session", "The result of `xe.compile`."),
    "session.llvm": ("session.llvm", "Passes, remarks and times of LLVM."),
    "session.passes": ("session.passes", "The passes of a compilation."),
    "session.passes[k]": ("session.passes[k]", "One pass."),
    "trace": ("trace", "The result of `xe.optimize`: passes without a backend."),
}
OWN_PAGES = (
    "xe",
    "xe.compare",
    "xe.hlo",
    "xe.charts",
    "xe.xla",
)  # groups of calls; the members of the others share a page


def file_name(name: str) -> str:
    """Return the file name of a page; brackets are replaced."""
    return name.replace("[k]", "-step")


def group_of(name: str) -> str:
    """Return the group of a name: `xe.compare` for `xe.compare.fusions`."""
    return name.rsplit(".", 1)[0]


def name_pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    pages, members = dict[str, str](), dict[str, list[str]]()
    for name, thing in names():
        group = group_of(name)
        if group in OWN_PAGES and name not in GROUPS:
            members.setdefault(group, []).append(f"{file_name(group)}/{name}")
            pages[f"{file_name(group)}/{name}.rst"] = f"{_heading(name, '=')}\n{entry(name, thing)}"
        elif name not in GROUPS:
            members.setdefault(group, []).append(entry(name, thing))
    for group, (title, what) in GROUPS.items():
        own = classes().get(group) or {"xe.compare": xe.compare}.get(group)
        text = [_heading(title, "="), what, ""]
        if own is not None and group != "Session":
            text += [_documentation(own), ""]
        if group in OWN_PAGES:
            text += [
                ".. toctree::",
                "   :maxdepth: 1",
                "",
                *[f"   {page}" for page in members[group]],
                "",
            ]
        else:
            text += ["The examples of this page come after", "", *_code(FIRST), *members[group]]
        pages[f"{file_name(group)}.rst"] = "\n".join(text)
    return pages


def entry(name: str, thing: Any) -> str:
    """Return the description of a name in reStructuredText."""
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
    elif callable(thing) and not isinstance(thing, property):
        kind = "function"
    else:
        kind = "data"
    described, within = (name.rsplit(".", 1)[-1], group_of(name)) if "[" in name else (name, "")
    lines = [f".. py:{kind}:: {described}{signature(thing)}"]
    lines += (
        [f"   :module: {within}", ""] if within else [""]
    )  # a name with a bracket would have no anchor
    lines.append(textwrap.indent(_documentation(thing), "   "))
    if name in EXAMPLES:
        code = (
            f"{FIRST}\n{EXAMPLES[name]}"
            if group_of(name) in OWN_PAGES and "session" in EXAMPLES[name]
            else EXAMPLES[name]
        )
        raised = kind == "exception"
        lines += ["", "   It is raised by:" if raised else "   Example:", "", *_code(code, "   ")]
    return "\n".join(lines) + "\n\n"


def _code(text: str, indentation: str = "") -> list[str]:
    return [
        f"{indentation}.. code-block:: python",
        "",
        textwrap.indent(text, f"{indentation}   "),
        "",
    ]


def signature(thing: Any) -> str:
    """Return the parameters, without the quotes of annotations; empty if not callable."""
    if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, BaseException)):
        return ""
    text = str(inspect.signature(thing))
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)


def documentation_of(thing: Any) -> str:
    """Return the docstring; empty for slots, which have none of their own."""
    return inspect.getdoc(thing) or "" if not inspect.ismemberdescriptor(thing) else ""


def _documentation(thing: Any) -> str:
    text = "\n".join(_for_sphinx(documentation_of(thing).splitlines()))
    return str(
        SphinxDocString(text, config={"show_class_members": False, "xref_param_type": False})
    ).strip()


def _for_sphinx(lines: list[str]) -> list[str]:
    """Escape `*`, `|` and a final `_` outside of examples and headings of parameters."""
    found, examples, code = list[str](), False, False
    for line in lines:
        if line in (
            "Examples",
            "Parameters",
            "Returns",
            "Raises",
            "Notes",
            "Attributes",
            "See Also",
        ):
            examples = line == "Examples"
        code = code and (line.startswith("    ") or not line.strip())
        code = code or (
            line.startswith("    ") and bool(found) and found[-1].rstrip().endswith("::")
        )
        plain = examples or code or re.match(r"\*{0,2}\w+( : .*)?$", line)
        found.append(line if plain else _escaped(line))
    return found


def _escaped(line: str) -> str:
    parts = re.split(r"(``.*?``|`[^`]*`)", line)
    parts[::2] = [re.sub(r"([*|]|_(?!\w))", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def _heading(title: str, mark: str) -> str:
    return f"{title}\n{mark * len(title)}\n"

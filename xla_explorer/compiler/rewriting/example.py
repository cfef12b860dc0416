"""Shorthands for the before and after pictures of rules as HLO text."""

from __future__ import annotations


def parameters(shape: str, *names: str, start: int = 0) -> str:
    """Return a parameter line per name, all of one shape, numbered from `start`."""
    return "".join(
        [f"{name} = {shape} parameter({start + number})\n" for number, name in enumerate(names)]
    )


def filled(name: str, shape: str, value: str | float) -> str:
    """Return a scalar constant `name_value` and its broadcast `name` to the shape."""
    text = str(value).lower()
    element_type = shape.partition("[")[0]
    return f"{name}_value = {element_type}[] constant({text})\n{name} = {shape} broadcast({name}_value), dimensions={{}}\n"


def scalar_constant_text(name: str, element_type: str, value: str | float) -> str:
    """Return the text of a scalar constant."""
    return f"{name} = {element_type}[] constant({str(value).lower()})\n"


def example_module(body: str) -> str:
    """Return the module text around the instructions of an entry computation.

    A body with further computations separates them by a line `---`: the last part is the entry.
    """
    *others, entry = body.split("---\n")
    return (
        "HloModule example\n\n"
        + "".join([part + "\n" for part in others])
        + "ENTRY example {\n"
        + entry.rstrip("\n")
        + "\n}\n"
    )

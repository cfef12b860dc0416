"""The form of a program whose arguments are donated to results of the same shape."""

from __future__ import annotations

from xla_explorer.explorer.advice.slow_forms import undonated_arguments
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.module_header import parse_input_output_alias


def donated(module: HloModule) -> HloModule | None:
    """Donate each argument that a result of the same shape could overwrite."""
    before = str(module.attributes.get("input_output_alias") or "{}")
    taken = {tuple(one.output_index) for one in parse_input_output_alias(before)}
    results = [(tuple(index), leaf) for index, leaf in module.entry.root.shape.leaves()]
    pairs = []
    for parameter in undonated_arguments(module):
        found = next(
            (index for index, leaf in results if leaf == parameter.shape and index not in taken),
            None,
        )
        if found is not None:
            taken.add(found)
            place = ", ".join(map(str, found))
            pairs.append(f"{{{place}}}: ({parameter.parameter_number}, {{}}, may-alias)")
    if not pairs:
        return None
    kept = before.strip()[1:-1].strip()
    copy = module.clone()
    copy.attributes["input_output_alias"] = "{ " + ", ".join(filter(None, [kept, *pairs])) + " }"
    return copy

"""Targets as the dictionaries of facts that they were: read for one release, with a warning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from xla_explorer.compiler.target.target import AMDGPU, NVPTX, UNSTATED, Kind, Target, cpu_target
from xla_explorer.compiler.target.units import GpuUnit, Launch, Link, Memory, ProductRates, Source
from xla_explorer.foundation.renamed import warn_renamed

_GPU = ("multiprocessors", "threads_per_multiprocessor", "lanes", "double_rate", "clock_gigahertz", "dram_bytes_per_nanosecond", "l2_bytes",
        "l1_bytes", "l2_rate", "l1_rate", "warp_size", "library_share")  # fmt: skip
_RATES = ("library_rates", "own_rates")


def as_target(given: Target | Mapping[str, Any] | None) -> Target:
    """What was given as a target. A dictionary of facts is read, and deprecated; nothing is a CPU of which nothing is known."""
    if given is None:
        return UNSTATED
    if isinstance(given, Target):
        return given
    warn_renamed("target={...}", "target=xla_explorer.plugin.Target(...)")
    return _of_facts(given)


def _of_facts(facts: Mapping[str, Any]) -> Target:
    name, stated = (
        str(facts.get("backend", "unstated")),
        {key: facts[key] for key in _GPU if key in facts},
    )
    if stated or name == "gpu":
        stated |= {key: ProductRates(**facts[key]) for key in _RATES if key in facts}
        made = replace(NVPTX, name=name, gpu=GpuUnit().stating(Source.ASKED, **stated))
    elif name in (UNSTATED.name, "cpu"):
        bits, fma = (
            int(facts.get("vector_register_bits", 0)),
            bool(facts.get("fused_multiply_add", False)),
        )
        made = cpu_target(
            name,
            triple=str(facts.get("triple", "")),
            bits=bits,
            fma=fma,
            features=frozenset(facts.get("features", ())),
        )
    else:
        made = Target(name=name, kind=Kind.OTHER, vector=UNSTATED.vector)
    made = replace(
        made, launch=_renamed(made.launch, facts, nanoseconds="launch_nanoseconds"),
        memory=_renamed(made.memory, facts, nanoseconds_per_byte="memory_nanoseconds_per_byte"),
        links=(_renamed(made.links[0], facts, nanoseconds="interconnect_nanoseconds",
                        bytes_per_nanosecond="interconnect_bytes_per_nanosecond"),),
    )  # fmt: skip
    abilities = replace(
        made.abilities, libraries=dict(facts.get("libraries", made.abilities.libraries)), tf32=bool(facts.get("tf32", True)),
        product_epilogues=bool(facts.get("product_epilogues")), products=facts.get("own_products"),
        takes_arguments=bool(facts.get("donate")),
    )  # fmt: skip
    return replace(made, abilities=abilities)


_U = TypeVar("_U", Launch, Link, Memory)


def _renamed(unit: _U, facts: Mapping[str, Any], **names: str) -> _U:
    return unit.stating(
        Source.ASKED, **{name: float(facts[old]) for name, old in names.items() if old in facts}
    )


def old_facts(target: Target) -> dict[str, Any]:
    """A target by the names that its facts had."""
    facts: dict[str, Any] = {
        "backend": target.name, "triple": target.triple, "vector_register_bits": target.vector.bits,
        "fused_multiply_add": target.vector.fma, "features": target.features, "donate": target.abilities.takes_arguments,
    }  # fmt: skip
    if target.gpu is not None:
        gpu = target.gpu
        facts |= {name: getattr(gpu, name) for name in _GPU} | {
            name: getattr(gpu, name)._asdict() for name in _RATES
        }
        facts |= {
            "libraries": target.abilities.libraries,
            "tf32": target.abilities.tf32,
            "own_products": target.abilities.products,
        }
    return facts


def codegen_target(
    kind: str, pointer: str, triple: str, vector_bits: int = 0, fused_multiply_add: bool = True, libraries: bool = True,
    pointer_bits: int = 64, features: frozenset[str] = frozenset(),
) -> Target:  # fmt: skip
    """What `compiler.codegen.target.CodegenTarget` was."""
    warn_renamed("CodegenTarget(...)", "xla_explorer.plugin.Target(...)")
    if kind == Kind.GPU.value:
        return replace(AMDGPU, name=kind, triple=triple)
    made = cpu_target(
        triple=triple,
        bits=vector_bits,
        fma=fused_multiply_add,
        features=features,
        libraries=libraries,
    )
    return replace(made, cores=replace(made.cores, pointer_bits=pointer_bits))

"""A module of any size, for what must hold of large ones."""

from __future__ import annotations

import random


def dag_text(count: int, seed: int = 7) -> str:
    """Return a module of about `count` instructions, a random graph over 64 values at a time.

    It has elementwise operations, products and broadcasts. Repeated parts and additions of zero are
    there for the passes to find.
    """
    rng, lines, alive = random.Random(seed), [], []
    for k in range(16):
        lines.append(f"  p{k} = f32[16,16] parameter({k})")
        alive.append(f"p{k}")
    lines.append("  zero = f32[] constant(0)\n  zeros = f32[16,16] broadcast(zero), dimensions={}")
    for k in range(count - 18):
        a, b = rng.choice(alive[-64:]), rng.choice(alive[-64:])
        form = rng.random()
        if form < 0.04:
            body = f"add({a}, zeros)"
        elif form < 0.1:
            body = f"dot({a}, {b}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        elif form < 0.25:
            body = f"{rng.choice(['tanh', 'negate', 'abs'])}({a})"
        else:
            body = f"{rng.choice(['add', 'multiply', 'subtract', 'maximum'])}({a}, {b})"
        lines.append(f"  v{k} = f32[16,16] {body}")
        alive.append(f"v{k}")
    tail = alive[-16:]
    lines.append(f"  ROOT out = ({', '.join(['f32[16,16]'] * len(tail))}) tuple({', '.join(tail)})")
    return "HloModule dag\nENTRY main {\n" + "\n".join(lines) + "\n}\n"

"""Kernels of earlier programs: the same code, with ids and names of the program at hand."""

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.cpu import cpu_compiler
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.compiler.codegen.dispatch import write_kernel
from xla_explorer.compiler.codegen.kernel_store import KernelStore, kernel_of_program
from xla_explorer.hlo.text import parse_hlo

PROGRAM = """HloModule {module}
ENTRY main {{
  {x} = f32[300,40] parameter(0)
  {y} = f32[300,40] parameter(1)
  c = f32[] constant({c})
  b = f32[300,40] broadcast(c), dimensions={{}}
  {s} = f32[300,40] multiply({x}, b)
  ROOT r = f32[300,40] subtract({s}, {y})
}}
"""
SORT = """HloModule m
less { p = f32[] parameter(0) q = f32[] parameter(1) ROOT l = pred[] compare(p, q), direction=LT }
ENTRY e {
  z = f32[] constant(1)
  a = f32[64] parameter(0)
  ROOT r = f32[64] sort(a), dimensions={0}, to_apply=less
}
"""
FIRST = PROGRAM.format(module="first", x="x", y="y", s="s", c=3)
RENAMED = PROGRAM.format(module="renamed", x="left", y="right", s="scaled", c=3)
OTHER = PROGRAM.format(module="other", x="x", y="y", s="s", c=4)


class CountingStore(KernelStore):
    """Counts the kernels that were written for it."""

    written = 0

    def put(self, *row):
        super().put(*row)
        self.written += 1


@pytest.fixture
def store(monkeypatch, tmp_path):
    """Return the store of this test's programs, whose objects are its own too."""
    found = CountingStore()
    cache = ObjectCache(tmp_path)
    monkeypatch.setattr(cpu_compiler, "KERNELS", found)
    monkeypatch.setattr(cpu_compiler, "default_object_cache", lambda: cache)
    return found


def values():
    return [np.arange(12000, dtype=np.float32).reshape(300, 40) % m for m in (7, 11)]


def key_of(text):
    entry = parse_hlo(text).entry
    found = kernel_of_program(entry.root.operands[0])
    return found and found.key


def test_keys_ignore_names_and_read_literals_and_shapes():
    assert key_of(FIRST) == key_of(RENAMED)
    wide = FIRST.replace("300,40", "300,48")
    assert len({key_of(FIRST), key_of(wide), key_of(FIRST.replace("multiply", "add"))}) == 3
    literals = [
        f"HloModule m\nENTRY e {{ a = f32[2] parameter(0) c = f32[2] constant({{{c}, 1}}) "
        "ROOT r = f32[2] add(a, c) }"
        for c in (1, 2)
    ]
    one, two = (kernel_of_program(parse_hlo(text).entry.root) for text in literals)
    assert one is not None and two is not None and one.key != two.key


def test_a_kernel_has_the_ids_of_its_program():
    store = KernelStore()
    target = described_cpu()
    found = []
    later = RENAMED.replace("{\n  left", "{\n  z = f32[] parameter(2)\n  left")  # with other ids
    for text in (FIRST, later):
        i = xe.compile(text, backend="cpu", cache=False).module.entry.root
        known = kernel_of_program(i)
        assert known is not None
        made = store.get(known.key, known.members)
        if made is None:
            made = write_kernel(i, target)
            store.put(known.key, known.members, made)
        found.append((made, {x.id for x in known.members}))
    (first, its), (second, theirs) = found
    assert first.body == second.body and first.body is not second.body
    assert {r.origin for r in first.body} <= its | {None}
    assert {r.origin for r in second.body} <= theirs | {None}
    assert its != theirs


def test_reasons_name_instructions_of_their_program():
    store, found = KernelStore(), []
    for text in (SORT, SORT, SORT.replace("r =", "sorted =")):
        i = parse_hlo(text).entry.root
        known = kernel_of_program(i)
        assert known is not None
        made = store.get(known.key, known.members)
        found.append(made is not None)
        if made is None:
            made = write_kernel(i, described_cpu())
            store.put(known.key, known.members, made)
        assert f"%{i.name}" in made.nest.message
    assert found == [False, True, False]


def test_the_least_recently_used_kernels_are_dropped():
    i = parse_hlo(FIRST).entry.root
    made = write_kernel(i, described_cpu())
    lines = len(made.body)
    store = KernelStore(most_lines=2 * lines)
    for key in "ab":
        store.put(key, [i], made)
    assert store.get("a", [i]) is not None
    store.put("c", [i], made)
    assert [store.get(key, [i]) is not None for key in "abc"] == [True, False, True]
    assert store.lines == 2 * lines


def test_large_literals_are_no_keys():
    numbers = ", ".join(["1"] * 5000)
    text = f"HloModule m\nENTRY e {{ ROOT c = f32[5000] constant({{{numbers}}}) }}"
    assert kernel_of_program(parse_hlo(text).entry.root) is None


def test_a_second_program_writes_only_its_own_kernels(store):
    x, y = values()
    sessions = [xe.compile(text, backend="cpu", threads=1) for text in (FIRST, RENAMED, OTHER)]
    assert store.written == 2  # `RENAMED` has the kernel of `FIRST`
    for session, c in zip(sessions, (3, 3, 4), strict=True):
        np.testing.assert_array_equal(session(x, y), x * c - y)
    alone = xe.compile(RENAMED, backend="cpu", threads=1, cache=False)
    assert str(sessions[1].llvm_ir(False)) == str(alone.llvm_ir(False))
    assert sessions[1].decisions("loop-nest").reason[0] == alone.decisions("loop-nest").reason[0]


def test_programs_without_cache_use_no_kernel_of_others(store):
    for _ in range(2):
        xe.compile(FIRST, backend="cpu", threads=1, cache=False)
    assert not store.written


def test_contraction_is_part_of_the_key(store):
    for contraction in (True, False):
        xe.compile(FIRST, backend="cpu", threads=1, contraction=contraction)
    assert store.written == 2

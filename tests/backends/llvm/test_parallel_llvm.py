"""LLVM's strength reduction follows each compile's options, also in concurrent threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

from xla_explorer.backends.llvm.llvm_compiler import OptimizationOptions, optimize_and_emit
from xla_explorer.backends.llvm.parallel_llvm import _Emitters
from xla_explorer.backends.llvm.target_machine import TargetDescription, describe_target

LOOP = """
define void @f(ptr noalias %a, ptr noalias %b) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = mul nuw nsw i64 %i, 24
  %at = getelementptr inbounds float, ptr %a, i64 %place
  %x = load float, ptr %at
  %to = getelementptr inbounds float, ptr %b, i64 %i
  store float %x, ptr %to
  %next = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %next, 1000
  br i1 %again, label %loop, label %end
end:
  ret void
}
"""


def _code(strength_reduction: bool) -> bytes:
    options = OptimizationOptions(
        level=1,
        loop_vectorization=False,
        slp_vectorization=False,
        strength_reduction=strength_reduction,
    )
    return optimize_and_emit(
        LOOP, describe_target("x86_64-unknown-linux-gnu"), options=options
    ).object_bytes


def test_the_option_decides_and_leaves_nothing_behind() -> None:
    reduced, plain = _code(True), _code(False)
    assert reduced != plain
    assert _code(True) == reduced and _code(False) == plain


def test_threads_with_both_settings_get_the_code_of_theirs() -> None:
    expected = {wanted: _code(wanted) for wanted in (True, False)}
    wanted = [True, False, False, True, True, False] * 3
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(_code, wanted)) == [expected[w] for w in wanted]


def test_who_wants_the_other_setting_waits() -> None:
    emitters, order = _Emitters(), list[str]()

    def other() -> None:
        with emitters.emitting(True):
            order.append("other")

    with emitters.emitting(False), emitters.emitting(False):
        waiting = threading.Thread(target=other)
        waiting.start()
        waiting.join(0.02)
        order.append("first")
    waiting.join()
    assert order == ["first", "other"]


def test_only_machines_with_addresses_of_three_parts_go_without() -> None:
    options = OptimizationOptions()
    assert [
        options.reduces_strength(TargetDescription(f"{name}-unknown-linux-gnu"))
        for name in ("x86_64", "aarch64")
    ] == [False, True]

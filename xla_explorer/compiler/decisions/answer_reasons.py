"""Codes of any decision: the overrides of the user, and answers that no event recorded."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import table

USER = table(
    {
        "forbidden-by-user": (
            "an override forbids the decision; for a fusion: the two must be in different kernels",
            "the user forbids a fusion of %a and %b",
            "leave it out of forbid=",
        ),
        "forced-by-user": (
            "an override forces an answer that would not have been chosen",
            "our tile of 8x32 accumulators computes %dot without a call, in about 900 cycles",
            "leave it out of force=",
        ),
        "skipped-by-user": (
            "an override skips every decision of this kind",
            "the user skips every inlining",
            "leave the kind out of skip_rules=",
        ),
        "stopped-by-user": (
            "an override stops the passes after this number of actions",
            "the user stops after 12 actions",
            "stop later: stop_after=",
        ),
        "scheduled-by-user": (
            "the user gave the schedule of the kernel's loop nest",
            "the user schedules %fusion: split{j,16},vectorize{ji}",
            "leave the kernel out of schedules=",
        ),
    }
)

ANSWERS = table(
    {
        "never-decided": (
            "no decision of this kind about these instructions was recorded",
            (
                "the pass fusion decided nothing of the kind fusion about %x; it decided about "
                "%a and %b"
            ),
            "name the instructions in the message, or another kind: session.decisions() lists them",
        ),
        "removed-before-fusion": (
            "an earlier pass removed or replaced the instruction",
            "%c (call) was removed before fusion, by call-inliner in pass 3; replaced by %add",
            "name its replacement; session.history(name) lists all steps",
        ),
        "removed-before-the-pass": (
            "an earlier pass removed or replaced the instruction",
            "%c (call) was removed before copy-insertion, by call-inliner in pass 3",
            "name its replacement; session.history(name) lists all steps",
        ),
        "created-after-the-pass": (
            "the instruction was created after the pass that decides",
            (
                "%fusion did not exist before copy-insertion, and no decision about %fusion was "
                "recorded"
            ),
            "name an instruction that existed: session.history(name) has its origin",
        ),
        "created-after-fusion": (
            "the instruction was created by fusion or later",
            (
                "%fusion did not exist before fusion, and no decision about %fusion into %d was "
                "recorded"
            ),
            "name the instructions inside the fusion",
        ),
    }
)

XLA_OVERRIDES = table(
    {
        "not-in-the-module": (
            "the module that XLA hands over has no instruction of this name",
            "jit_step has no instruction %exp.3; similar: %exp.2",
            "take names from the text that XLA prints: jax.jit(f).lower(x).compile().as_text()",
        ),
        "already-in-one-kernel": (
            "one kernel computes both, so that nothing is to fuse",
            "%mul.1 and %exp.1 are both computed by %fusion",
            "nothing to do: XLA fused them itself",
        ),
        "already-apart": (
            "two kernels compute them, so that nothing is to split",
            "%tanh.1 and %exp.1 are computed by two kernels",
            "nothing to do: XLA did not fuse them",
        ),
        "not-producer-and-consumer": (
            "the second does not read the first, so that they share no edge",
            "the kernel %exp_fusion does not read the result of %tanh.1",
            "name the producer first, and a kernel that reads it",
        ),
        "kernel-of-another-kind": (
            "XLA emits one of the kernels by special code, which is not a loop over elements",
            "XLA emits %ynn_fusion (kCustom) by special code, and its dot not by a loop",
            "turn that code off by its flag, such as --xla_cpu_experimental_ynn_fusion_type=",
        ),
        "several-results": (
            "one of the kernels has several results",
            "%fusion has several results",
            "fuse with the kernel that reads one of them",
        ),
        "opcode-not-fusible": (
            "XLA:CPU emits no loop for the operation of one of the kernels",
            "XLA:CPU emits no loop for %sort.1 (sort)",
            "leave this pair out",
        ),
        "has-control-edges": (
            "a control edge orders one of the kernels against others",
            "%fusion has control predecessors",
            "leave this pair out",
        ),
        "overwritten-in-place": (
            "one of the kernels updates an array in place, which the other one reads before",
            "%wrapped_scatter overwrites %copy.1 in place, which %mul_fusion must read before",
            "leave this pair out",
        ),
        "nothing-to-change": (
            "the rule or pipeline changes nothing in this module",
            "it changes nothing in jit_step",
            "try it first with xe.optimize on the module's text",
        ),
        "values-differ": (
            "the change would alter the values that the module computes",
            "it changes the values of jit_step: the largest relative error is 0.2",
            "check the claim of the rule, or the pass, with check_values=True",
        ),
        "not-scheduled": (
            "the computation has no schedule yet",
            "%region has no schedule",
            "name instructions of the entry computation",
        ),
        "in-several-computations": (
            "the instructions of the order do not stand in one computation",
            "the instructions are of several computations",
            "give the order of one computation",
        ),
        "order-against-operands": (
            "the order puts an instruction before its own operand",
            "%c depends on %a, so that it cannot come first",
            "keep operands before their readers",
        ),
        "undone-by-xla": (
            "XLA changed the kernels again before it scheduled the module",
            "when XLA scheduled the module, they were computed by %a and %b",
            "look at the passes that ran later: xe.xla.replay",
        ),
        "internal-error": (
            "an error in this package: XLA compiled its own module, unchanged",
            "XLA's module went on unchanged: KeyError('x')",
            "report the program; the compile was not affected",
        ),
    }
)

OVERRIDES = table(
    {
        "in-one-kernel": (
            (
                "the two are in one kernel although an override forbids it: the pass that fused "
                "them does not consult overrides"
            ),
            "a pass that does not consult overrides fused %a and %b",
            "leave the pass out: passes='default,-name'",
        ),
        "function-not-used": (
            (
                "the kernel does not use the function, or the function has no implementation of "
                "this level"
            ),
            "%fusion uses tanh (xla), and none of fast",
            'name a function that session.decisions("math") lists',
        ),
        "accepted-although-forbidden": (
            "the decision was accepted although an override forbids it",
            "inlining of %c was accepted: recorded in pass 3, call-inliner",
            "look at the source of the answer: the instruction may have another name in that pass",
        ),
        "fused-before": (
            (
                "real XLA, replayed: an earlier pass made one of the two as a fusion, which is "
                "fused with nothing"
            ),
            "%ynn_fusion was made before by dot-library-rewriter: nothing is fused with it",
            "look at the decisions of the pass that made it: xe.xla.replay(session, 'dot-library')",
        ),
        "xla-decides-otherwise": (
            (
                "real XLA, replayed: the replayed policy decides differently from XLA, so its "
                "reason is not XLA's"
            ),
            "unknown: our replay of XLA's policy gives fused",
            "look at xe.xla.replay(session, kind).disagreements()",
        ),
        "undone-later": (
            "the two were fused, and a later pass separated them or removed one",
            "%a went into the kernel of %b; a later pass undid that or removed one of them",
            "look at session.history(name)",
        ),
    }
)

REPLAYS = table(
    {
        "fused-before": (
            "an earlier pass made one of the two as a fusion, which is fused with nothing",
            "%ynn_fusion was made before by dot-library-rewriter: nothing is fused with it",
            "leave out the pass that made the fusion",
        ),
    }
)

COSTS = table(
    {
        "no-pair": (
            "the cost of a refusal is estimated only for two recorded instructions",
            "the decision is about one instruction, not a pair",
            "nothing to do: the decision is about one instruction",
        ),
        "tuple-or-token": (
            "the kernel decides which elements of a tuple stay in registers",
            (
                "%t has the shape (f32[8], f32[8]): which part stays in registers depends on its "
                "kernel"
            ),
            "read the elements of the tuple by get-tuple-element",
        ),
    }
)

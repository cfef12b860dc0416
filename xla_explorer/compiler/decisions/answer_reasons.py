"""Codes of any decision: the overrides of the user, and answers that no event recorded."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import table

USER = table(
    {
        "forbidden-by-user": (
            "the user forbids it; of a fusion: wants the two in different kernels",
            "the user forbids a fusion of %a and %b",
            "leave it out of forbid=",
        ),
        "forced-by-user": (
            "the user forces what would not have been chosen",
            "our tile of 8x32 accumulators is estimated at 900 cycles, BLAS at 1400",
            "leave it out of force=",
        ),
        "skipped-by-user": (
            "the user skips every decision of this kind",
            "the user skips every inlining",
            "leave the kind out of skip_rules=",
        ),
        "stopped-by-user": (
            "the user stops after so many actions, and there were as many before",
            "the user stops after 12 actions",
            "stop later: stop_after=",
        ),
        "scheduled-by-user": (
            "the user writes the schedule of the kernel's loop nest",
            "the user schedules %fusion: split{j,16},vectorize{ji}",
            "leave the kernel out of schedules=",
        ),
    }
)

ANSWERS = table(
    {
        "never-decided": (
            "nothing of the kind was decided about these instructions",
            "the pass fusion decided nothing of the kind fusion about %x; it decided about %a and %b",
            "ask about the instructions that the message names, or another kind: session.decisions() lists them",
        ),
        "gone-before-fusion": (
            "the instruction was removed or replaced before fusion came",
            "%c (call) was gone before fusion: call-inliner removed it in pass 3, in its place came %add",
            "ask about the instruction in its place; session.history(name) has the whole way",
        ),
        "gone-before-the-pass": (
            "the instruction was removed or replaced before the pass came",
            "%c (call) was gone before copy-insertion: call-inliner removed it in pass 3",
            "ask about the instruction in its place; session.history(name) has the whole way",
        ),
        "not-there-before-the-pass": (
            "the instruction was made after the pass that decides",
            "%fusion was not there before copy-insertion and no decision about %fusion was recorded",
            "name an instruction that was there: session.history(name) says where it came from",
        ),
        "not-there-before-fusion": (
            "the instruction was made after fusion",
            "%fusion was not there before fusion and no decision about %fusion into %d was recorded",
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
            "XLA emits %ynn_fusion (kCustom) by special code, not by a loop",
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
            "both are in one kernel although the user forbids that: a pass put them there that does not consult overrides",
            "a pass that does not consult overrides fused %a and %b",
            "leave the pass out: passes='default,-name'",
        ),
        "function-not-used": (
            "the kernel does not use the function, or the level has none of its own for it",
            "%fusion uses tanh (xla), and none of fast",
            'name a function that session.decisions("math") lists',
        ),
        "done-all-the-same": (
            "it was accepted although the user forbids it",
            "inlining of %c was accepted: recorded in pass 3, call-inliner",
            "look at the source of the answer: the instruction may have another name in that pass",
        ),
        "fused-before": (
            "real XLA, replayed: one of the two is a fusion that an earlier pass made, with which nothing is fused",
            "%ynn_fusion was made before by dot-library-rewriter: nothing is fused with it",
            "look at the decisions of the pass that made it: xe.xla.replay(session, 'dot-library')",
        ),
        "xla-decides-otherwise": (
            "real XLA, replayed: our policy decides otherwise than XLA did, so that its reason is not XLA's",
            "unknown: our replay of XLA's policy gives fused",
            "look at xe.xla.replay(session, kind).disagreements()",
        ),
        "undone-later": (
            "the two were fused, and a later pass undid that or removed one of them",
            "%a went into the kernel of %b; a later pass undid that or removed one of them",
            "look at session.history(name)",
        ),
    }
)

REPLAYS = table(
    {
        "fused-before": (
            "one of the two is a fusion that an earlier pass made, and nothing is fused with it",
            "%ynn_fusion was made before by dot-library-rewriter: nothing is fused with it",
            "leave out the pass that made the fusion",
        ),
    }
)

COSTS = table(
    {
        "no-pair": (
            "a refusal costs something only where it is about two recorded instructions",
            "the decision is about one instruction, not a pair",
            "nothing to do",
        ),
        "tuple-or-token": (
            "which part of a tuple stays in registers depends on its kernel",
            "%t has the shape (f32[8], f32[8]): which part stays in registers depends on its kernel",
            "take the tuple apart with get-tuple-element",
        ),
    }
)

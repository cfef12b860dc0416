"""An example for each public name whose docstring has none: members, results, errors.

Each runs when the book is built, after `FIRST`; the example of an error must raise it.
"""

from __future__ import annotations

FIRST = '''import numpy as np
import xla_explorer as xe

session = xe.compile("""
HloModule scores
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[64,32] parameter(0)
  t = f32[64,32] tanh(x)
  zero = f32[] constant(0)
  s = f32[64] reduce(t, zero), dimensions={1}, to_apply=sum
  ss = f32[64,32] broadcast(s), dimensions={0}
  ROOT r = f32[64,32] divide(t, ss)
}""")
x = np.ones((64, 32), np.float32)
'''

# Attributes of a pass, whose examples read them.
STEP = (
    *(
        "before",
        "changed",
        "diff",
        "error",
        "events",
        "instructions",
        "instructions_before",
        "known_diff",
        "lines",
        "module",
        "name",
    ),
    *("number", "pipeline", "rewrites", "seconds", "snapshot", "step", "text", "title"),
)
EXAMPLES: dict[str, str] = {
    "xe.backends": "xe.backends.names()",
    "xe.course": "xe.course.exercises()",
    "xe.load_ipython_extension": "%load_ext xla_explorer",
    "xe.options": "with xe.options.set(isolate=True, timeout=60):\n    xe.compile(session.module)(x)",
    "xe.xla.Flipped": "flipped = xe.xla.compare(*2 * [xe.compile(session.passes[0].module, backend='xla')]).flipped",
    "xe.xla.Replay": "xe.xla.replay(xe.compile(session.passes[0].module, backend='xla'), 'buffers')",
    "xe.xla.ReplayRow": "rows = xe.xla.replay(xe.compile(session.passes[0].module, backend='xla'), 'buffers').rows",
    "xe.xla.ReplayedFusion": "xe.xla.replay_fusion(xe.compile(session.passes[0].module, backend='xla'))",
    "xe.xla.WhatIf": "xe.xla.time(session.passes[0].module, x, repeats=3)",
    "xe.xla.WhyMemory": "xe.xla.why_memory(session.passes[0].module, x)",
    "xe.xla.WhyRecompiled": "import jax\nxe.xla.why_recompiled(jax.jit(lambda a: a + 1), (x,), (x[:8],))",
    "xe.xla.WhySlow": "xe.xla.why_slow(session.passes[0].module, x, repeats=3)",
    "xe.xla.XlaDifference": "xe.xla.compare(*2 * [xe.compile(session.passes[0].module, backend='xla')])",
    "xe.xla.XlaProfile": "xe.xla.profile(session.passes[0].module, x, repeats=3)",
    "Session.annotate": "session.annotate(x, repeats=3)",
    "Session.assembly": "print(session.assembly())",
    "Session.bisect": "session.bisect(x)",
    "Session.buffers": "session.buffers()",
    "Session.compare": "session.compare(session.override(forbid=[('fusion', '%t', '%s')]), x, repeats=3)",
    "Session.decisions": "session.decisions('fusion')",
    "Session.emulation": "session.gpu(device='emulator').emulation(x)",
    "Session.executable": "session.executable.execute([x])",
    "Session.explain": "session.explain('%t')",
    "Session.gpu": "session.gpu(architecture='sm_90', device='emulator')",
    "Session.kernels": "session.kernels()",
    "Session.llvm": "session.llvm.times()",
    "Session.llvm_ir": "print(session.llvm_ir(optimized=False))",
    "Session.loops": "print(session.loops())",
    "Session.module": "session.module.instruction_count()",
    "Session.override": "session.override(forbid=[('fusion', '%t', '%s')], skip_rules=['transpose-of-transpose'])",
    "Session.overrides": "session.override(forbid=[('fusion', '%t', '%s')]).overrides()",
    "Session.place": "placed = session.place(x)\nsession(*placed)",
    "Session.profile": "session.profile(x, repeats=5)",
    "Session.ptx": "print(session.ptx())",
    "Session.run_flat": "[result] = session.run_flat([x])",
    "Session.save": "session.save('scores.html')",
    "Session.schedule": "session.schedule(session.kernels().kernel[0])",
    "Session.side_by_side": "session.side_by_side()",
    "Session.stage": "session.stage('llvm-ir')",
    "Session.stages": "list(session.stages())",
    "Session.time": "session.time(x, repeats=5)",
    "Session.timeline": "events = session.timeline('timeline.json')",
    "Session.to_html": "page = session.to_html()",
    "Session.why_not": "session.why_not('fusion', '%t', '%s')",
    "session.llvm.control_flow": "session.llvm.control_flow(session.kernels().kernel[0])",
    "session.llvm.flame": "session.llvm.flame()",
    "session.llvm.inner_loops": "session.llvm.inner_loops()",
    "session.llvm.passes": "session.llvm.passes(session.kernels().kernel[0])",
    "session.llvm.remarks": "session.llvm.remarks('loop-vectorize')",
    "session.llvm.times": "session.llvm.times()",
    "session.passes.applicable": "session.passes.applicable('%r', 0)",
    "session.passes.blocks": "blocks = list(session.passes.blocks())",
    "session.passes.callers": "session.passes.callers('%t')",
    "session.passes.changed": "session.passes.changed",
    "session.passes.commute": "session.passes.commute('cse', 'dce')",
    "session.passes.costs": "session.passes.costs()",
    "session.passes.draw_edges": "session.passes.draw_edges([('%x', '%r')])",
    "session.passes.effective": "session.passes.effective(0)",
    "session.passes.error": "session.passes.error is None",
    "session.passes.errors": "session.passes.errors(x)",
    "session.passes.find": "session.passes.find('%t')",
    "session.passes.flame": "session.passes.flame()",
    "session.passes.fusion_edges": "refused, accepted = session.passes.fusion_edges(session.passes.named('fusion').number)",
    "session.passes.headline": "session.passes.headline()",
    "session.passes.history": "print(*session.passes.history('%t'), sep='\\n')",
    "session.passes.hot_rules": "session.passes.hot_rules()",
    "session.passes.journal": "events = list(session.passes.journal.events)",
    "session.passes.last": "session.passes[session.passes.last]",
    "session.passes.module": "session.passes.module.entry.root",
    "session.passes.named": "session.passes.named('fusion')",
    "session.passes.opcodes": "session.passes.opcodes(change=True)",
    "session.passes.pipeline": "session.override(passes=session.passes.pipeline.without('cse'))",
    "session.passes.provenance": "session.passes.provenance()",
    "session.passes.records": "session.passes.records()",
    "session.passes.rule_times": "session.passes.rule_times()",
    "session.passes.search_order": "session.passes.search_order('cse', 'dce', trials=2)",
    "session.passes.seconds": "session.passes.seconds",
    "session.passes.text_of": "lines = session.passes.text_of(session.passes[0].snapshot)",
    "session.passes.to_frame": "session.passes.to_frame()",
    "session.passes.to_html": "session.passes.to_html()",
    "session.passes.to_json": "session.passes.to_json()",
    "session.passes.to_markdown": "print(session.passes.to_markdown())",
    "session.passes.to_text": "print(session.passes.to_text())",
    "session.passes.try_rule": "from xla_explorer.compiler.rewriting.declared import declared_rules\n"
    "session.passes.try_rule(declared_rules()['transpose-of-transpose'])",
    "session.passes.search": "session.passes.search('tanh')",
    "session.passes.value": "session.passes.value('%t', x)",
    "session.passes.warm": "session.passes.warm()",
    **{f"session.passes[k].{name}": f"session.passes.named('fusion').{name}" for name in STEP},
    "session.passes[k].blocks": "blocks = list(session.passes.named('fusion').blocks())",
    "session.passes[k].decisions": "session.passes.named('fusion').decisions('fusion')",
    "session.passes[k].graph": "session.passes.named('fusion').graph()",
    "session.passes[k].headline": "session.passes.named('fusion').headline()",
    "session.passes[k].picture": "session.passes.named('fusion').picture(budget=50)",
    "session.passes[k].records": "session.passes.named('fusion').records()",
    "session.passes[k].text_diff": "session.passes.named('fusion').text_diff()",
    "session.passes[k].to_frame": "session.passes.named('fusion').to_frame()",
    "session.passes[k].to_html": "session.passes.named('fusion').to_html()",
    "session.passes[k].to_json": "session.passes.named('fusion').to_json()",
    "session.passes[k].to_markdown": "print(session.passes.named('fusion').to_markdown())",
    "session.passes[k].to_text": "print(session.passes.named('fusion').to_text())",
    "trace.decisions": "xe.optimize(session.module, 'fusion').decisions()",
    "trace.explore": "xe.optimize(session.module, 'fusion').explore()",
    "trace.module": "xe.optimize(session.module, 'fusion').module",
    "trace.provenance": "xe.optimize(session.module, 'fusion').provenance()",
    "trace.steps": "xe.optimize(session.module, 'fusion').steps",
    "trace.why_not": "xe.optimize(session.passes[0].module, 'fusion').why_not('fusion', '%t', '%s')",
    # each raises its error
    "xe.xla.ProfileError": "xe.xla.read_profile('no-such-file')",
    "xe.errors.ArgumentError": "session(x[0])",
    "xe.errors.CannotRunError": "xe.compile(session.module, backend='hexagon')(x)",
    "xe.errors.CompileFailedError": "xe.compile(session.passes[0].module, 'gpu', math='sloppy')",
    "xe.errors.DumpError": "from pathlib import Path\nPath('empty').mkdir()\nxe.load('empty')",
    "xe.errors.EvaluationError": "xe.evaluate(session.module, x, x)",
    "xe.errors.HloBuilderError": "b = xe.HloBuilder('m')\nb.add(b.parameter(xe.f32[2]), b.parameter(xe.f32[3]))",
    "xe.errors.HloParseError": "xe.parse_hlo('ENTRY main { x = f32[ }')",
    "xe.errors.HloVerifyError": "xe.verify('ENTRY main { x = f32[4] parameter(0) ROOT r = f32[5] tanh(x) }')",
    "xe.errors.InvalidOptionError": "xe.compile(session.module, check_values=3)",
    "xe.errors.LoadError": "xe.load('no-such-file.hlo')",
    "xe.errors.NotAModuleError": "xe.compile(42)",
    "xe.errors.NotThereError": "xe.xla.replay(xe.compile(session.passes[0].module, backend='xla'), 'layout')",
    "xe.errors.PassFailedError": "from dataclasses import dataclass\nfrom xla_explorer.plugin import HloPass\n"
    "@xe.register_pass()\n@dataclass(frozen=True)\n"
    "class Stumbles(HloPass):\n    name = 'stumbles'\n    def run(self, module, context):\n        raise RuntimeError('half way')\n"
    "xe.optimize(session.module, 'stumbles')",
    "xe.errors.PipelineSyntaxError": "xe.optimize(session.module, 'algsimp,,(')",
    "xe.errors.ProtoError": "from pathlib import Path\nwritten = Path('cut.hlo.pb').write_bytes(b'\\x0a\\x05main')\nxe.load('cut.hlo.pb')",
    "xe.errors.RandomArgumentError": "xe.random_arguments('ENTRY main { ROOT x = f32[1000000,1000000,1000000] parameter(0) }')",
    "xe.errors.RuleError": "from xla_explorer.plugin import Exactness, any_, operator\n"
    "@xe.rule(operator('abs')(any_('x')), exactness=Exactness.BITWISE,\n"
    "         before='x = f32[4] parameter(0)\\n ROOT a = f32[4] abs(x)', after='ROOT x = f32[4] parameter(0)')\n"
    'def wrong(x):\n    """abs(x) is x."""\n    return x',
    "xe.errors.StablehloError": "xe.parse_stablehlo('module { func.func @main( }')",
    "xe.errors.StablehloUnsupportedError": "xe.parse_stablehlo('module { stablehlo.constant dense<1.0> : tensor<f32> }')",
    "xe.errors.UnknownBackendError": "xe.compile(session.module, backend='cpuu')",
    "xe.errors.UnknownInstructionError": "xe.graph(session.module, around='nobody')",
    "xe.errors.UnknownKindError": "session.decisions('fussion')",
    "xe.errors.UnknownOptionError": "xe.compile(session.module, sped=3)",
    "xe.errors.UnknownStageError": "session.stage('fortran')",
    "xe.errors.UnknownStepError": "session.passes.named('no-such-pass')",
    "xe.errors.IsolatedTimeoutError": "endless = xe.compile('c { p = s32[] parameter(0) ROOT t = pred[] constant(true) }'\n"
    "    ' b { ROOT p = s32[] parameter(0) }'\n"
    "    ' ENTRY main { p = s32[] parameter(0) ROOT w = s32[] while(p), condition=c, body=b }', isolate=True, timeout=1)\n"
    "endless(np.int32(0))",
}

# Names without an example, each with the reason.
WITHOUT = {
    "xe.errors.IsolatedCrashError": "it takes code that crashes",
    "xe.errors.IsolatedMemoryError": "it takes all memory that was allowed",
    "xe.errors.MissingExtraError": "it takes an installation that lacks an extra",
}

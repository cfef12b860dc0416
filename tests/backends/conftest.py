"""Shared by the tests of the backends."""

import pytest

WITH_LINES = """
source_filename = "module.hlo"
define void @fusion.1(ptr noalias %a, ptr noalias %b, ptr noalias %o) !dbg !4 {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %loop]
  %pa = getelementptr inbounds float, ptr %a, i64 %i, !dbg !10
  %pb = getelementptr inbounds float, ptr %b, i64 %i, !dbg !11
  %po = getelementptr inbounds float, ptr %o, i64 %i, !dbg !13
  %x = load float, ptr %pa, align 4, !dbg !10
  %y = load float, ptr %pb, align 4, !dbg !11
  %m = fdiv float %x, %y, !dbg !12
  store float %m, ptr %po, align 4, !dbg !13
  %i1 = add nuw nsw i64 %i, 1, !dbg !13
  %c = icmp slt i64 %i1, 1003
  br i1 %c, label %loop, label %exit, !dbg !13
exit:
  ret void, !dbg !13
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "x", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "module.hlo", directory: "/folder")
!2 = !{i32 2, !"Dwarf Version", i32 4}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "fusion.1", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition | DISPFlagOptimized)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!10 = !DILocation(line: 2, column: 1, scope: !4)
!11 = !DILocation(line: 3, column: 1, scope: !4)
!12 = !DILocation(line: 4, column: 1, scope: !4)
!13 = !DILocation(line: 5, column: 1, scope: !4)
"""


@pytest.fixture(scope="session")
def ir_with_lines():
    """Return LLVM IR of a division with lines of module.hlo.

    Lines 2 and 3 load, 4 divides, 5 stores and loops.
    """
    return WITH_LINES

// The titles of a compile's texts.
/** @type {Record<string, string>} */
const TITLES = {
  source: "your source",
  edit: "edit",
  hlo: "HLO",
  "hlo-before": "HLO before",
  "hlo-after": "HLO after",
  loops: "loop nests",
  "llvm-ir": "LLVM IR",
  "llvm-ir-optimized": "LLVM optimised",
  assembly: "assembly",
  ptx: "PTX",
  sass: "SASS",
  "gpu-llvm-ir": "LLVM IR, GPU",
  "gpu-llvm-ir-optimized": "LLVM optimised, GPU",
};
/** @param {string} name */
export const paneTitle = name => TITLES[name] || name;

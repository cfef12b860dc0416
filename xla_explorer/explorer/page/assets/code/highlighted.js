// Highlighted lines of code, for every view that shows code.
import { make } from "../core/elements.js";

const TOKEN =
  /("(?:[^"\\]|\\.)*")|((?:;|\/\/|#(?!\d)).*$)|([%@][\w.$-]+)|(\b(?:pred|token|opaque|bf16|[fsuc]\d+(?:e\dm\d\w*)?)\[[^\]]*\]|<\d+ x \w+>|\b(?:i\d+|float|double|half|ptr|void)\b|\.[a-z]\d+\b)|(\b0x[0-9a-fA-F]+|-?\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|((?<=\])\{[^}]*\}|, (?:metadata|backend_config|frontend_attributes)=\{(?:"(?:[^"\\]|\\.)*"|[^{}"]|\{(?:"(?:[^"\\]|\\.)*"|[^{}"])*\})*\})/g;
const CLASSES = ["", "str", "com", "nam", "typ", "num", "typ xe-noise"];

/** One line as text nodes and spans: strings, comments, names, types, numbers, and the parts that noise.js hides. @param {string} text */
export function highlighted(text) {
  if (text.length > 2000) return [text];
  const out = [];
  let last = 0;
  for (const m of text.matchAll(TOKEN)) {
    if (m.index > last) out.push(text.slice(last, m.index));
    out.push(make("span", { className: CLASSES[[1, 2, 3, 4, 5, 6].find(k => m[k] !== undefined) ?? 0], textContent: m[0] }));
    last = m.index + m[0].length;
  }
  if (last < text.length) out.push(text.slice(last));
  return out;
}

// The cost of a refused fusion, as the cost model stated it in the facts of the decision.

/**
 * The cost of a refusal by the cost model: [microseconds or null, whether it is an upper bound].
 * @param {import("./schema.js").Decision} d
 * @returns {[number | null, boolean]}
 */
export function refusalCost(d) {
  const bound = d.facts?.refusal_costs_at_most_microseconds;
  return bound === undefined ? [d.facts?.refusal_costs_microseconds ?? null, false] : [bound, true];
}

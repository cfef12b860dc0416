"""What happened, and why: decisions, history, origin, rules, what if, bisection."""

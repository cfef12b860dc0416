"""Policies: what is done to a nest where nobody asks for something else. Each gives a schedule, or a Reason why the nest stays opaque."""

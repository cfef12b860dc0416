"""The contract and the conformance programs of every backend."""

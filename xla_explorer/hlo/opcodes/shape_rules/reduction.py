"""Shape rules of one family (being written)."""
from typing import Any
def __getattr__(name: str) -> Any:
    if name.startswith("__"): raise AttributeError(name)
    return lambda *a: (_ for _ in ()).throw(NotImplementedError(name))

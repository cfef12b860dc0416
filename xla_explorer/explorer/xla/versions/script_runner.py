"""Run a script and write what it took; for the Python of any environment.

Usage: python script_runner.py RECORD.json SCRIPT [arguments]. Nothing but jax is imported, and that
only if the script imports it.
"""

import atexit
import json
import resource
import runpy
import sys
import time

seconds = {"compile": 0.0}


def listen(event: str, duration: float, **_: object) -> None:
    """Add up the compiles that JAX reports."""
    if event.endswith("backend_compile_duration"):
        seconds["compile"] += duration


def main() -> None:
    """Run the script as `python SCRIPT` does."""
    record, script = sys.argv[1], sys.argv[2]
    sys.argv = sys.argv[2:]
    import jax
    import jaxlib

    jax.monitoring.register_event_duration_secs_listener(listen)
    started = time.perf_counter()

    def write() -> None:
        with open(record, "w", encoding="utf-8") as file:
            found = {
                "jax": jax.__version__,
                "jaxlib": jaxlib.__version__,
                "seconds": time.perf_counter() - started,
                "compile_s": seconds["compile"],
                "peak_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            }
            json.dump(found, file)

    atexit.register(write)
    runpy.run_path(script, run_name="__main__")


main()

"""Run a script and write what it took; for the Python of any environment.

Usage: python script_runner.py RECORD.json TRACE SECONDS SCRIPT [arguments]. TRACE is the folder of
XLA's profile, or empty for none. The script ends after SECONDS of a recording. Nothing but jax is
imported.
"""

import atexit
import contextlib
import json
import os
import resource
import runpy
import sys
import threading
import time

seconds = {"compile": 0.0}


def listen(event: str, duration: float, **_: object) -> None:
    """Add up the compiles that JAX reports."""
    if event.endswith("backend_compile_duration"):
        seconds["compile"] += duration


def main() -> None:
    """Run the script as `python SCRIPT` does."""
    record, trace, limit, script = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    sys.argv = sys.argv[4:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))  # it was the folder of this file
    import jax
    import jaxlib

    jax.monitoring.register_event_duration_secs_listener(listen)
    started = time.perf_counter()
    written = threading.Lock()

    def write(ended: bool = True) -> None:
        if not written.acquire(blocking=False):
            return
        if trace:
            with contextlib.suppress(RuntimeError):  # the script stopped it, for its own profile
                jax.profiler.stop_trace()
        with open(record, "w", encoding="utf-8") as file:
            found = {
                "jax": jax.__version__,
                "jaxlib": jaxlib.__version__,
                "seconds": time.perf_counter() - started,
                "compile_s": seconds["compile"],
                "peak_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                "ended": ended,
            }
            json.dump(found, file)

    def stop() -> None:
        write(ended=False)
        sys.stdout.flush()
        os._exit(0)  # the main thread may be inside of XLA

    atexit.register(write)
    if trace:
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0
        jax.profiler.start_trace(trace, profiler_options=options)
        timer = threading.Timer(limit, stop)
        timer.daemon = True
        timer.start()
    runpy.run_path(script, run_name="__main__")


main()

#!/usr/bin/env bash
# Compare with XLA on a quiet machine in ten minutes: run, processor and compile ratios.
#     PYTHON=python tests/performance/quiet_comparison.sh JAX_PYTHON HARNESS OUT
# JAX_PYTHON has jax (0.12); HARNESS is the folder of perf.py with its suite dev/; OUT is a folder.
# The development suite is measured with one thread and with two, the fresh workloads with one.
# OUT keeps the results: a second call goes on where the first one ended.
set -eu
jax=$1 harness=$(realpath "$2") out=$3
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python}
unset PYTHONPATH
export JAX_PLATFORMS=cpu
mkdir -p "$out/fresh"
[ -s "$out/fresh/workloads.json" ] || "$jax" "$here/fresh/write_workloads.py" "$out/fresh"
compare() { # NAME FOLDER THREADS SECONDS
  echo "## $1"
  "$python" "$here/fresh/quick_comparison.py" "$2" "$out/$1.json" --harness "$harness" \
    --jax-python "$jax" --threads "$3" --seconds "$4" --rounds 5 --filter '^[mb]_' | tee "$out/$1.md"
}
compare dev_one_thread "$harness/dev" 1 210
compare dev_two_threads "$harness/dev" 2 150
compare fresh_one_thread "$out/fresh" 1 180

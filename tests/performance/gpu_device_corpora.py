"""The corpora of `gpu_device.py` as one archive, for a machine with only the repository.

It has a few megabytes.
"""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

from gpu_device_sections import workloads_of

_HARNESSES = {"conformance": "conformance.py", "perf": "perf.py"}


def pack(archive: Path, conformance: Path | None, perf: Path | None) -> int:
    """Write what the sections read of two corpus folders; the bytes of the archive."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:gz") as out:
        if conformance is not None:
            out.add(conformance / "conformance.py", "conformance/conformance.py")
            for shard in sorted((conformance / "dev").glob("*.jsonl*")):
                out.add(shard, f"conformance/dev/{shard.name}")
        if perf is not None:
            chosen = workloads_of(perf)
            listed = json.dumps(chosen).encode()
            entry = tarfile.TarInfo("perf/dev/workloads.json")
            entry.size = len(listed)
            out.addfile(entry, io.BytesIO(listed))
            out.add(perf / "perf.py", "perf/perf.py")
            for name in sorted({w["hlo"] for w in chosen}):
                out.add(perf / "dev" / name, f"perf/dev/{name}")
    return archive.stat().st_size


def unpack(archive: Path, folder: Path) -> dict[str, Path]:
    """Put it into a folder; where each corpus is now."""
    with tarfile.open(archive) as packed:
        packed.extractall(
            folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {})
        )  # Python 3.11.4 and later
    return {
        name: folder / name
        for name, harness in _HARNESSES.items()
        if (folder / name / harness).exists()
    }

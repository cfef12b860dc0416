"""The object cache: hits, damage, bounds, several writers."""

import os
import threading
import time

import pytest

from xla_explorer.backends.llvm import object_cache
from xla_explorer.backends.llvm.object_cache import ObjectCache, user_cache_folder


def files(folder):
    return sorted(path for path in folder.rglob("*.object"))


def test_round_trip_in_memory_and_on_disk(tmp_path):
    cache = ObjectCache(tmp_path)
    key = cache.key("ir", "target")
    assert cache.get(key) is None
    cache.put(key, b"code")
    assert cache.get(key) == b"code"
    assert ObjectCache(tmp_path).get(key) == b"code"
    assert (cache.statistics.memory_hits, cache.statistics.misses, cache.statistics.stores) == (
        1,
        1,
        1,
    )
    cache.clear()
    assert cache.get(key) is None and not files(tmp_path)


def test_parts_are_delimited():
    assert ObjectCache.key("a", "b") != ObjectCache.key("ab") != ObjectCache.key("ab", "")


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b[:20], lambda b: b"", lambda b: b[:-1] + b"?"]
)
def test_a_damaged_file_is_a_miss_and_goes(tmp_path, damage):
    cache = ObjectCache(tmp_path)
    key = cache.key("x")
    cache.put(key, b"payload")
    (path,) = files(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    fresh = ObjectCache(tmp_path)
    assert fresh.get(key) is None and fresh.statistics.damaged == 1 and not path.exists()


def test_least_recently_used_goes_first(tmp_path):
    cache = ObjectCache(tmp_path, max_bytes=4000)
    keys = [cache.key(str(number)) for number in range(8)]
    for number, key in enumerate(keys):
        cache.put(key, bytes(1000))
        for path in files(tmp_path):
            if path.name.startswith(key):
                os.utime(path, (time.time() - 5000 + number, time.time() - 5000 + number))
    cache.trim()
    left = {path.stem for path in files(tmp_path)}
    assert keys[-1] in left and keys[0] not in left
    assert sum(path.stat().st_size for path in files(tmp_path)) <= 4000


def test_memory_layer_is_bounded(tmp_path):
    cache = ObjectCache(tmp_path, memory_bytes=2500)
    for number in range(5):
        cache.put(cache.key(str(number)), bytes(1000))
    assert len(cache._memory) == 2 and cache._memory_size == 2000


def test_disabled(tmp_path, monkeypatch):
    cache = ObjectCache(tmp_path, enabled=False)
    cache.put(cache.key("x"), b"y")
    assert cache.get(cache.key("x")) is None and not files(tmp_path)
    monkeypatch.setenv("XLA_EXPLORER_CACHE", "off")
    assert not object_cache.cache_enabled_by_environment()
    monkeypatch.delenv("XLA_EXPLORER_CACHE")
    assert object_cache.cache_enabled_by_environment()


def test_a_folder_that_cannot_be_written(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    cache = ObjectCache(blocked)
    cache.put(cache.key("x"), b"y")
    assert cache.get(cache.key("x")) == b"y"
    assert ObjectCache(blocked).get(cache.key("x")) is None


def test_many_writers_of_the_same_key(tmp_path):
    key = ObjectCache.key("x")
    payload = os.urandom(20000)
    problems = []

    def work():
        cache = ObjectCache(tmp_path)
        for _ in range(30):
            cache.put(key, payload)
            cache.forget_memory()
            if cache.get(key) != payload:
                problems.append("torn read")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems and len(files(tmp_path)) == 1
    assert not list(tmp_path.rglob(".writing-*"))


def test_platform_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(object_cache.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache_folder() == tmp_path / "xla_explorer"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners and modes")
def test_what_others_could_have_written_is_a_miss(tmp_path):
    before = os.umask(0)
    try:
        cache = ObjectCache(tmp_path / "objects")
        key, other = cache.key("x"), cache.key("y")
        cache.put(key, b"payload")
        cache.put(other, b"another")
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_dir()} == {0o700}
    place = next(path for path in files(tmp_path) if path.stem == key)
    place.chmod(0o666)
    assert ObjectCache(tmp_path / "objects").get(key) is None
    place.chmod(0o600)
    assert ObjectCache(tmp_path / "objects").get(key) == b"payload"
    os.replace(next(path for path in files(tmp_path) if path.stem == other), place)
    assert ObjectCache(tmp_path / "objects").get(key) is None, (
        "an object swapped for another of ours"
    )


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"short",
        b"\0" * 64,
        b"\xff" * 64,
        (1).to_bytes(8, "little") + (4).to_bytes(8, "little") + b"nope",
    ],
)
def test_garbage_with_a_good_checksum_is_a_miss(tmp_path, garbage):
    from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit

    ir = "define void @f() {\n  ret void\n}\n"
    cache = ObjectCache(tmp_path)
    good = optimize_and_emit(ir, cache=cache)
    (key,) = [path.stem for path in files(tmp_path)]
    cache.put(key, garbage)
    for once_more in (ObjectCache(tmp_path), cache):
        found = optimize_and_emit(ir, cache=once_more)
        assert found.objects == good.objects
        assert optimize_and_emit(ir, cache=once_more).from_cache

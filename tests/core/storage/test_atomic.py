"""A file appears whole or not at all, where a link leads, and never in the place of a device."""

import fcntl
import os
import random
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from clustruct.core.storage import targets
from clustruct.core.storage.targets import check_target, replacing


def write(path, data=b"new"):
    with replacing(path) as f:
        f.write(data)


def fail(path, error):
    def halfway():
        with replacing(path) as f:
            f.write(b"half")
            raise error

    with pytest.raises(error):
        halfway()


def test_a_file_is_replaced_with_its_rights(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write(path)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    fail(path, error)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_written_through(tmp_path, there):
    (tmp_path / "far").mkdir()
    target, link, second = tmp_path / "far" / "a", tmp_path / "link", tmp_path / "second"
    if there:
        target.write_bytes(b"old")
    link.symlink_to(target)
    second.symlink_to("link")
    write(second)
    assert target.read_bytes() == b"new"
    assert link.is_symlink()
    assert second.is_symlink()
    assert os.listdir(tmp_path / "far") == ["a"]


def test_targets_that_cannot_be(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "lost").symlink_to("none/file")
    os.mknod(tmp_path / "socket", stat.S_IFSOCK | 0o600)
    for name, message in {
        "loop": "leads to itself",
        "lost": "there is no folder",
        "socket": "is a disk or a socket",
        ".": "is a folder",
    }.items():
        with pytest.raises(ValueError, match=message):
            write(tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["loop", "lost", "socket"]


def test_a_device_is_written_to(tmp_path):
    (tmp_path / "null").symlink_to("/dev/null")
    before = os.stat("/dev/null")
    write(tmp_path / "null")
    write(Path("/dev/null"))
    assert os.stat("/dev/null") == before
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write(Path("/dev/full"))


def as_root_a_node(tmp_path, kind, number):
    """A device of one's own, so that a mistake does not take the system's."""
    try:
        os.mknod(tmp_path / "device", kind | 0o600, os.makedev(*number))
    except PermissionError:
        pytest.skip("only root makes devices")
    return tmp_path / "device"


def test_a_node_stays_a_node(tmp_path):
    device = as_root_a_node(tmp_path, stat.S_IFCHR, (1, 3))
    write(device)
    assert device.is_char_device()
    assert os.listdir(tmp_path) == ["device"]


def test_a_disk_is_left_alone(tmp_path):
    device = as_root_a_node(tmp_path, stat.S_IFBLK, (7, 250))
    with pytest.raises(ValueError, match="is a disk or a socket"):
        write(device)
    assert device.is_block_device()


def test_a_pipe_is_written_to_at_the_end(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(pipe)
    fail(pipe, ValueError)
    with open(reading, "rb") as f:
        assert f.read() == b"new"
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_pipe_that_nobody_reads_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(targets, "PATIENCE", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=f"nobody reads from the pipe: '{tmp_path / 'pipe'}'"):
        write(tmp_path / "pipe")


def test_a_reader_may_come_a_little_later(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Timer(0.2, lambda: read.append(pipe.read_bytes()))
    reader.start()
    # More than a pipe holds: the rest must wait for the reader, too.
    write(pipe, b"x" * 300_000)
    reader.join()
    assert read == [b"x" * 300_000]


@pytest.mark.parametrize("form", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_an_open_file_goes_on_where_it_was(tmp_path, form):
    """As --out /dev/stdout with >> file: what was there stays, and what is printed later comes after."""
    path, link = tmp_path / "log", tmp_path / "link"
    path.write_bytes(b"old ")
    with open(path, "ab", buffering=0) as f:
        link.symlink_to(form.format(f.fileno()))
        write(link)
        f.write(b" later")
        with pytest.raises(ValueError, match="it is a file to be read"):
            check_target(link, [path])
    assert path.read_bytes() == b"old new later"


def test_names_as_long_as_a_name_can_be(tmp_path, nameless):
    for name in ("a" * 255, "\N{PILE OF POO}" * 63):
        write(tmp_path / name, b"1")
        write(tmp_path / name, b"2")
        assert (tmp_path / name).read_bytes() == b"2"
    assert len(os.listdir(tmp_path)) == 2


@pytest.fixture(params=[True, False])
def nameless(request, monkeypatch):
    """With files that have no name until they are whole, and without: not every file system has them."""
    if not request.param:
        monkeypatch.setattr(targets, "NAMELESS", None)
    return request.param


@pytest.mark.parametrize("there", [True, False])
def test_no_name_before_all_is_written(tmp_path, nameless, there):
    path = tmp_path / "a"
    if there:
        path.write_bytes(b"old")
    with replacing(path) as f:
        f.write(b"half")
        f.flush()
        hidden = set(os.listdir(tmp_path)) - {"a"}
        assert len(hidden) == (0 if targets.NAMELESS else 1)
    assert os.listdir(tmp_path) == ["a"]
    mask = os.umask(0o22)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_what_was_left_is_taken_away(tmp_path, nameless):
    """And nothing else: not what another process writes, nor what only looks alike."""
    left, held = (tmp_path / f".a.{c * 16}.part" for c in "01")
    others = [".a.part", ".a.0000.part", ".b.0000000000000000.part", f"x.a.{'0' * 16}.part"]
    for path in (left, held, *(tmp_path / name for name in others)):
        path.touch()
    with open(held) as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        write(tmp_path / "a")
    assert sorted(os.listdir(tmp_path)) == sorted(["a", held.name, *others])
    write(tmp_path / "a")
    assert sorted(os.listdir(tmp_path)) == sorted(["a", *others])


KILLED = """
import sys
from pathlib import Path
from clustruct.core.storage import targets
from clustruct.core.storage.targets import replacing
if sys.argv[2] == "named":
    targets.NAMELESS = None
print(flush=True)
for n in range(1000000):
    with replacing(Path(sys.argv[1])) as f:
        for _ in range(20):
            f.write(bytes([n % 256]) * 10000)
"""


@pytest.mark.parametrize("kind", ["nameless", "named"])
def test_kills_at_any_moment(tmp_path, kind):
    """The file is whole after each, and nothing stays beside it when the next has written."""
    path, chance = tmp_path / "a", random.Random(0)
    for _ in range(8):
        words = [sys.executable, "-c", KILLED, path, kind]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(chance.uniform(0.05, 0.15))
            process.kill()
        if path.exists():
            content = path.read_bytes()
            assert (len(content), len(set(content))) == (200_000, 1)
        assert len(os.listdir(tmp_path)) <= 2
    write(path)
    assert os.listdir(tmp_path) == ["a"]


def test_an_input_is_not_written_over(tmp_path):
    (tmp_path / "data").write_bytes(b"x")
    (tmp_path / "link").symlink_to("data")
    with pytest.raises(ValueError, match="it is a file to be read"):
        check_target(tmp_path / "link", [tmp_path / "data"])
    (tmp_path / "twin").hardlink_to(tmp_path / "data")
    with pytest.raises(ValueError, match="it is a file to be read"):
        check_target(tmp_path / "twin", [tmp_path / "link"])
    check_target(tmp_path / "other", [tmp_path / "data", tmp_path / "not there"])

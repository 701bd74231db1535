"""A file appears whole or not at all, where a link leads, and never in the place of a device."""

import os
import stat

import pytest

from clustruct.storage.files import check_target, replacing


def write(path, data=b"new"):
    with replacing(path) as f:
        f.write(data)


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

    def fail():
        with replacing(path) as f:
            f.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
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
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "lost").symlink_to("none/file")
    (tmp_path / "null").symlink_to("/dev/null")
    for name, message in {
        "pipe": "is a device or a pipe",
        "null": "is a device or a pipe",
        "loop": "leads to itself",
        "lost": "there is no folder",
        ".": "is a folder",
    }.items():
        with pytest.raises(ValueError, match=message):
            write(tmp_path / name)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["loop", "lost", "null", "pipe"]


def test_an_input_is_not_written_over(tmp_path):
    (tmp_path / "data").write_bytes(b"x")
    (tmp_path / "link").symlink_to("data")
    with pytest.raises(ValueError, match="it is a file to be read"):
        check_target(tmp_path / "link", [tmp_path / "data"])
    check_target(tmp_path / "other", [tmp_path / "data", tmp_path / "not there"])

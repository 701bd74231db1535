"""The toy: without Universum ends of the groups are cut off, with it none."""

import pytest

from examples import universum_toy


@pytest.mark.parametrize("seed", range(5))
def test_universum_turns_the_border(seed):
    X, y, U = universum_toy.make_toy(seed)
    assert universum_toy.wrong(y, universum_toy.cluster(X, None)) >= 8
    assert universum_toy.wrong(y, universum_toy.cluster(X, U)) == 0


def test_picture(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    universum_toy.main()
    assert (tmp_path / "out" / "universum_toy.svg").stat().st_size > 5_000
    assert "0 with it" in capsys.readouterr().out

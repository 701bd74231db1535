import numpy as np
import pytest

from clustruct.papers.toy_marbles import make_marbles


def test_groups_follow_what_was_asked():
    by_hue = make_marbles(3, 30, by="hue", noise=0.0, random_state=0)
    by_size = make_marbles(3, 30, by="size", noise=0.0, random_state=0)
    for hue, size in zip(by_hue, by_size, strict=True):
        np.testing.assert_array_equal(hue.hue, size.hue)
        assert len(np.unique(hue.hue)) == len(np.unique(hue.labels))
        for marbles, value in ((hue, hue.hue), (size, size.diameter)):
            same = marbles.labels[:, None] == marbles.labels[None, :]
            np.testing.assert_array_equal(same, value[:, None] == value[None, :])


def test_hue_difference_goes_round_the_wheel():
    marbles = make_marbles(1, 40, ["red", "magenta"], noise=1.0, random_state=0)[0]
    x = marbles.item_set()
    a, b = np.triu_indices(40, 1)
    for k in (0, 17, 300):
        turn = abs(marbles.hue[a[k]] - marbles.hue[b[k]])
        assert x.pairs[k, 0] == pytest.approx(min(turn, 360 - turn) / 180)
    assert x.pairs[:, 0].max() <= 1.0


def test_same_seed_same_marbles():
    first, again, other = (make_marbles(1, random_state=s)[0] for s in (3, 3, 4))
    np.testing.assert_array_equal(first.hue, again.hue)
    assert not np.array_equal(first.hue, other.hue)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colours": ["mauve"]}, "unknown colour 'mauve'"),
        ({"by": "price"}, "'hue' or 'size'"),
        ({"n_sets": 0}, "at least 1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        make_marbles(**options)

"""Words of a field that stand in other fields of the other item."""

import numpy as np
import pytest

from clustruct.data import Table, all_pairs, fold
from clustruct.features import Elsewhere, guess_blocks
from clustruct.features.vocabulary import split_words

MAKERS = ["acme tools", None, "Zenith", "", "acme", None, "old zenith co"]
TITLES = ["anvil", "acme anvil 5", "zenith radio", "tools", None, "radio by Zenith co", "anvil"]
RAW = Table([{"maker": m, "title": t} for m, t in zip(MAKERS, TITLES, strict=True)])


def _slow(pairs):
    """The share written out, by the idf of the words of the field."""
    makers = [set(split_words(fold(m or ""))) for m in MAKERS]
    titles = [set(split_words(fold(t or ""))) for t in TITLES]
    n = len(makers)
    idf = {w: np.log((1 + n) / (1 + sum(w in m for m in makers))) + 1 for m in makers for w in m}

    def share(a, b):
        total = sum(idf[w] for w in makers[a])
        return sum(idf[w] for w in makers[a] & titles[b]) / total if total else 0.0

    return [max(share(a, b), share(b, a)) for a, b in pairs]


def test_equals_the_share_written_out():
    pairs = all_pairs(len(RAW))
    found = Elsewhere("maker", ["title"]).fit([RAW]).transform(RAW, pairs)
    np.testing.assert_allclose(found[:, 0], _slow(pairs.tolist()), atol=1e-12)
    assert 0 < np.count_nonzero(found) < len(pairs)


@pytest.mark.parametrize(("lacking", "guessed"), [(40, True), (5, False)])
def test_is_taken_for_short_fields_that_many_records_lack(lacking, guessed):
    items = [
        {"maker": f"maker {k % 30}" if k >= lacking else None, "title": f"maker {k % 30} thing {k} in a box"}
        for k in range(100)
    ]
    blocks = guess_blocks([Table(items)], "records")
    assert any(isinstance(block, Elsewhere) for block in blocks) == guessed

"""A model that is of no use says so when it is made."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from clustruct import Recipe, Table
from clustruct.core.exceptions import ReliabilityWarning
from clustruct.learning.model_selection import HeldOutF
from clustruct.pipeline.learners import warn_of_little_use


def test_a_model_of_noise_says_so():
    rng = np.random.default_rng(0)
    items = [
        {"name": "".join(rng.choice(list("abcdef"), 8)), "size": float(rng.normal())} for _ in range(120)
    ]
    table = Table(items, labels=[k // 3 for k in range(120)])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        Recipe(block=50).fit([table])
    texts = [str(w.message) for w in said if w.category is ReliabilityWarning]
    assert any("the model is of little use: held-out pairwise F is" in text for text in texts)


def test_less_than_one_group_for_all_is_of_little_use():
    tables = [Table(["a"] * 10, labels=[0] * 8 + [1, None])]  # one group: F = 2 * 28 / (28 + 36)
    with pytest.warns(ReliabilityWarning, match="one group for all items would have 87.5 %"):
        warn_of_little_use(SimpleNamespace(held_out_=HeldOutF(0.7, 0.6, 0.8, 30)), tables)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_little_use(SimpleNamespace(held_out_=HeldOutF(0.7, 0.6, 0.9, 30)), tables)
        warn_of_little_use(SimpleNamespace(held_out_=None), tables)

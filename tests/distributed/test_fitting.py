"""Features fitted on parts of a table are those fitted on the table."""

import numpy as np
import pyarrow as pa
import pytest

from clustruct import Table, load, save
from clustruct.core.storage import digest
from clustruct.distributed import fit_features
from clustruct.features import Blocking, PairFeatures, guess_blocks
from tests.distributed.table import people, write_files


@pytest.fixture(scope="module")
def known():
    table, labels = people(n_people=150)
    names = sorted(set(labels))[:50]
    shown = [str(label) if label in names else None for label in labels]
    years = np.where(np.arange(len(table)) % 7 == 0, None, 1950 + np.arange(len(table)) % 40)
    table = table.append_column("year", pa.array(years.tolist(), pa.int64()))
    return table, shown


def unfitted(raw):
    return PairFeatures(guess_blocks([raw]), blocking=Blocking(from_size=100))


@pytest.mark.parametrize("partitions", [1, 5])
def test_what_is_learned_is_that_of_one_process(client, known, tmp_path, partitions):
    table, shown = known
    raw = Table.from_frame(table, id="nr")
    here = unfitted(raw).fit([Table(raw.items, labels=shown)])
    files = write_files(table.append_column("person", pa.array(shown)), tmp_path / "data", 3)
    options = {"id": "nr", "cluster": "person", "partitions": partitions}
    there = fit_features(files, unfitted(raw), client=client, **options)
    assert len(here.blocks_) > 3
    for one, other in zip(here.blocks_, there.blocks_, strict=True):
        assert digest(one) == digest(other), one
    assert here.blocking_.least_likeness_ > 0.0
    assert digest(here.blocking_) == digest(there.blocking_)
    assert [(n.name, n.kind) for n in here.needs_] == [(n.name, n.kind) for n in there.needs_]
    save(tmp_path / "features", there)
    pairs = np.array([[0, 1], [3, 7]])
    here_values, there_values = (f.pair_chunks(raw, pairs) for f in (here, load(tmp_path / "features")))
    for (_, one), (_, other) in zip(here_values, there_values, strict=True):
        assert np.array_equal(one, other)

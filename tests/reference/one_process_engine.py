"""The stages of a prediction on a cluster, run one after another here: what an engine must come to."""

import numpy as np
import pyarrow as pa

from clustruct.distributed.workdir import TO


class OneProcessEngine:
    """`clustruct.distributed.stage_runner.StageRunner` without a cluster: a filter sends rows on."""

    def __init__(self, work):
        self.work = work

    def each(self, stage, make, n):
        return [self.work.finish(stage, k, make(self.work, k)) for k in range(n)]

    def each_thing(self, stage, keep, things):
        return [self.work.finish(stage, k, keep(self.work, k, thing)) for k, thing in enumerate(things)]

    def exchange(self, stage, make, meta, finish, n_from, n_to):
        made = [make(self.work, k) for k in range(n_from)]
        for table in made:
            assert {name: str(table.schema.field(name).type) for name in meta} == {
                name: _arrow(kind) for name, kind in meta.items()
            }
        moved = pa.concat_tables(made)
        moved = moved.take(np.random.default_rng(0).permutation(len(moved)))  # in no order
        to = moved.column(TO).to_numpy()
        assert ((to >= 0) & (to < n_to)).all()
        pieces = [moved.filter(to == k).drop_columns([TO]) for k in range(n_to)]
        return [self.work.finish(stage, k, finish(self.work, k, piece)) for k, piece in enumerate(pieces)]


def _arrow(kind):
    """The name that Arrow has for the type of a column of a frame."""
    if not isinstance(kind, str):
        return str(kind.pyarrow_dtype)
    return {"float64": "double", "float32": "float"}.get(kind, kind)

"""The stages of a prediction on a cluster, run one after another here: what an engine must come to."""

import pandas as pd

from clustruct.distributed.engine import TO


class OneProcessEngine:
    """`clustruct.distributed.engine.Engine` without a cluster: rows go where they are to go by a filter."""

    def __init__(self, work):
        self.work = work

    def each(self, stage, make, n):
        return [self.work.finish(stage, k, make(self.work, k)) for k in range(n)]

    def given(self, stage, keep, things):
        return [self.work.finish(stage, k, keep(self.work, k, thing)) for k, thing in enumerate(things)]

    def exchange(self, stage, make, meta, finish, n_from, n_to):
        made = [make(self.work, k)[[TO, *meta]] for k in range(n_from)]
        for frame in made:
            assert {name: str(frame[name].dtype) for name in meta} == {
                n: str(kind) for n, kind in meta.items()
            }
        moved = pd.concat(made, ignore_index=True).sample(frac=1.0, random_state=0)
        assert moved[TO].between(0, n_to - 1).all()
        pieces = [moved[moved[TO] == k].set_index(TO) for k in range(n_to)]
        return [self.work.finish(stage, k, finish(self.work, k, piece)) for k, piece in enumerate(pieces)]

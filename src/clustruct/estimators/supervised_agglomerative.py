"""Supervised agglomerative clustering in scikit-learn's manner."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

from clustruct.core.storage import register
from clustruct.core.typing import Labels
from clustruct.data import ItemSet
from clustruct.learning.model_selection.choose_c import FEWEST_SETS, Choice, choose_C
from clustruct.learning.model_selection.pair_signal import warn_of_products
from clustruct.learning.model_selection.task_choice import choose_C_for
from clustruct.learning.problems import LinkageTask, SimilarityTask, Trained
from clustruct.learning.problems.fold_losses import LOOSE
from clustruct.search.agglomerative import Linkage
from clustruct.search.oracles import Oracle, make_oracle
from clustruct.search.oracles.link_oracles import LinkOracle

from .base import SimilarityLearning

# What a wrong link counts beside a right one: the values that are tried.
WRONG_LINKS = (1.0, 0.3)


@register("SupervisedAgglomerative")
@dataclass(eq=False, repr=False)
class SupervisedAgglomerative(SimilarityLearning):
    """Learn from example clusterings how to join the items of new sets, link by link.

    A similarity K_ab = <w, psi_ab> is learned such that agglomerative clustering, which joins what is most
    alike while it is alike at all (K >= 0), makes the examples. The clustering is scored by its links h
    alone, and those of the examples are latent (Yu and Joachims 2009; Finley 2009, section 6.2)::

        min over w   1/2 |w|^2 + C mean_i [ max_{y,h} (Delta(y_i, y, h) + <w, Psi(x_i, y, h)>)
                                            - max_h <w, Psi(x_i, y_i, h)> ],    Psi = sum_{(a,b) in h} psi_ab

    Parameters
    ----------
    C : float or "cv"
        Weight of the training loss against simplicity. "cv" chooses it by holding sets out; with fewer than 3
        sets it is the middle of the grid.
    loss : "pairwise", "mitre", ..., a Loss, or a function of two label vectors
        What counts as an error when C is chosen and in `score`; with "average" and "complete" also in
        training. "single" and "left" train for the loss of links (`clustruct.search.oracles.link_oracles`).
    scaling, slack_norm, formulation
        The kind of structural SVM, see `clustruct.ssvm.fit`; slack_norm is 1.
    rescale, C_grid, cv, rtol, max_iter, n_jobs, average_folds, random_state, verbose, memory_limit
        As for `SupervisedCorrelationClustering`.
    checkpoint : None
        There are none: each turn of the training is short.
    linkage : "single", "average", "complete" or "left"
        What joins two clusters: their most similar pair, the mean over their pairs, or their least similar
        pair. "left" is for items in an order that means something (mentions of a text): each item takes its
        best earlier item, where that scores above 0.
    wrong_link : float or "cv"
        With linkage="left": what a link to a wrong item counts beside a right one. "cv" tries 1 and 0.3 on
        held-out sets (with fewer than 3 sets: 1).
    n_starts : int
        Starts of the last training, which keeps the lowest objective.

    Attributes
    ----------
    w_, feature_scale_, C_, cv_results_, result_, shown_, n_features_in_, feature_names_in_
        As for `SupervisedCorrelationClustering`.
    wrong_link_
        What a wrong link counted.
    objectives_
        The objective after each turn of the last training; it never rises.

    Examples
    --------
    >>> import numpy as np
    >>> from clustruct import ItemSet, SupervisedAgglomerative
    >>> rng = np.random.default_rng(0)
    >>> def chains():
    ...     at = np.array([0.0, 1.0, 2.0, 3.0, 6.0, 7.0, 8.0]) + 0.2 * rng.normal(size=7)
    ...     a, b = np.triu_indices(7, 1)
    ...     distance = np.abs(at[a] - at[b])
    ...     return ItemSet(pairs=np.column_stack([distance, np.ones(len(a))])), [0, 0, 0, 0, 1, 1, 1]
    >>> train, test = [chains() for _ in range(6)], [chains() for _ in range(3)]
    >>> SupervisedAgglomerative(C=1.0).fit(*zip(*train)).score(*zip(*test))
    1.0
    """

    rtol: float = 1e-2
    linkage: Linkage = "single"
    wrong_link: float | Literal["cv"] = "cv"
    n_starts: int = 3
    clustering_objective: ClassVar = "links"
    fitted: ClassVar = {
        **SimilarityLearning.fitted,
        "wrong_link_": float,
        "objectives_": tuple[float, ...],
    }

    def check_parameters(self) -> None:
        if self.linkage not in get_args(Linkage):
            raise ValueError(f"linkage must be one of {', '.join(get_args(Linkage))}, not {self.linkage!r}")
        if self.wrong_link != "cv" and (isinstance(self.wrong_link, str) or not self.wrong_link > 0):
            raise ValueError(f"wrong_link must be a positive number or 'cv', not {self.wrong_link!r}")
        if self.n_starts < 1:
            raise ValueError(f"n_starts must be at least 1, not {self.n_starts}")
        if self.checkpoint is not None:
            raise ValueError("agglomerative clustering has no checkpoints: it trains in short turns")
        if self.slack_norm != 1:
            raise ValueError("agglomerative clustering needs slack_norm=1")
        super().check_parameters()

    def _oracle(self) -> Oracle:
        r = getattr(self, "wrong_link_", self.wrong_link)
        return linking(self.linkage, 1.0 if r == "cv" else float(r))

    def _predictor(self) -> LinkOracle:
        return linking(self.linkage)

    def _nonnegative(self) -> bool:
        return False

    def _check_training_sets(self, sets: list[ItemSet], labels: list[Labels]) -> None:
        self.wrong_link_ = 1.0 if self.wrong_link == "cv" else float(self.wrong_link)
        for x in sets:
            self._predictor().check_set(x)
        warn_of_products(sets, labels)

    def _task_class(self) -> type[SimilarityTask]:
        return LinkageTask

    def _task_options(self) -> dict[str, Any]:
        return {"n_starts": self.n_starts, "random_state": self.random_state}

    def _choice(self, task: SimilarityTask, groups: Sequence[Hashable] | None) -> Choice:
        """C and r, the pair that is best on held-out sets; the larger r where both are as good."""
        tries = self.linkage == "left" and self.wrong_link == "cv" and len(task.sets) >= FEWEST_SETS
        found = []
        for r in WRONG_LINKS if tries else (self.wrong_link_,):
            one = replace(task, oracle=linking(self.linkage, r))
            choice = self._choice_of_C(one, groups, always=tries)
            found.append((_cost(choice), r, choice))
            if choice.trained is not None:
                break
        _, self.wrong_link_, choice = min(found, key=lambda tried: tried[0])
        task.oracle = linking(self.linkage, self.wrong_link_)
        return choice

    def _choice_of_C(
        self, task: SimilarityTask, groups: Sequence[Hashable] | None, *, always: bool
    ) -> Choice:
        """C, chosen or given; judged on held-out sets where that is ``always`` wanted."""
        if self.C == "cv":
            return choose_C_for(
                task, grid=self.C_grid, folds=self.cv, groups=groups, random_state=self.random_state
            )
        if not always:
            return Choice(float(self.C), {})

        def train(*given: Any) -> Any:
            return task.train(*given, rtol=LOOSE)

        options = {"folds": self.cv, "groups": groups, "random_state": self.random_state}
        weights = task.sample_weight
        return choose_C(
            train,
            task.judge,
            len(task.sets),
            grid=[float(self.C)],
            sample_weight=weights,
            **options,  # type: ignore[arg-type]
        )

    def _keep_attributes(self, trained: Trained) -> None:
        self.objectives_ = trained.objectives

    def _similarity(self, x: ItemSet) -> Any:
        return x.similarity(self.w_, sparse=x.is_sparse)


def linking(linkage: str, wrong_link: float = 1.0) -> LinkOracle:
    """The search of that name."""
    found = make_oracle(linkage, "links")
    assert isinstance(found, LinkOracle)
    found.wrong_link = wrong_link
    return found


def _cost(choice: Choice) -> float:
    """The mean held-out loss at the C chosen."""
    if "mean_loss" not in choice.results:
        return 0.0
    return float(choice.results["mean_loss"][choice.results["C"] == choice.C][0])

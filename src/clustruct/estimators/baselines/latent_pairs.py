"""A clusterer that needs no labels."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from clustruct import learning
from clustruct.core import memory
from clustruct.core.storage import FEATURES, Shape, register
from clustruct.core.typing import Floats, Ints
from clustruct.data import Evidence, Grouping, GroupingOptions, PairScores
from clustruct.estimators.base import AnyLoss
from clustruct.estimators.inputs import Groups, SetsLike, read_sets
from clustruct.learning.label_free_similarity import ANSWERS_C, PRIOR, label_free_similarity
from clustruct.learning.model_selection.answer_choice import AnswerChoice, choose_answer_weight

from .pair_classifier import PairScoring


@register("LatentPairClustering")
@dataclass(eq=False, repr=False)
class LatentPairClustering(PairScoring):
    """Cluster by a similarity that is learned without labels, or from a few answers.

    Pairs are taken as a mixture of two classes, or of three where near misses agree like pairs that are
    apart (`fellegi_sunter`). Where less than half of the pairs
    inside the groups found was listed, pairs that are nearest to each other from both sides are taken as
    mates instead. The weights are those of a logistic regression on the result, and on the answers. It is a
    first guess, to ask people by: nothing says how good it is.

    Parameters
    ----------
    prior : float or "cv"
        What is guessed counts as so many answers. "cv": as held-out answers say, the guess alone being one
        of the choices (`choose_answer_weight`).
    C : float
        How far answers may move the weights.
    predictor : str, default="local_search"
        As for `SupervisedCorrelationClustering`.
    loss : str, Loss or callable, default="pairwise"
        What `score` counts.
    random_state : int, default=0
        Seed, or a generator, of whatever is drawn.
    memory_limit : int or str, optional
        What needs more (bytes, or words such as "8G") is refused.

    Attributes
    ----------
    w_, intercept_
        Of the similarity, which is a log-odds, in the units of the input.
    from_nearest_
        Whether pairs that are nearest to each other were learned from.
    threshold_
        What similarities are measured from (see `at_threshold`).
    answer_choice_
        After `fit` with prior="cv" alone: what was chosen, and what held-out answers say of it.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from clustruct.data.datasets import make_records
    >>> from clustruct.features import PairFeatures, guess_blocks
    >>> sets = make_records(n_sets=4, n_people=8)
    >>> X = PairFeatures(guess_blocks(sets)).fit_transform(sets)
    >>> LatentPairClustering().fit(X).score(X, [table.labels for table in sets]) > 0.95
    True
    """

    needs_labels = False
    fitted: ClassVar = {
        **FEATURES,
        "w_": Shape(("n_features_in_",)),
        "intercept_": float,
        "from_nearest_": bool,
        "threshold_": float | None,
    }

    prior: float | Literal["cv"] = PRIOR
    C: float = ANSWERS_C
    predictor: str = "local_search"
    loss: AnyLoss = "pairwise"
    random_state: int = 0
    memory_limit: memory.Size = None

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.prior != "cv" and (isinstance(self.prior, str) or not self.prior > 0):
            raise ValueError(f"prior must be a positive number or 'cv', not {self.prior!r}")

    def fit(
        self,
        X: SetsLike,
        y: object = None,
        set_ids: ArrayLike | None = None,
        groups: Groups = None,
        *,
        evidence: Sequence[Evidence | None] | None = None,
    ) -> Self:
        """Learn from sets, and from people's judgements of their items (``evidence``); y is not looked at."""
        self.check_parameters()
        given = read_sets(self, X, set_ids, reset=True)
        self._check_memory(given.sets)
        self._check_pairs(sum(x.n_pairs for x in given.sets))
        names = getattr(self, "feature_names_in_", None)
        self._learned = label_free_similarity(given.sets, names)
        return self._learn(evidence)

    def doubt(self) -> str | None:
        """Why what was learned without answers is of little use, None where nothing speaks against it; of a
        model that was just fitted.
        """
        return self._learned.doubt()

    def with_answers(self, evidence: Sequence[Evidence | None]) -> Self:
        """The same with other answers to the sets that `fit` has seen; this one stays as it is."""
        return copy(self)._learn(evidence)

    def _learn(self, evidence: Sequence[Evidence | None] | None) -> Self:
        learned, self.from_nearest_, self.threshold_ = self._learned, self._learned.from_nearest, 0.0
        if evidence is None:
            self.w_, self.intercept_ = learned.linear
        elif self.prior == "cv":
            self.answer_choice_: AnswerChoice = choose_answer_weight(learned, evidence, self.C)
            self.w_, self.intercept_ = self.answer_choice_.linear
        else:
            self.w_, self.intercept_ = learned.with_answers(evidence, prior=self.prior, C=self.C)
        return self

    def at_threshold(
        self,
        *,
        threshold: float | None = None,
        precision: float | None = None,
        score: float | None = None,
        beats_rivals: bool = False,
        matched: bool = False,
    ) -> Self:
        """The same model with another place of zero: pairs that score less speak against each other.

        One of ``threshold``, ``precision`` and ``score`` (of the model as it was learned) is wanted. Nothing
        was held out, so a threshold is one of the model's own probabilities, and a precision the same: if all
        pairs put together are at least so likely, by the model itself, so is the share that is right. The
        others are parameters of `SupervisedCorrelationClustering` alone.
        """
        if sum(given is not None for given in (threshold, precision, score)) != 1:
            raise ValueError("one of threshold, precision and score is wanted")
        if beats_rivals:
            raise ValueError("rivals are for a model that has seen labels")
        moved, probability = copy(self), threshold if precision is None else precision
        if probability is not None:
            if not 0.0 < probability < 1.0:
                raise ValueError(f"a probability between 0 and 1 is wanted, not {probability!r}")
            score = float(logit(probability))
        assert score is not None
        moved.threshold_ = float(score)
        return moved

    def linear_similarity(self) -> tuple[Floats, float] | None:
        linear = super().linear_similarity()
        return None if linear is None else (linear[0], linear[1] - self._threshold)

    @property
    def _threshold(self) -> float:
        return float(getattr(self, "threshold_", None) or 0.0)

    def pair_probabilities(self, scores: Floats | PairScores) -> Floats:
        """The probability that pairs with these similarities belong together, by the model itself."""
        values = scores.list_pairs().values if isinstance(scores, PairScores) else scores
        return np.asarray(expit(np.asarray(values) + self._threshold))

    def item_probability(self, scores: PairScores, labels: Ints) -> Floats:
        """The probability that each item is in the right cluster, by the model itself."""
        return learning.calibration.believed_in_place(scores.above(-self._threshold), labels)

    def group_scores(
        self,
        scores: PairScores,
        evidence: Evidence | None = None,
        options: GroupingOptions | None = None,
        *,
        confidence: bool = False,
    ) -> Grouping:
        # Nothing was held out: elsewhere the confidence is the score that an item would lose.
        doubted = options is not None and options.reject_below is not None
        own = self.item_probability if doubted else None
        return learning.group_scores(
            scores, self._predictor(), evidence, options, confidence=confidence, item_probabilities=own
        )

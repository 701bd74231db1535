"""Supervised correlation clustering in scikit-learn's manner."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np
from scipy.optimize import Bounds
from sklearn.utils.validation import check_is_fitted

from clustruct import learning
from clustruct.core.exceptions import ChoiceWarning, ReliabilityWarning
from clustruct.core.partitions import UNKNOWN
from clustruct.core.storage import register
from clustruct.core.typing import Floats, Ints, Labels
from clustruct.data import ItemSet, PairScores, pair_table
from clustruct.data.matrices import dense
from clustruct.losses import as_loss
from clustruct.search import oracles

from .base import SimilarityLearning
from .inputs import Sets, read_labels
from .table_sketch import FEWEST_ITEMS, MOST_FEATURES, SurestPairs, TableSketch

if TYPE_CHECKING:
    from clustruct.features import UncomparedPairs
    from clustruct.learning.calibration import Calibration, Dial
    from clustruct.learning.calibration.held_out import OutOfFoldSets
    from clustruct.learning.model_selection.choose_c import Choice
    from clustruct.learning.problems import SimilarityTask
    from clustruct.search.oracles import Oracle

Unlabelled: TypeAlias = Literal["apart", "unknown"]


@register("SupervisedCorrelationClustering")
@dataclass(eq=False, repr=False)
class SupervisedCorrelationClustering(SimilarityLearning):
    """Learn from example clusterings how to cluster new sets; the number of clusters is found, not given.

    A similarity K_ab = <w, psi_ab> of pairs is learned by a structural SVM such that correlation clustering,
    which maximises the sum of K over pairs put together, reproduces the examples::

        min over w   1/2 |w|^2 + C mean_i xi_i
        for every set i and every clustering y:
            <w, Psi(x_i, y_i)> - <w, Psi(x_i, y)> >= Delta(y_i, y) - xi_i

    (Finley and Joachims, "Supervised clustering with support vector machines", ICML 2005.)

    Parameters
    ----------
    C : float or "cv"
        Weight of the training loss against simplicity. "cv" chooses it by holding sets out; with one or two
        sets that list their pairs, by holding whole clusters out inside them (10 with fewer than 12 clusters
        of two items and more); with one or two others it is the middle of the grid.
    loss : "pairwise", "pairwise_f", "mitre", "purity", a Loss, or a function of two label vectors
        What counts as an error, see `clustruct.losses`.
    scaling, slack_norm, formulation
        The kind of structural SVM, see `clustruct.ssvm.fit`.
    rescale : bool
        Divide features by their root mean square, take means over pairs, and measure C in the unit that the
        data suggest, so that C = 1 is a fair choice. False is the problem of the 2005 paper.
    C_grid : sequence of float, optional
        The values tried for C="cv"; by default powers of ten, as long as they are better.
    cv : int
        Folds for C="cv".
    rtol, max_iter : float, int
        When training ends: relative duality gap, rounds.
    n_jobs : int, optional
        Sets searched in parallel.
    random_state : int, default=0
        Seed, or a generator, of whatever is drawn.
    verbose : int
        1 prints how the training goes.
    average_folds : bool
        With C="cv" the weights are the mean of those of all trainings at the chosen C, on each fold and on
        all.
    memory_limit : int or str, optional
        What needs more (bytes, or words such as "8G") is refused; by default what needs more than there is.
    checkpoint : path, optional
        A fit that was cut short goes on from this file, if its data and settings are the same; otherwise the
        file is refused. It is removed when the training has converged.
    oracle : "greedy", "local_search", "lp" or "exact"
        How training looks for the most violated clustering. Greedy is fast and rarely worse.
    predictor : str
        How `predict` clusters: "greedy", "local_search", "exact", "lp" (the clustering nearest to the linear
        relaxation, improved), "lp_algorithm5" or "lp_ball" (rounded as the papers do), "components" or
        "nearest_mate" (pairs joined one by one).
    loss_in_oracle : bool
        Whether the search for violated clusterings looks at the loss.
    nonnegative : bool, or list of names of features
        Keep all weights, or those of these features, at or above zero.
    unlabelled : "apart" or "unknown"
        What is known of an item without a label (None, NaN or -1). "apart": labelled clusters are complete,
        so it belongs to none of them. "unknown": pairs with it are not judged but completed by what the model
        says.
    calibrate : "auto", True or False
        Whether `fit` learns probabilities, from the data held out when C is chosen. "auto": where C is
        chosen. True: with a C that is given, too, for three more trainings.
    surrogates : sequence of str
        Names of further losses that are trained for, with either scaling and each C (10 and 100, or
        ``C_grid``); held-out sets judge all trainings by ``loss``, and the weights are the mean of the best
        ones.
    n_averaged : int
        How many trainings are averaged where there are ``surrogates``.

    Attributes
    ----------
    w_
        Weights in the units of the input, one per feature.
    feature_scale_
        What each feature was divided by for training; ``w_ * feature_scale_`` compares weights.
    C_
        The C used.
    cv_results_
        Mean loss per C of the grid, where C="cv"; with ``surrogates`` of each training, the best first.
    result_
        FitResult of the last training, with history and certificate.
    shown_
        Sizes, pairs and scores of the training sets; `predict` warns of sets far from them.
    held_out_
        `HeldOutF`: pairwise F of what was held out when C was chosen, with an interval; None where nothing
        was.
    guess_share_
        How much of the similarity is what was guessed without labels, between 0 and 1.
    calibration_
        `Calibration`, or None where the model has no probabilities.
    sketch_
        `TableSketch` of the training sets, or None: what promises of precision are withdrawn by.
    threshold_, beats_rivals_
        What similarities are measured from, and whether rivals must be beaten (see `at_threshold`).
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from clustruct import ItemSet, SupervisedCorrelationClustering
    >>> rng = np.random.default_rng(0)
    >>> def toy():
    ...     y = rng.integers(0, 3, 12)
    ...     a, b = np.triu_indices(12, 1)
    ...     same = (y[a] == y[b]) + 0.3 * rng.normal(size=len(a))
    ...     return ItemSet(pairs=np.column_stack([same, np.ones(len(a))])), y
    >>> train, test = [toy() for _ in range(6)], [toy() for _ in range(3)]
    >>> model = SupervisedCorrelationClustering(C=10.0).fit(*zip(*train))
    >>> model.score(*zip(*test)) > 0.95
    True
    """

    oracle: str = "greedy"
    predictor: str = "local_search"
    loss_in_oracle: bool = True
    nonnegative: bool | list[str] = False
    unlabelled: Unlabelled = "apart"
    calibrate: Literal["auto"] | bool = "auto"
    surrogates: Sequence[str] = ()
    n_averaged: int = 5

    fitted: ClassVar = {
        **SimilarityLearning.fitted,
        "held_out_": ("HeldOutF", None),
        "guess_share_": float | None,
        "calibration_": ("Calibration", None),
        "sketch_": ("TableSketch", None),
        "threshold_": float | None,
        "beats_rivals_": bool | None,
    }

    def check_parameters(self) -> None:
        super().check_parameters()
        if not {self.oracle, self.predictor} <= {*oracles.SEARCHES}:  # files load without their searches
            self._check_searches()
        if self.unlabelled not in get_args(Unlabelled):
            raise ValueError(f"unlabelled must be 'apart' or 'unknown', not {self.unlabelled!r}")
        if self.calibrate not in ("auto", True, False):
            raise ValueError(f"calibrate must be 'auto', True or False, not {self.calibrate!r}")
        named = isinstance(self.nonnegative, list) and all(isinstance(n, str) for n in self.nonnegative)
        if not named and not isinstance(self.nonnegative, bool | np.bool_):
            raise ValueError("nonnegative must be true, false or a list of names of features")
        self._check_surrogates()

    def _check_surrogates(self) -> None:
        if isinstance(self.surrogates, str) or not all(isinstance(name, str) for name in self.surrogates):
            raise ValueError(f"surrogates must be a list of names of losses, not {self.surrogates!r}")
        if (
            isinstance(self.n_averaged, bool)
            or not isinstance(self.n_averaged, Integral)
            or self.n_averaged < 1
        ):
            raise ValueError(f"n_averaged must be a whole number of 1 at least, not {self.n_averaged!r}")
        for name in self.surrogates:
            as_loss(name)
        if self.surrogates and self.checkpoint is not None:
            raise ValueError("a checkpoint is of one loss: it does not go with surrogates")

    def set_surroundings(
        self,
        rest: Sequence[UncomparedPairs | None] = (),
        out_of_fold: OutOfFoldSets | None = None,
        guess: Floats | None = None,
    ) -> Self:
        """The clusterer itself, whose next `fit` judges held-out items and learns probabilities as prediction
        will need them: ``rest`` are for each set the further pairs of its unlabelled items, which it does not
        list but prediction will; ``out_of_fold`` makes held-out sets by features that were fitted without
        them; ``guess`` has weights that were found without labels (of one table), which are mixed with those
        learned as far as held-out clusters speak for it.
        """
        self._around = rest, out_of_fold, guess
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

        One of ``threshold`` (a probability), ``precision`` (the share of pairs put together that is to be
        right) and ``score`` (of the model as it was trained) is wanted. With ``beats_rivals`` a pair must
        score so much more than what either item has with another cluster, too; a precision says so itself.
        With ``matched`` the threshold is on the probability of pairs that are matched one to one, if the
        model has it.
        """
        if sum(given is not None for given in (threshold, precision, score)) != 1:
            raise ValueError("one of threshold, precision and score is wanted")
        if threshold is not None:
            score = self.probabilities().threshold(threshold, matched=matched)
        elif precision is not None:
            dial = self.dial(precision)
            score, beats_rivals = dial.threshold, dial.beats_rivals
        assert score is not None
        moved = copy(self)
        moved.threshold_, moved.beats_rivals_ = float(score), beats_rivals
        shown = getattr(self, "shown_", None)
        if shown is not None:
            moved.shown_ = replace(shown, scores=shown.scores - (moved.threshold_ - self._threshold))
        return moved

    def dial(self, precision: float, *, rivals: bool = True) -> Dial:
        """The threshold for a precision, and what it costs on held-out clusters."""
        return self.probabilities().precision(precision, rivals=rivals)

    def probabilities(self) -> Calibration:
        """What scores mean; ValueError where that was not learned."""
        check_is_fitted(self)
        found = getattr(self, "calibration_", None)
        if found is None:
            raise ValueError(
                "the model has no probabilities: fit it again with C chosen (--C cv), or with calibrate=True "
                "(--calibrate), from three sets or twelve labelled clusters of two items at least"
            )
        return found

    @property
    def _threshold(self) -> float:
        return float(getattr(self, "threshold_", None) or 0.0)

    def linear_similarity(self) -> tuple[Floats, float] | None:
        linear = super().linear_similarity()
        return None if linear is None else (linear[0], -self._threshold)

    def pair_probabilities(self, scores: Floats | PairScores) -> Floats:
        """The probability that pairs with these similarities belong together. Of all compared pairs of a set
        (`PairScores`): how many mates two items are expected to have counts, too, where that was found to
        help.
        """
        if isinstance(scores, PairScores):
            return self.probabilities().of_pairs(scores.above(-self._threshold))
        return self.probabilities().probability(np.asarray(scores) + self._threshold)

    def match_probabilities(self, scores: Floats) -> Floats:
        """The probability that pairs with these similarities, which were matched one to one, belong
        together: they have won a contest.
        """
        return self.probabilities().of_matches(np.asarray(scores) + self._threshold)

    def item_probability(self, scores: PairScores, labels: Ints) -> Floats:
        """The probability that each item is in the right cluster, by the similarities of its pairs."""
        return self.probabilities().item_probability(scores.above(-self._threshold), labels)

    def _deliver(self, task: SimilarityTask, chosen: Choice) -> Choice:
        rest, _, guess = self.__dict__.get("_around", ((), None, None))
        try:
            found = learning.model_selection.mix_with_guess(task, chosen, self.w_, guess, rest)
        except KeyboardInterrupt:  # what was learned is kept
            warnings.warn("interrupted: nothing was held out", ChoiceWarning, stacklevel=3)
            return replace(chosen, folds=())
        self.w_, self.held_out_, self.guess_share_ = found.w, found.held_out, found.share
        return replace(chosen, folds=found.folds)

    def _calibrate(self, task: SimilarityTask, chosen: Choice | None) -> None:
        wanted = self.C == "cv" if self.calibrate == "auto" else self.calibrate
        rest, out_of_fold, _ = self.__dict__.pop("_around", ((), None, None))
        self.threshold_, self.beats_rivals_, self.calibration_, self.sketch_ = 0.0, False, None, None
        try:
            if wanted and chosen is not None:
                self.calibration_ = learning.calibration.calibrate_task(
                    task, chosen, self.w_, self.random_state, rest, out_of_fold
                )
        except KeyboardInterrupt:  # what was learned is kept
            warnings.warn("interrupted: the model has no probabilities", ChoiceWarning, stacklevel=3)
            return
        if self.calibration_ is not None:
            self.sketch_ = self._sketch(task)
        if self.calibrate is True and self.calibration_ is None:
            why = "too few sets, clusters or pairs can be held out to learn them from"
            warnings.warn(f"the model has no probabilities: {why}", ChoiceWarning, stacklevel=3)

    def _sketch(self, task: SimilarityTask) -> TableSketch | None:
        """What the surest pairs of the labelled items are like; they alone have all their pairs."""
        found, alone = [], []
        for region in task.regions:
            scores = task.predictor.scores(region.x, self.w_)
            surest = SurestPairs.of(scores, region.known_items)
            found.append(self._sketched_values(pair_table(region.x, surest.pairs), surest))
            alone.append(surest.alone)
        values = np.concatenate(found)
        if len(values) < FEWEST_ITEMS:
            return None
        return TableSketch.of(values, self._sketched_names(), float(np.mean(alone)))

    def _sketched_names(self) -> list[str]:
        names = [str(name) for name in getattr(self, "feature_names_in_", range(self.n_features_in_))]
        return [*(names if len(names) <= MOST_FEATURES else []), "score"]

    def _sketched_values(self, features: Any, surest: SurestPairs) -> Floats:
        """The features, if they are not too many, and the score as the model was trained."""
        scores = (surest.scores + self._threshold)[:, None]
        return np.hstack([dense(features), scores]) if features.shape[1] <= MOST_FEATURES else scores

    def warn_unlike(self, features: Sequence[Any], surest: Sequence[SurestPairs]) -> None:
        """Withdraw the promise of a precision where the surest pairs of sets, given with their features, are
        unlike those learned from.
        """
        sketch, promised = getattr(self, "sketch_", None), getattr(self, "promised_", None)
        if sketch is None or promised is None:
            return
        rows = zip(features, surest, strict=True)
        values = np.concatenate([self._sketched_values(x, pairs) for x, pairs in rows])
        if len(values) < FEWEST_ITEMS:
            return
        found = sketch.differs_from(values, float(np.mean([pairs.alone for pairs in surest])))
        if found.is_far:
            warnings.warn(
                f"precision {promised:g} is not promised here: this table is unlike what was learned from "
                f"({found.name}); label some of its groups and learn from them, too",
                ReliabilityWarning,
                stacklevel=3,
            )

    def _choice(self, task: SimilarityTask, groups: Sequence[Hashable] | None) -> Choice:
        if not self.surrogates:
            return super()._choice(task, groups)
        return learning.model_selection.best_surrogates(
            task,
            self.surrogates,
            Cs=self.C_grid if self.C == "cv" else (float(self.C),),
            n_averaged=self.n_averaged,
            folds=self.cv,
            groups=groups,
            random_state=self.random_state,
        )

    def _can_continue(self, task: SimilarityTask) -> bool:
        return super()._can_continue(task) and not self.surrogates  # planes of another loss

    def _read_labels(self, y: object, given: Sets) -> list[Labels]:
        return read_labels(y, given)

    def _check_training_sets(self, sets: list[ItemSet], labels: list[Labels]) -> None:
        known = [np.flatnonzero(y != UNKNOWN) for y in labels]
        own = [x if len(a) == x.n_items else x.subset(a) for x, a in zip(sets, known, strict=True)]
        learning.model_selection.warn_of_products(own, [y[a] for y, a in zip(labels, known, strict=True)])

    def _oracle(self) -> Oracle:
        return oracles.make_oracle(self.oracle, self.clustering_objective, loss_in_oracle=self.loss_in_oracle)

    def _nonnegative(self) -> bool:
        return self.nonnegative is True

    def _conditions(self) -> Any:
        if isinstance(self.nonnegative, bool):
            return super()._conditions()
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        if unknown := sorted(set(self.nonnegative) - set(names)):
            raise ValueError(f"nonnegative: no feature is called {unknown[0]!r}")
        chosen = frozenset(self.nonnegative)
        return Bounds([0.0 if name in chosen else -np.inf for name in names], np.inf)

    def _similarity(self, x: ItemSet) -> Any:
        if self._threshold == 0.0:
            return x.similarity(self.w_, sparse=x.is_sparse)
        scores = self._set_scores(x)
        return learning.symmetric_scores(scores) if scores.is_sparse else scores.matrix

    def _set_scores(self, x: ItemSet) -> PairScores:
        return super()._set_scores(x).above(self._threshold)

    def _search_options(self, scores: PairScores) -> dict[str, Any]:
        """Where pairs must beat rivals, they are clustered by scores less those of the best rivals."""
        known = getattr(self, "calibration_", None) is not None
        asked: dict[str, Any] = {"item_probabilities": self.item_probability if known else None}
        if getattr(self, "beats_rivals_", None):
            plain = scores.above(-self._threshold)
            lowered = learning.calibration.less_rivals(
                plain, learning.search_groups(self._predictor(), plain)
            )
            asked["contested"] = lowered.above(self._threshold)
        return asked

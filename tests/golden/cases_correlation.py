"""Supervised correlation clustering, its baselines and its searches."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from . import data, names
from .record import case


def describe_model(model, Z, t):
    """Training, weights, and what is predicted for new sets."""
    return {
        **names.fit_numbers(names.result(model)),
        "weights": names.weights(model),
        "labels": model.predict(Z),
        "losses": names.set_losses(model, Z, t),
    }


def learned(sets=None, fit=None, **options):
    (X, y), (Z, t) = sets or data.marbles()
    model = names.make("correlation", **{"C": 1.0, **options})
    return describe_model(names.fitted(model, X, y, **(fit or {})), Z, t)


def half(sets):
    """Half of the sets to learn from, half to predict."""
    X, y = sets
    n = len(X) // 2
    return (X[:n], y[:n]), (X[n:], y[n:])


def wrong_sizes(truth, found):
    """A loss of the user's own: how unlike the numbers of clusters are, and whether any pair is wrong."""
    truth, found = np.asarray(truth), np.asarray(found)
    wrong = (truth[:, None] == truth) != (found[:, None] == found)
    return 40.0 * wrong.any() + 60.0 * wrong.mean()


@case
def correlation_greedy():
    return learned(oracle="greedy", predictor="greedy")


@case
def correlation_local_search():
    return learned(oracle="local_search", predictor="local_search", C=3.0)


@case
def correlation_lp():
    return learned(oracle="lp", predictor="lp")


@case
def correlation_exact():
    return learned(oracle="exact", predictor="exact")


@case
def correlation_predictors():
    """One model, every way of clustering; similarities too."""
    (X, y), (Z, _) = data.marbles(noise=3.0)
    model = names.make("correlation", C=1.0).fit(X, y)
    found = {
        p: names.changed(model, predictor=p).predict(Z) for p in ("greedy", "local_search", "lp", "exact")
    }
    return {**found, "similarity": model.decision_function(Z)[0][:4], "score": model.score(X, y)}


@case
def correlation_losses():
    given = {
        "pairwise": names.loss("pairwise"),
        "costs": names.loss("pairwise", merge_cost=3.0, split_cost=0.5),
        "mitre": "mitre",
        "purity": "purity",
        "function": wrong_sizes,
    }
    return {name: learned(loss=loss, C=2.0) for name, loss in given.items()}


@case
def correlation_slack_rules():
    rules = [("margin", 2), ("slack", 1), ("slack", 2)]
    losses, found = ("pairwise", "mitre"), {}
    for scaling, norm in rules:
        for loss in losses:
            found[f"{scaling} {norm} {loss}"] = learned(
                scaling=scaling, slack_norm=norm, loss=loss, max_iter=100
            )
    found["local_search"] = learned(scaling="slack", loss="purity", oracle="local_search", max_iter=100)
    return found


@case
def correlation_formulations():
    found = {f: learned(formulation=f, rtol=1e-4) for f in ("n_slack", "one_slack", "auto")}
    found["one_slack slack"] = learned(formulation="one_slack", scaling="slack")
    found["one_slack exact"] = learned(data.marbles(n_items=8), formulation="one_slack", oracle="exact")
    return found


@case
def correlation_loss_left_out():
    found = {o: learned(loss_in_oracle=False, oracle=o) for o in ("greedy", "exact")}
    found["mitre"] = learned(loss_in_oracle=False, loss="mitre", scaling="slack")
    return found


def turned(x):
    """Marbles with likeness in place of difference, and a constant that pushes apart."""
    rows = names.pair_rows(x)
    return names.item_set(pairs=np.column_stack([np.exp(-3.0 * rows[:, :4]), -rows[:, 4]]))


@case
def correlation_nonnegative():
    sets = half(([turned(x) for x in data.marbles()[0][0]], data.marbles()[0][1]))
    found = {f: learned(sets, nonnegative=True, formulation=f, C=5.0) for f in ("n_slack", "one_slack")}
    found["lp"] = learned(sets, nonnegative=True, oracle="lp", C=5.0)
    found["all at zero"] = learned(nonnegative=True, C=5.0)["weights"]
    return found


@case
def correlation_paper_units():
    return {o: learned(rescale=False, oracle=o, C=1e5) for o in ("greedy", "lp")}


@case
def correlation_chosen_C():
    (X, y), (Z, t) = data.marbles(n_train=6, noise=3.0)
    found = {}
    for name, fit in {"plain": {}, "groups": {"groups": [0, 0, 1, 1, 2, 2]}}.items():
        model = names.make("correlation", C="cv", C_grid=[0.01, 0.3, 10.0], cv=3, random_state=1)
        names.fitted(model, X, y, **fit)
        held_out = names.losses_of_choice(model)
        found[name] = {"C": names.chosen_C(model), "losses of C": held_out, **describe_model(model, Z, t)}
    few = names.make("correlation").fit(X[:2], y[:2])
    listed, labels = data.listed_sets()
    one = names.make("correlation").fit(listed[:1], labels[:1])
    return {**found, "two sets": names.chosen_C(few), "one set that lists its pairs": names.chosen_C(one)}


@case
def correlation_tables_and_groups():
    """One table cut into sets by groups, tables as a list, and weights of sets."""
    tables, labels = data.tables()
    rows, y = np.concatenate(tables[:3]), np.concatenate(labels[:3])
    groups = np.repeat([0, 1, 2], len(tables[0]))
    model = names.make("correlation", C=1.0)
    cut = names.fitted(model, rows, y, groups=groups)
    found = {"cut": {**names.fit_numbers(names.result(cut)), "weights": names.weights(cut)}}
    found["predicted table"] = names.predicted(cut, rows, groups=groups)
    found["one set"] = names.weights(names.make("correlation", C=1.0).fit(rows, y))
    split = half((tables, labels))
    found["list"] = learned(split)
    found["set weights"] = learned(split, fit={"set_weight": [1.0, 2.5]})
    found["no weight"] = learned(split, fit={"set_weight": [1.0, 0.0]})
    return found


@case
def correlation_mixed_features():
    """Sparse nodes beside pair features of listed pairs: the search is over all pairs."""
    sets = half(data.mixed_sets())
    found = {o: learned(sets, oracle=o) for o in ("greedy", "local_search", "lp")}
    found["mitre slack"] = learned(sets, loss="mitre", scaling="slack")
    return found


@case
def correlation_listed_pairs():
    """Only listed pairs count (margin scaling, slack norm 1, a loss of pairs)."""
    sets = half(data.listed_sets())
    found = {o: learned(sets, oracle=o) for o in ("greedy", "local_search")}
    found["costs"] = learned(sets, loss=names.loss("pairwise", merge_cost=4.0))
    found["one_slack"] = learned(sets, formulation="one_slack")
    found["nonnegative"] = learned(sets, nonnegative=True)
    found["greedy predictor"] = learned(sets, predictor="greedy")["labels"]
    return found


@case
def correlation_listed_pairs_other_rules():
    """A known defect: with these the search of a set that lists its pairs becomes dense."""
    sets = half(data.listed_sets())
    return {
        "slack": learned(sets, scaling="slack", max_iter=60),
        "norm 2": learned(sets, slack_norm=2, max_iter=60),
        "mitre": learned(sets, loss="mitre", max_iter=60),
    }


@case
def pair_classifier():
    (X, y), (Z, t) = data.marbles(noise=3.0)
    kept = {"canopy": {"canopy_feature": 0, "canopy_range": (0.0, 0.5)}}
    found = {}
    for selection in ("all", "canopy", "chain"):
        model = names.make("pair_classifier", selection=selection, **kept.get(selection, {})).fit(X, y)
        found[selection] = {"labels": model.predict(Z), "losses": names.set_losses(model, Z, t)}
        found[selection]["outputs"] = model.decision_function(Z)[0][:3]
    model = names.make("pair_classifier").fit(X, y)
    for predictor in ("greedy", "local_search", "lp", "exact", "components", "nearest_mate"):
        found[predictor] = names.changed(model, predictor=predictor).predict(Z)
    listed, labels = data.listed_sets()
    thin = names.make("pair_classifier", loss="mitre").fit(listed[:2], labels[:2])
    found["listed"] = {
        "labels": thin.predict(listed[2:]),
        "losses": names.set_losses(thin, listed[2:], labels[2:]),
    }
    return found


@case
def default_clustering():
    (X, y), (Z, t) = data.marbles()
    models = {kind: names.make("default", kind=kind).fit(X, y) for kind in ("alone", "together")}
    return {
        kind: {"labels": m.predict(Z), "losses": names.set_losses(m, Z, t), "score": m.score(Z, t)}
        for kind, m in models.items()
    }


@case
def correlation_searches():
    """The searches on anyone's scores: dense and sparse, with links, and the relaxation."""
    found = {}
    for seed in range(3):
        K = data.scores(14, seed)
        thin = sparse.csr_array(np.where(np.abs(K) > 0.4, K, 0.0))
        links = {"must_link": [(0, 5), (2, 3)], "cannot_link": [(1, 4), (0, 2)]}
        for name in names.CORRELATION_SEARCHES:
            answers = {"dense": names.cluster(name, K), "sparse": names.cluster(name, thin)}
            answers["links"] = names.cluster(name, K, **links)
            answers["value"] = names.correlation_objective(K, answers["dense"])
            found[f"{name} {seed}"] = answers
        relaxed, tied = names.lp_relaxation(K), names.lp_relaxation(K, **links)
        rounded = {name: names.round_edges(relaxed, r, K=K) for name, r in names.ROUNDINGS.items()}
        found[f"relaxed {seed}"] = {"values": [names.relaxed_value(r) for r in (relaxed, tied)], **rounded}
    return found

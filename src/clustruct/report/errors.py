"""The sections of errors: clusters split and merged, wrong pairs explained."""

from __future__ import annotations

from collections.abc import Iterator

from clustruct.explain import Mixture, WrongPair, pair_contributions
from clustruct.plot._drawing import counted
from clustruct.plot.contributions import PairContributionDisplay

from .figures import new_axes
from .findings import Findings, SetFindings
from .items import item_html, item_name, places
from .page import Html, details, picture, section, text

MOST_ERRORS = 20
MOST_ITEMS = 8
MOST_PAIRS = 4


def split_merge_section(findings: Findings) -> tuple[str, Html] | None:
    """The worst clusters of all sets; each opens to its items."""
    known = findings.labelled
    if not known:
        return None
    errors = [(mixture, kind, one) for one in known for mixture, kind in _errors(one)]
    errors.sort(key=lambda e: -e[0].pairs)
    if not errors:
        return section("Splits and merges", "<p>No cluster was split or merged: every set is right.</p>")
    splits = sum(kind == "split" for _, kind, _ in errors)
    words = (
        f"<p>True clusters split: {splits:,}. Predicted clusters that mix some: {len(errors) - splits:,}. "
        "The worst first; open a line to see the items.</p>"
    )
    lines = [_told(*error) for error in errors[:MOST_ERRORS]]
    hidden = len(errors) - len(lines)
    rest = f'<p class="note">{hidden:,} lesser ones are not listed.</p>' if hidden else ""
    return section("Splits and merges", words, *lines, rest)


def _errors(one: SetFindings) -> Iterator[tuple[Mixture, str]]:
    assert one.errors is not None
    yield from ((mixture, "split") for mixture in one.errors.splits)
    yield from ((mixture, "merge") for mixture in one.errors.merges)


def _told(mixture: Mixture, kind: str, one: SetFindings) -> Html:
    sizes = " + ".join(str(len(p.items)) for p in mixture.pieces[:10])
    sizes += " + …" if len(mixture.pieces) > 10 else ""
    if kind == "split":
        words = f"true cluster <b>{text(mixture.cluster, 60)}</b> split: {sizes} items"
        cost = f"{counted(mixture.pairs, 'pair')} lost"
    else:
        words = f"predicted cluster <b>{text(mixture.cluster, 60)}</b> mixes true clusters: {sizes} items"
        cost = counted(mixture.pairs, "wrong pair")
    head = Html(f"{text(one.name, 60)}: {words} <span class=wrong>({cost})</span>")
    other = "predicted" if kind == "split" else "true"
    at = places(one)
    lines = []
    for piece in mixture.pieces[:10]:
        shown = "<br>".join(item_html(one.raw, at[name]) for name in piece.items[:MOST_ITEMS])
        more = len(piece.items) - MOST_ITEMS
        shown += f"<br><span class=soft>and {more:,} more</span>" if more > 0 else ""
        lines.append(f"in {other} cluster {text(piece.cluster, 60)}:<br>{shown}")
    return details(head, lines)


def pair_section(findings: Findings) -> tuple[str, Html] | None:
    """Wrong pairs that the model is most sure of, of both kinds, each explained feature by feature."""
    chosen = _worst_pairs(findings)
    parts = []
    for one, pair in chosen:
        x = findings.item_set(one)
        try:
            found = pair_contributions(findings.model, x, pair.a, pair.b, one.labels)
        except ValueError:  # a model without weights of features
            return None
        ax = new_axes(6.8, 1.5 + 0.3 * (len(found.largest(10)) + 1))
        ids = [item_name(one.raw, a) for a in range(len(one.raw))]
        display = PairContributionDisplay.from_predictions(found, ids=ids, n=10, ax=ax)
        wrong = "together, but should be apart" if pair.together else "apart, but should be together"
        parts += [
            f"<p><b>{text(one.name, 60)}</b>: <span class=wrong>{wrong}</span><br>",
            f"{item_html(one.raw, pair.a)}<br>{item_html(one.raw, pair.b)}</p>",
            picture(display, f"contributions of the features to a pair of set {one.name}"),
        ]
    return section("Wrong pairs explained", *parts) if parts else None


def _worst_pairs(findings: Findings) -> list[tuple[SetFindings, WrongPair]]:
    """Half of them wrongly together and half wrongly apart where there are both; no item twice."""
    pairs = [(one, pair) for one in findings.labelled for pair in one.wrong]
    pairs.sort(key=lambda p: -p[1].similarity if p[1].together else p[1].similarity)
    chosen: list[tuple[SetFindings, WrongPair]] = []
    used: set[tuple[int, int]] = set()
    room = {True: MOST_PAIRS // 2, False: MOST_PAIRS // 2}
    for one, pair in pairs:
        items = {(one.number, pair.a), (one.number, pair.b)}
        if room[pair.together] and not items & used:
            room[pair.together] -= 1
            used |= items
            chosen.append((one, pair))
    return chosen

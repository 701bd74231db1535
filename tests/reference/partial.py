"""Partial labels by their definition: pairs of the whole set, one by one."""

from itertools import combinations


def judged_pairs(labels, listed):
    """The listed pairs that have an item with a label (not -1)."""
    return [(a, b) for a, b in listed if labels[a] >= 0 or labels[b] >= 0]


def apart(labels, a, b):
    """Whether a judged pair is apart: different labels, or one of them not known."""
    return labels[a] < 0 or labels[a] != labels[b]


def violation(K, labels, listed, y):
    """Delta + gain over the judged listed pairs, each in units of their number; losses up to 100."""
    pairs = judged_pairs(labels, listed)
    wrong = sum((y[a] == y[b]) == apart(labels, a, b) for a, b in pairs)
    gain = sum(K[a, b] * (int(y[a] == y[b]) - int(not apart(labels, a, b))) for a, b in pairs)
    return (wrong + gain) / len(pairs)


def pairwise_f(labels, y, listed):
    """100 (1 - F) over the listed pairs that have an item with a label."""
    pairs = judged_pairs(labels, listed)
    true = sum(not apart(labels, a, b) for a, b in pairs)
    found = sum(y[a] == y[b] for a, b in pairs)
    both = sum(y[a] == y[b] and not apart(labels, a, b) for a, b in pairs)
    return 100.0 * (1.0 - 2.0 * both / (true + found)) if true + found else 0.0


def touching_counts(clusters, y, cluster, unknown_apart):
    """Pairs together rightly, by y and by the truth that touch a cluster; a half for pairs with another."""
    right = found = true = 0.0
    for a, b in combinations(range(len(y)), 2):
        pair = (clusters[a], clusters[b])
        if cluster not in pair or (not unknown_apart and -1 in pair):
            continue
        same = pair[0] == pair[1]
        share = 1.0 if same else 0.5
        right += same and y[a] == y[b]
        found += share * (y[a] == y[b])
        true += same
    return [right, found, true]

"""Terms of texts, their tf-idf and nearest rows, string by string: slow and plain."""

from collections import Counter

import numpy as np

from clustruct.data import as_text, fold
from clustruct.features.vocabulary import split_codes, split_letters, split_words

SPLIT = {"words": split_words, "letters": split_letters, "codes": split_codes}


def item_terms(table, fields, views):
    """The terms of each item: its fields as one text, split in each way."""
    texts = [" \n ".join(as_text(item.get(f)) for f in fields) for item in table.items]
    return [[term for view in views for term in SPLIT[view](fold(text))] for text in texts]


def counters(table):
    """The terms of each item of a table, with how often it has them."""
    rows = [
        {
            word: int(count)
            for word, count in zip(
                table.vocabulary.words(table.indices[low:high]), table.counts[low:high], strict=True
            )
        }
        for low, high in zip(table.indptr[:-1], table.indptr[1:], strict=True)
    ]
    return rows if table.codes is None else [rows[code] for code in table.codes]


def n_with(items):
    """How many items have each term."""
    return Counter(term for terms in items for term in set(terms))


def unit_rows(items):
    """tf-idf vectors of length one as mappings, idf from these items alone."""
    df, out = n_with(items), []
    idf = {t: np.log((1 + len(items)) / (1 + c)) + 1 for t, c in df.items()}
    for terms in items:
        row = {t: c * idf[t] for t, c in Counter(terms).items()}
        norm = np.sqrt(sum(x * x for x in row.values())) or 1.0
        out.append({t: x / norm for t, x in row.items()})
    return out


def products(items, common, most):
    """Products of each two rows over the terms of 2..common items, and over pairs of more common ones.

    Two terms of more than `common` items that no more than `common` items have both, weighted by the length
    of their part of the row. (Rows here have no more common terms than are taken.)
    """
    df, rows, m = n_with(items), unit_rows(items), len(items)
    terms = []
    for row in rows:
        held = {t: x for t, x in row.items() if df[t] <= common}
        many = sorted(t for t in row if common < df[t] <= most)
        held |= {(s, t): np.hypot(row[s], row[t]) for s in many for t in many if s < t}
        terms.append(held)
    shared = Counter(t for row in terms for t in row)
    K = np.zeros((m, m))
    for a in range(m):
        for b in range(m):
            both = [t for t in terms[a] if t in terms[b] and 1 < shared[t] <= common]
            K[a, b] = sum(terms[a][t] * terms[b][t] for t in both)
    return K

"""Numba kernels: nearest rows of sparse unit rows by an inverted index; pairs of common terms."""

import numpy as np

from clustruct.core.jit import kernel

_SHIFT = np.uint64(32)


@kernel()
def needs_pairs(terms, frequency, asked, since, a, common, most):
    """Whether item a needs those of its terms that nobody asks for: those in pairs, to choose its rarest."""
    if a >= since:
        return True
    n = 0
    for t in terms:
        n += asked[t] and common < frequency[t] <= most
    return n > 1


@kernel()
def row_length(first, last, indices, counts, idf, norm, row):
    """The length of a row, worked out if that was not done; 1 for a row of zeros."""
    if np.isnan(norm[row]):
        square = 0.0
        for k in range(first, last):
            square += (counts[k] * idf[indices[k]]) ** 2
        norm[row] = np.sqrt(square)
    return norm[row] if norm[row] > 0.0 else 1.0


@kernel()
def unit_rows(codes, indptr, indices, counts, idf, norm, frequency, asked, since, common, most):
    """A row of tf-idf of length one for each item, which has the row of its code.

    Of the items before ``since`` only the terms that are ``asked`` and, where two of these are used in pairs,
    the others of that kind. What is NaN of ``norm`` is computed.
    """
    new = np.zeros(codes.size + 1, np.int64)
    size = 0
    for a in range(codes.size):
        size += indptr[codes[a] + 1] - indptr[codes[a]]
    terms, weights = np.empty(size, np.int32), np.empty(size, np.float32)
    to = 0
    for a in range(codes.size):
        first, last = indptr[codes[a]], indptr[codes[a] + 1]
        own = indices[first:last]
        in_pairs = needs_pairs(own, frequency, asked, since, a, common, most)
        length = 0.0
        for k in range(first, last):
            t = indices[k]
            if asked[t] or (in_pairs and common < frequency[t] <= most):
                if length == 0.0:
                    length = row_length(first, last, indices, counts, idf, norm, codes[a])
                terms[to], weights[to] = t, counts[k] * idf[t] / length
                to += 1
        new[a + 1] = to
    return new, terms[:to].copy(), weights[:to].copy()


@kernel()
def rarer(s, t, frequency, names):
    """Whether term s comes before term t: fewer items have it; of equal ones by name, not by number, which
    would depend on the order of items.
    """
    return frequency[s] < frequency[t] or (frequency[s] == frequency[t] and names[s] < names[t])


@kernel()
def common_pairs(indptr, terms, weights, frequency, names, common, most, longest):
    """Each two of a row's terms that more than ``common`` and at most ``most`` items have, as one key.

    Of such terms the ``longest`` rarest are taken. The weight of two is the length of their part of the row.
    """
    m = indptr.size - 1
    new = np.zeros(m + 1, np.int64)
    keys = np.empty(m * (longest * (longest - 1) // 2), np.uint64)
    pair_weights = np.empty(keys.size, np.float32)
    chosen, n = np.empty(longest, np.int64), 0
    for a in range(m):
        size = 0
        for k in range(indptr[a], indptr[a + 1]):
            df = frequency[terms[k]]
            if df <= common or df > most:
                continue
            if size < longest:
                size += 1
            elif not rarer(terms[k], terms[chosen[size - 1]], frequency, names):
                continue
            j = size - 1
            while j > 0 and rarer(terms[k], terms[chosen[j - 1]], frequency, names):
                chosen[j] = chosen[j - 1]
                j -= 1
            chosen[j] = k
        for i in range(size):
            for j in range(i + 1, size):
                s, t = chosen[i], chosen[j]
                low, high = min(terms[s], terms[t]), max(terms[s], terms[t])
                keys[n] = (np.uint64(low) << _SHIFT) | np.uint64(high)
                pair_weights[n] = np.sqrt(weights[s] ** 2 + weights[t] ** 2)
                n += 1
        new[a + 1] = n
    return new, keys[:n].copy(), pair_weights[:n].copy()


@kernel()
def postings(indptr, terms, weights, frequency, most):
    """The items that have each term, in order, with their weights; none of a term of one item or of too many.

    Returns starts by term, items, weights.
    """
    n_terms = frequency.size
    starts = np.zeros(n_terms + 1, np.int64)
    for t in range(n_terms):
        starts[t + 1] = starts[t] + (frequency[t] if 1 < frequency[t] <= most else 0)
    to = starts[:-1].copy()
    items, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    for a in range(indptr.size - 1):
        for k in range(indptr[a], indptr[a + 1]):
            t = terms[k]
            if 1 < frequency[t] <= most:
                items[to[t]], values[to[t]] = a, weights[k]
                to[t] += 1
    return starts, items, values


@kernel()
def add_products(terms, weights, starts, items, values, sums, touched, n):
    """Add the products of one row with all others; returns how many others have one."""
    for k in range(terms.size):
        for p in range(starts[terms[k]], starts[terms[k] + 1]):
            b = items[p]
            if sums[b] == 0.0:
                touched[n] = b
                n += 1
            sums[b] += weights[k] * values[p]
    return n


@kernel()
def take_best(own, source, sums, touched, n, best, out):
    """The items of the largest sums that are not of the source ``own``, of equal ones those that come first;
    the sums are zero then. They are compared with fewer digits than they have: what is equal but for the
    order in which it was summed counts as equal.
    """
    size, most = 0, out.size
    for i in range(n):
        b = touched[i]
        s = np.float32(sums[b])
        sums[b] = 0.0
        if source[b] == own:
            continue
        if size < most:
            size += 1
        elif s < best[size - 1] or (s == best[size - 1] and b > out[size - 1]):
            continue
        j = size - 1
        while j > 0 and (best[j - 1] < s or (best[j - 1] == s and out[j - 1] > b)):
            best[j], out[j] = best[j - 1], out[j - 1]
            j -= 1
        best[j], out[j] = s, b


@kernel()
def nearest_rows(first, last, rows, row_postings, pairs, pair_postings, source, out):
    """For each item of first..last-1 those of other sources of largest product, by terms and pairs of terms.

    The sums are of weights above zero, so that a sum of zero means one that was not begun.
    """
    indptr, terms, weights = rows
    pair_indptr, pair_terms, pair_weights = pairs
    m = indptr.size - 1
    sums, touched = np.zeros(m), np.empty(m, np.int32)
    best = np.empty(out.shape[1], np.float32)
    for a in range(first, last):
        i, j = indptr[a], indptr[a + 1]
        n = add_products(terms[i:j], weights[i:j], *row_postings, sums, touched, 0)
        i, j = pair_indptr[a], pair_indptr[a + 1]
        n = add_products(pair_terms[i:j], pair_weights[i:j], *pair_postings, sums, touched, n)
        take_best(source[a], source, sums, touched, n, best, out[a - first])


@kernel()
def sharing_pairs(starts, items, source, m):
    """a m + b of each two items a < b of two sources that share a term, some of them more than once."""
    total = 0
    for t in range(starts.size - 1):
        size = starts[t + 1] - starts[t]
        total += size * (size - 1) // 2
    keys, n = np.empty(total, np.int64), 0
    for t in range(starts.size - 1):
        for p in range(starts[t], starts[t + 1]):
            for q in range(p + 1, starts[t + 1]):
                if source[items[p]] != source[items[q]]:
                    keys[n] = np.int64(items[p]) * m + items[q]
                    n += 1
    return keys[:n]


@kernel()
def best_columns(products, first, source, out):
    """The columns of the largest products of each row, but none of its source; ``first`` is that of row 0."""
    best = np.empty(out.shape[1], np.float32)
    for i in range(products.shape[0]):
        size = 0
        for b in range(products.shape[1]):
            s = products[i, b]
            if source[b] == source[first + i] or (size == out.shape[1] and s <= best[size - 1]):
                continue
            size = min(size + 1, out.shape[1])
            j = size - 1
            while j > 0 and best[j - 1] < s:
                best[j], out[i, j] = best[j - 1], out[i, j - 1]
                j -= 1
            best[j], out[i, j] = s, b

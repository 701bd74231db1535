"""Numba kernels: texts to terms, terms to numbers, sparse rows of listed pairs, nearest rows."""

import numpy as np

from clustruct.core.jit import kernel

# Views of a text: its words, the letter triples of its words, its words with a digit ("codes").
WORDS, LETTERS, CODES = 0, 1, 2
# Classes of characters.
LETTER, DIGIT, JOINT = 1, 2, 3
_FNV_START, _FNV_PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)
_BLANK = np.uint64(32)


@kernel()
def add_letter(h, letter):
    """One step of FNV-1a, of 64 bits."""
    return (h ^ letter) * _FNV_PRIME


@kernel()
def text_keys(letters, starts):
    """A key of 64 bits for each text as a whole; text k is letters[starts[k]:starts[k + 1]]."""
    keys = np.empty(starts.size - 1, np.uint64)
    for k in range(keys.size):
        h = _FNV_START
        for i in range(starts[k], starts[k + 1]):
            h = add_letter(h, np.uint64(letters[i]))
        keys[k] = h
    return keys


@kernel()
def next_word(letters, kind, i, end, joined):
    """Where the next word begins and ends, and whether it has a digit; (end, end, False): there is none.

    With ``joined`` a hyphen, dot or slash between two letters does not end it.
    """
    while i < end and (kind[letters[i]] == 0 or kind[letters[i]] == JOINT):
        i += 1
    first, digit = i, False
    while i < end:
        c = kind[letters[i]]
        if c == JOINT:
            if not joined or i + 1 == end or kind[letters[i + 1]] in (0, JOINT):
                break
        elif c == 0:
            break
        elif c == DIGIT:
            digit = True
        i += 1
    return first, i, digit


@kernel()
def count_terms(letters, starts, kind, view):
    """How many terms each text has, summed up."""
    indptr = np.zeros(starts.size, np.int64)
    for k in range(starts.size - 1):
        n, end = 0, starts[k + 1]
        first, last, digit = next_word(letters, kind, starts[k], end, view == CODES)
        while first < end:
            n += last - first if view == LETTERS else 1 if view == WORDS else int(digit)
            first, last, digit = next_word(letters, kind, last, end, view == CODES)
        indptr[k + 1] = indptr[k] + n
    return indptr


@kernel()
def term_keys(letters, starts, kind, view, indptr):
    """The key of each term of each text, in order: that of the term as a text (`text_keys`)."""
    keys = np.empty(indptr[-1], np.uint64)
    n = 0
    for k in range(starts.size - 1):
        end = starts[k + 1]
        first, last, digit = next_word(letters, kind, starts[k], end, view == CODES)
        while first < end:
            if view == LETTERS:
                for i in range(first, last):
                    before = np.uint64(letters[i - 1]) if i > first else _BLANK
                    after = np.uint64(letters[i + 1]) if i + 1 < last else _BLANK
                    h = add_letter(add_letter(_FNV_START, before), np.uint64(letters[i]))
                    keys[n] = add_letter(h, after)
                    n += 1
            elif view == WORDS or digit:
                h = _FNV_START
                for i in range(first, last):
                    if kind[letters[i]] != JOINT:
                        h = add_letter(h, np.uint64(letters[i]))
                keys[n] = h
                n += 1
            first, last, digit = next_word(letters, kind, last, end, view == CODES)
    return keys


@kernel()
def find_slot(key, slots, known):
    """The slot of a key in an open hash table (a power of two of slots): its own, or a free one."""
    mask = np.uint64(slots.size - 1)
    h = key ^ (key >> np.uint64(29))
    place = (h * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)
    slot = np.int64(place & mask)
    while slots[slot] >= 0 and known[slots[slot]] != key:
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
    return slot


@kernel()
def number_terms(keys, begin, slots, known, n_known, out, firsts):
    """Number the keys from ``begin`` on in the order of their first appearance.

    Stops where the table is half full or `known` ends. Returns where it stopped, and how many are known.
    """
    most = min(slots.size // 2, known.size)
    for i in range(begin, keys.size):
        slot = find_slot(keys[i], slots, known)
        if slots[slot] < 0:
            if n_known >= most:
                return i, n_known
            slots[slot] = n_known
            known[n_known] = keys[i]
            firsts[n_known] = i
            n_known += 1
        out[i] = slots[slot]
    return keys.size, n_known


@kernel()
def counted_order(numbers, n):
    """The places of numbers 0..n - 1 in their order, those of equal ones as they came."""
    to = np.zeros(n + 1, np.int64)
    for k in numbers:
        to[k + 1] += 1
    for k in range(n):
        to[k + 1] += to[k]
    order = np.empty(numbers.size, np.int64)
    for i in range(numbers.size):
        order[to[numbers[i]]] = i
        to[numbers[i]] += 1
    return order


@kernel()
def fill_slots(slots, known, n_known):
    """A larger table of the same keys."""
    for i in range(n_known):
        slots[find_slot(known[i], slots, known)] = i


@kernel()
def look_up(keys, slots, known, out):
    """The number of each key, -1 for one that is not known."""
    for i in range(keys.size):
        out[i] = slots[find_slot(keys[i], slots, known)]


@kernel()
def row_totals(codes, indptr, counts, out):
    """Add how many terms the row of each item has, the same ones counted as often as they occur."""
    for a in range(codes.size):
        for k in range(indptr[codes[a]], indptr[codes[a] + 1]):
            out[a] += counts[k]


@kernel()
def place_terms(codes, indptr, indices, counts, where, out):
    """Write the terms of each item's value at ``where``, as often as the value has them."""
    for a in range(codes.size):
        for k in range(indptr[codes[a]], indptr[codes[a] + 1]):
            for _ in range(counts[k]):
                out[where[a]] = indices[k]
                where[a] += 1


@kernel()
def sort_rows(indptr, indices, counts):
    """Sort the terms of each row, the same ones counted together, in place: the new indptr.

    Insertion for the short rows that most are (3 times as fast as a call of np.sort for each).
    """
    new = np.zeros(indptr.size, np.int64)
    to = 0
    for a in range(indptr.size - 1):
        row = indices[indptr[a] : indptr[a + 1]]
        if row.size > 40:
            row.sort()
        else:
            for i in range(1, row.size):
                t, j = row[i], i
                while j > 0 and row[j - 1] > t:
                    row[j] = row[j - 1]
                    j -= 1
                row[j] = t
        first = to
        for i in range(row.size):
            t = row[i]
            if to > first and indices[to - 1] == t:
                counts[to - 1] += 1
            else:
                indices[to], counts[to] = t, 1
                to += 1
        new[a + 1] = to
    return new


@kernel()
def count_items(indptr, indices, rows, out):
    """Add one to each term of each of the rows."""
    for a in range(rows.size):
        for k in range(indptr[rows[a]], indptr[rows[a] + 1]):
            out[indices[k]] += 1.0


@kernel()
def measure_rows(indptr, indices, counts, weight, rows, norm, total):
    """Of rows whose total is NaN: length of the vector counts * weight, sum of the weights of its terms."""
    for i in rows:
        if np.isnan(total[i]):
            square, plain = 0.0, 0.0
            for k in range(indptr[i], indptr[i + 1]):
                w = weight[indices[k]]
                square += (counts[k] * w) ** 2
                plain += w
            norm[i], total[i] = np.sqrt(square), plain


@kernel()
def idf_of(n, counts, trained):
    """log((1 + n) / (1 + count)) + 1 of the terms that some item has, 0 of the others."""
    out = np.zeros(counts.size)
    for t in range(counts.size):
        if counts[t] > 0.0:
            out[t] = np.log((1.0 + n) / (1.0 + max(counts[t], trained[t]))) + 1.0
    return out


@kernel()
def likenesses(indptr, indices, counts, idf, top, norm, total, left, right, out):
    """Columns of ``out``: cosine, share of the smaller row's weight, rarest shared term over ``top``."""
    compare_rows(indptr, indices, counts, idf, idf, left, right, out)
    for p in range(left.size):
        length = norm[left[p]] * norm[right[p]]
        smaller = min(total[left[p]], total[right[p]])
        out[p, 0] = min(out[p, 0] / (length if length > 0.0 else 1.0), 1.0)
        out[p, 1] = min(out[p, 1] / (smaller if smaller > 0.0 else 1.0), 1.0)
        out[p, 2] /= top


@kernel()
def compare_rows(indptr, indices, counts, idf, weight, left, right, out):
    """Of rows of sorted terms: dot product of counts * idf, weight of the shared terms, the largest."""
    for p in range(left.size):
        i, i_end = indptr[left[p]], indptr[left[p] + 1]
        j, j_end = indptr[right[p]], indptr[right[p] + 1]
        dot, shared, rarest = 0.0, 0.0, 0.0
        while i < i_end and j < j_end:
            s, t = indices[i], indices[j]
            if s == t:
                dot += counts[i] * idf[s] * (counts[j] * idf[s])
                shared += weight[s]
                rarest = max(rarest, weight[s])
                i += 1
                j += 1
            elif s < t:
                i += 1
            else:
                j += 1
        out[p, 0] = dot
        out[p, 1] = shared
        out[p, 2] = rarest


@kernel()
def found_weights(indptr, indices, other_indptr, other_indices, weight, left, right):
    """The weight of the terms of a row of one table that a row of another has, too (terms are sorted)."""
    out = np.zeros(left.size)
    for p in range(left.size):
        i, i_end = indptr[left[p]], indptr[left[p] + 1]
        j, j_end = other_indptr[right[p]], other_indptr[right[p] + 1]
        while i < i_end and j < j_end:
            s, t = indices[i], other_indices[j]
            if s == t:
                out[p] += weight[s]
            i += s <= t
            j += t <= s
    return out

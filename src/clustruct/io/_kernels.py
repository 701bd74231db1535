"""Numba kernels that read tables of text: where cells begin and end, and which of them are the same.

They know what is plain. Whatever is odd (a quote within a cell's end, a row too short or too long, a lone
carriage return, a row in which there may be nothing to see) is left to the csv module, which says what it is.
"""

import numpy as np

from clustruct._jit import kernel

LF, CR, QUOTE = 10, 13, 34
FNV = np.uint64(1099511628211)
HALF, LOW = np.uint64(32), np.uint64(2**32 - 1)


@kernel()
def split_rows(text, at, line, mark, longest, start, length, lines):
    """Cells of the next rows: start and length [column, row], the length negative where quotes are doubled.

    Gives where the next row begins and its line, how many rows were read, and whether all was plain.
    """
    width, most = start.shape
    n, row = text.size, 0
    while at < n and row < most:
        if text[at] == LF:
            at += 1
            line += 1
            continue
        if text[at] == CR and at + 1 < n and text[at + 1] == LF:
            at += 2
            line += 1
            continue
        lines[row] = line
        column, seen = 0, False
        while True:
            doubled = False
            if at < n and text[at] == QUOTE:
                at += 1
                low = at
                while True:
                    if at >= n:
                        return at, line, row, False
                    c = text[at]
                    if c == QUOTE:
                        if at + 1 >= n or text[at + 1] != QUOTE:
                            break
                        doubled = True
                        at += 1
                    elif c == LF:
                        line += 1
                    seen = seen or 32 < c < 128 or 194 < c < 225 or c > 227
                    at += 1
                high = at
                at += 1
            else:
                low = at
                while at < n:
                    c = text[at]
                    if c in (mark, LF, CR):
                        break
                    seen = seen or 32 < c < 128 or 194 < c < 225 or c > 227
                    at += 1
                high = at
            if column == width or high - low > longest:
                return at, line, row, False
            start[column, row] = low
            length[column, row] = low - high if doubled else high - low
            column += 1
            if at >= n:
                break
            if text[at] == mark:
                at += 1
                continue
            if text[at] == CR and at + 1 < n and text[at + 1] == LF:
                at += 1
            if text[at] != LF:
                return at, line, row, False
            at += 1
            line += 1
            break
        if column != width or not seen:
            return at, line, row, False
        row += 1
    return at, line, row, True


@kernel()
def encode(text, start, length, seed, table, word_start, word_length, count, codes):
    """Codes of cells by first appearance, -1 for empty ones; gives how many distinct ones there are now.

    ``table`` is a hash table (open addressing) with room for all cells: an entry has 32 bits of the hash
    above the code plus 1, and is 0 where it is free.
    """
    mask = np.uint64(table.size - 1)
    for row in range(start.size):
        low, size = start[row], abs(length[row])
        if size == 0:
            codes[row] = -1
            continue
        h = seed ^ np.uint64(length[row] < 0)
        for k in range(low, low + size):
            h = (h ^ np.uint64(text[k])) * FNV
        h = (h ^ (h >> HALF)) & LOW
        slot = h & mask
        while True:
            entry = table[slot]
            if entry == 0:
                word_start[count], word_length[count] = low, length[row]
                codes[row] = count
                count += 1
                table[slot] = (h << HALF) | np.uint64(count)
                break
            if entry >> HALF == h:
                code = np.int64(entry & LOW) - 1
                if word_length[code] == length[row]:
                    k, other = 0, word_start[code]
                    while k < size and text[low + k] == text[other + k]:
                        k += 1
                    if k == size:
                        codes[row] = code
                        break
            slot = (slot + np.uint64(1)) & mask
    return count


@kernel()
def enter(entries, table):
    """Enter what one table holds into another, larger one that is empty."""
    mask = np.uint64(table.size - 1)
    for entry in entries:
        if entry:
            slot = (entry >> HALF) & mask
            while table[slot]:
                slot = (slot + np.uint64(1)) & mask
            table[slot] = entry

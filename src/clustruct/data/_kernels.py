"""Compiled code for texts that lie in one buffer: those of a file, and the cells of a CSV file."""

from __future__ import annotations

import numpy as np

from clustruct.core.jit import kernel


@kernel()
def gather(data, start, length, between, out):
    """The texts one after the other, with a byte between each two."""
    at = 0
    for i in range(start.size):
        if i:
            out[at] = between
            at += 1
        for k in range(start[i], start[i] + length[i]):
            out[at] = data[k]
            at += 1
    return at


LF, CR, QUOTE = 10, 13, 34
FNV = np.uint64(1099511628211)
HALF, LOW = np.uint64(32), np.uint64(2**32 - 1)


@kernel()
def is_visible(c):
    """Whether a byte of UTF-8 belongs to a character that is surely not white; some leave it open."""
    return 32 < c < 128 or 194 < c < 225 or c > 227


@kernel()
def quoted_cell(text, at, line):
    """Of a cell after its opening quote: its end (-1: there is none), the line of that, whether quotes in it
    are doubled, and whether something is to be seen.
    """
    doubled = seen = False
    while at < text.size:
        c = text[at]
        if c == QUOTE:
            if at + 1 >= text.size or text[at + 1] != QUOTE:
                return at, line, doubled, seen
            doubled = True
            at += 1
        elif c == LF:
            line += 1
        seen = seen or is_visible(c)
        at += 1
    return -1, line, doubled, seen


@kernel()
def bare_cell(text, at, mark):
    """The end of a cell without quotes, and whether something is to be seen in it."""
    seen = False
    while at < text.size:
        c = text[at]
        if c in (mark, LF, CR):
            break
        seen = seen or is_visible(c)
        at += 1
    return at, seen


@kernel()
def line_end(text, at):
    """How many bytes of a line's end are here; none where there is no end."""
    if at < text.size and text[at] == LF:
        return 1
    return 2 if at + 1 < text.size and text[at] == CR and text[at + 1] == LF else 0


@kernel()
def split_row(text, at, line, mark, longest, start, length, row):
    """Cells of the row that begins here. Gives where it ends, its last line, and whether it is plain."""
    column, any_seen = 0, False
    while True:
        low, doubled = at, False
        if at < text.size and text[at] == QUOTE:
            low += 1
            at, line, doubled, seen = quoted_cell(text, low, line)
            if at < 0:
                return at, line, False
            high, at = at, at + 1
        else:
            at, seen = bare_cell(text, at, mark)
            high = at
        if column == start.shape[0] or high - low > longest:
            return at, line, False
        start[column, row] = low
        length[column, row] = low - high if doubled else high - low
        any_seen = any_seen or seen
        column += 1
        if at >= text.size or text[at] != mark:
            return at, line, any_seen and column == start.shape[0]
        at += 1


@kernel()
def split_rows(text, at, line, mark, longest, start, length, lines):
    """Cells of the next rows: start and length [column, row], the length negative where quotes are doubled.

    Gives where the next row begins and its line, how many rows were read, and whether all was plain.
    """
    row = 0
    while at < text.size and row < start.shape[1]:
        end = line_end(text, at)
        if end == 0:
            lines[row] = line
            at, line, plain = split_row(text, at, line, mark, longest, start, length, row)
            if not plain:
                return at, line, row, False
            row += 1
            end = line_end(text, at)
            if end == 0 and at < text.size:
                return at, line, row, False
        at += end
        line += 1
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

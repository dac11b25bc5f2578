"""Substrings of texts as whole numbers, so that counting them takes no loop over characters.

Characters become digits: the place of the character in the sorted alphabet plus 1, and 0 beyond the end of a
substring. A substring is then a number with as many digits as fit into 62 bits. Longer ones go by stages:
the first digits give the rank of the prefix in a sorted table of prefixes, rank and next digits the next
number, and so on. Numbers and ranks keep the order of the texts, so the last table is the vocabulary, sorted.
Equation K4 of docs/methods/kernels.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]

_MOST = 2**62
#: tables of all numbers up to here answer faster than a search
_DIRECT = 1 << 22
#: characters that are looked at together
_BLOCK = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class Alphabet:
    """The characters of training texts, as sorted code points."""

    points: NDArray[np.uint32]

    @property
    def base(self) -> int:
        """How many digits there are: one per character, and 0."""
        return len(self.points) + 1

    def digits(self, points: NDArray[np.uint32]) -> Integers:
        """A digit from 1 up for each character; -1 for one that is not in the alphabet."""
        if not len(self.points):
            return np.full(len(points), -1)
        table = np.full(int(self.points[-1]) + 2, -1)
        table[self.points] = np.arange(1, self.base)
        found: Integers = table[np.minimum(points, np.uint32(len(table) - 1))]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """The substrings of one length in some texts: where each starts, and the text it is of."""

    points: NDArray[np.uint32]
    starts: Integers
    per_text: Integers
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The distinct substrings of training texts, in sorted order.

    `tables[k]` holds, sorted, the numbers of stage k; the last one stands for the substrings themselves.
    """

    alphabet: Alphabet
    length: int
    all_lengths: bool
    tables: tuple[Integers, ...]

    @classmethod
    def of(cls, texts: Sequence[str], length: int, *, all_lengths: bool) -> Vocabulary:
        """The substrings of some texts."""
        points = _distinct((points for points, _ in point_blocks(texts)), 0x110000)
        found = cls(Alphabet(points.astype(np.uint32)), length, all_lengths, ())
        while found.n_digits < length:
            numbers = (
                found._next_number(windows)[0]
                for points, lengths in point_blocks(texts)
                for windows in found.windows(points, lengths)
            )
            ranks = max(1, len(found.tables[-1])) if found.tables else 1
            step = digits_that_fit(found.alphabet.base, ranks, length - found.n_digits)
            table = _distinct(numbers, ranks * found.alphabet.base**step)
            found = cls(found.alphabet, length, all_lengths, (*found.tables, table))
        return found

    def __len__(self) -> int:
        return len(self.tables[-1])

    @property
    def n_digits(self) -> int:
        """How many characters the tables stand for."""
        return sum(self._steps())

    def _steps(self) -> list[int]:
        """Characters of each stage that has a table."""
        steps: list[int] = []
        ranks = 1
        for table in self.tables:
            steps.append(digits_that_fit(self.alphabet.base, ranks, self.length - sum(steps)))
            ranks = max(1, len(table))
        return steps

    def indices(self, windows: Windows) -> Integers:
        """The place of each substring in the vocabulary; -1 if it is not in it."""
        number, known = self._next_number(windows, last=True)
        return np.where(known, number, -1)

    def _next_number(self, windows: Windows, *, last: bool = False) -> tuple[Integers, NDArray[np.bool_]]:
        """The numbers of the next stage, or the ranks of the last, and which windows are known so far."""
        digits = self.alphabet.digits(windows.points)
        rank = np.zeros(len(windows.starts), np.int64)
        known = np.ones(len(windows.starts), np.bool_)
        done = 0
        for table, step in zip(self.tables, self._steps(), strict=True):
            number = self._append(rank, digits, windows, done, step, known)
            rank = _ranks(number, table, known)
            done += step
        if last:
            return rank, known
        ranks = max(1, len(self.tables[-1])) if self.tables else 1
        step = digits_that_fit(self.alphabet.base, ranks, self.length - done)
        return self._append(rank, digits, windows, done, step, known), known

    def _append(
        self,
        rank: Integers,
        digits: Integers,
        windows: Windows,
        done: int,
        step: int,
        known: NDArray[np.bool_],
    ) -> Integers:
        """`rank` with `step` more digits; a window that meets an unknown character is no longer `known`."""
        number = rank
        for place in range(done, done + step):
            number = number * self.alphabet.base
            if place < windows.length:
                digit = digits[windows.starts + place]
                known &= digit > 0
                number += digit
        return number

    def windows(self, points: NDArray[np.uint32], lengths: Integers) -> Iterator[Windows]:
        """The substrings of a block of texts, length by length."""
        ends = np.repeat(np.cumsum(lengths), lengths)
        left = ends - np.arange(len(points))  # characters from here to the end of the text
        for length in range(1 if self.all_lengths else self.length, self.length + 1):
            starts = np.flatnonzero(left >= length)
            yield Windows(points, starts, np.maximum(0, lengths - length + 1), length)

    def texts(self) -> list[str]:
        """The substrings, in order."""
        rank = np.arange(len(self))
        columns: list[Integers] = []
        for table, step in reversed(list(zip(self.tables, self._steps(), strict=True))):
            number = table[rank]
            for _ in range(step):
                number, digit = np.divmod(number, self.alphabet.base)
                columns.append(digit)
            rank = number
        characters = ["", *map(chr, self.alphabet.points.tolist())]
        rows = np.stack(columns[::-1], axis=1).tolist() if len(self) else []
        return ["".join(characters[digit] for digit in row) for row in rows]


def _distinct(parts: Iterable[NDArray[Any]], bound: int) -> Integers:
    """The distinct numbers of all parts, each from 0 up to `bound`, in order."""
    if bound > _DIRECT:
        return np.unique(np.concatenate([np.zeros(0, np.int64), *(np.unique(part) for part in parts)]))
    there = np.zeros(bound, np.bool_)
    for part in parts:
        there[part] = True
    return np.flatnonzero(there)


def digits_that_fit(base: int, ranks: int, wanted: int) -> int:
    """How many more digits a number below `ranks` can take, at least 1."""
    count, bound = 0, ranks
    while count < wanted and bound * base < _MOST:
        count, bound = count + 1, bound * base
    return max(1, count)


def _ranks(number: Integers, table: Integers, known: NDArray[np.bool_]) -> Integers:
    """The place of each number in a sorted table; a number that is not there is no longer `known`."""
    if not len(table):
        known[:] = False
        return np.zeros(len(number), np.int64)
    if table[-1] < _DIRECT:
        places = np.full(int(table[-1]) + 2, -1)
        places[table] = np.arange(len(table))
        rank: Integers = places[np.clip(number, 0, len(places) - 1)]
        known &= rank >= 0
        return np.maximum(rank, 0)
    rank = np.minimum(np.searchsorted(table, number), len(table) - 1)
    known &= table[rank] == number
    return rank


def point_blocks(texts: Sequence[str]) -> Iterator[tuple[NDArray[np.uint32], Integers]]:
    """Code points of texts one after another, and the length of each text, some millions at a time."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    for start, stop in text_blocks(lengths):
        raw = "".join(texts[start:stop]).encode("utf-32-le", "surrogatepass")
        yield np.frombuffer(raw, "<u4").astype(np.uint32, copy=False), lengths[start:stop]


def text_blocks(lengths: Integers) -> Iterator[tuple[int, int]]:
    """Starts and ends of blocks of texts that have some millions of characters together."""
    total = np.concatenate(([0], np.cumsum(lengths)))
    start = 0
    while start < len(lengths):
        stop = int(np.searchsorted(total, total[start] + _BLOCK, side="right")) - 1
        stop = max(start + 1, stop)
        yield start, stop
        start = stop

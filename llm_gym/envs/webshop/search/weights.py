"""Lucene's BM25 in its own arithmetic: one-byte document lengths, float32 weights (BM25Similarity, SmallFloat)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

K1, B = np.float32(0.9), np.float32(0.4)
"""The values that Pyserini's LuceneSearcher and Anserini set; Lucene's own defaults are 1.2 and 0.75."""

_EXACT_LENGTHS = 24
_MANTISSA_BITS = 3

Floats = npt.NDArray[np.float32]


def encode_lengths(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """The byte that Lucene keeps of a document's number of tokens: exact below 24, a 3-bit float above."""
    excess = np.maximum(lengths - _EXACT_LENGTHS, 0)
    # frexp gives excess = m · 2^exponent with m in [½, 1): exponent is the number of bits.
    shift = np.maximum(np.frexp(excess.astype(np.float64))[1].astype(np.int64) - (_MANTISSA_BITS + 1), 0)
    # The leading one is implied, except in the numbers that need no shift; there it is part of the code itself.
    code = (excess >> shift) + (shift << _MANTISSA_BITS)
    return np.where(lengths < _EXACT_LENGTHS, lengths, _EXACT_LENGTHS + code).astype(np.uint8)


def _decode_lengths() -> npt.NDArray[np.int64]:
    code = np.maximum(np.arange(256, dtype=np.int64) - _EXACT_LENGTHS, 0)
    shift = np.maximum((code >> _MANTISSA_BITS) - 1, 0)
    excess = (code - (shift << _MANTISSA_BITS)) << shift
    return np.where(np.arange(256) < _EXACT_LENGTHS, np.arange(256), _EXACT_LENGTHS + excess)


DECODED_LENGTHS = _decode_lengths()
"""The length that each of the 256 bytes stands for, (256,)."""


def inverse_norms(average_length: np.float32) -> Floats:
    """For each length byte, 1 / (k1 · ((1 − b) + b · length / average)), (256,), rounded after every operation."""
    lengths = DECODED_LENGTHS.astype(np.float32)
    one = np.float32(1)
    return one / (K1 * ((one - B) + B * lengths / average_length))


def term_weight(boost: int, document_frequency: int, document_count: int) -> np.float32:
    """Boost times the term's inverse document frequency."""
    idf = math.log(1 + (document_count - document_frequency + 0.5) / (document_frequency + 0.5))
    return np.float32(boost) * np.float32(idf)


def impacts(weight: np.float32 | Floats, frequencies: npt.NDArray[np.uint16], norms: Floats) -> Floats:
    """What one term adds to the scores of the documents that hold it.

    Args:
        weight: `term_weight`, one for all postings or one each.
        frequencies: how often each document holds the term, (P,).
        norms: `inverse_norms` of each document's length byte, (P,).
    """
    one = np.float32(1)
    return weight - weight / (one + frequencies.astype(np.float32) * norms)

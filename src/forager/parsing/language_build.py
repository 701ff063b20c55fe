"""Builds the small table of `language_model` from the model that py3langid ships: 68 MB become 7.

Run as `python -m forager.parsing.language_build`, it writes the table to standard output. It runs as a separate
process, with 0.8 s of CPU time and 250 MB, so that numpy and the large model are never loaded in a process that parses
pages.

py3langid uses an automaton with 256 columns, one per byte. It is an Aho-Corasick automaton, so a tree of the byte
n-grams is equivalent: the children of a state, and its fallback where it has no such child. Weights are naive Bayes
weights. Three of four are a language's weight for an n-gram that never occurs in its texts, so only the others are
stored.
"""

import os
import struct
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from forager.parsing.language_model import HEADER, LEVELS, MAGIC

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, Any]


class Tree(NamedTuple):
    """States level by level, so that the children of a state are adjacent, sorted by byte."""

    states: "Numbers"
    """State numbers in the automaton."""
    letters: "Numbers"
    fallbacks: "Numbers"
    """The state of the longest suffix, by its number in this tree: always smaller than the state's own number."""
    first_children: "Numbers"
    """One more entry than there are states: the children of a state end where those of the next begin."""


def build() -> bytes:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import numpy as np
    from py3langid.langid import MODEL_DIR, MODEL_FILE
    from py3langid.modelio import load_model

    weights, priors, names, moves, row_of, features = load_model(MODEL_DIR / MODEL_FILE)
    tree = _find_tree(np.asarray(moves).reshape(-1, 256), np.asarray(row_of))
    own = _own_features(tree, np.asarray(features))
    floors = _mode_weights(weights)
    starts, pairs, levels = _pack_weights(weights, floors, own)
    labels = "\n".join(names).encode()
    return b"".join(
        [
            struct.pack(HEADER, MAGIC, len(tree.states), len(pairs), len(names), len(labels)),
            np.column_stack([tree.first_children, [*tree.fallbacks, 0], starts]).astype(np.uint32).tobytes(),
            levels.astype(np.float32).tobytes(),
            floors.astype(np.float32).tobytes(),
            priors.astype(np.float32).tobytes(),
            pairs.astype(np.uint16).tobytes(),
            tree.letters.astype(np.uint8).tobytes(),
            labels,
        ]
    )


def _find_tree(rows: "Numbers", row_of: "Numbers") -> Tree:
    """Builds the tree. A transition to a state that no shorter path reaches belongs to the tree; all others follow from
    the fallbacks."""
    import numpy as np

    number_of = np.full(len(row_of), -1)
    number_of[0] = 0
    level, fallbacks = np.array([0]), np.array([0])
    levels, letters, all_fallbacks, counts = [level], [np.array([0])], [fallbacks], []
    known = 1
    while len(level):
        moves = rows[row_of[level]]
        parents, bytes_ = np.nonzero(number_of[moves] < 0)
        children = moves[parents, bytes_]
        counts.append(np.bincount(parents, minlength=len(level)))
        fallbacks = rows[row_of[fallbacks[parents]], bytes_] if known > 1 else np.zeros_like(children)
        number_of[children] = np.arange(known, known + len(children))
        known += len(children)
        levels.append(children)
        letters.append(bytes_)
        all_fallbacks.append(fallbacks)
        level = children
    if known != len(row_of):
        raise ValueError("the automaton has states that nothing leads to")
    first_children = 1 + np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return Tree(
        np.concatenate(levels), np.concatenate(letters), number_of[np.concatenate(all_fallbacks)], first_children
    )


def _own_features(tree: Tree, features: "Numbers") -> "Numbers":
    """Returns the feature of each state; -1 for a state without one, or with the same one as its fallback."""
    import numpy as np

    by_state = features[tree.states]
    inherited = by_state[tree.fallbacks]
    if (by_state[inherited >= 0] < 0).any():
        raise ValueError("a state has no feature though its ending has one")
    return np.where(by_state == inherited, -1, by_state)


def _mode_weights(weights: "Numbers") -> "Numbers":
    """Returns each language's most common weight: that of n-grams that never occur in its texts."""
    import numpy as np

    bits = weights.view(np.uint16)
    return np.array([np.bincount(column).argmax() for column in bits.T], dtype=np.uint16).view(weights.dtype)


def _pack_weights(weights: "Numbers", floors: "Numbers", own: "Numbers") -> "tuple[Numbers, Numbers, Numbers]":
    """Returns the start of each state's pairs, the pairs, and the amount that each level adds to a floor."""
    import numpy as np

    above = weights.astype(np.float32) - floors.astype(np.float32)
    step = float(np.ptp(above)) / (LEVELS - 2)
    zero = int(np.ceil(-above.min() / step))
    found = own[own >= 0]
    is_kept = above[found] != 0
    is_kept[~is_kept.any(axis=1), 0] = True  # an n-gram without a pair would not be counted
    counts = np.zeros(len(own), dtype=np.int64)
    counts[own >= 0] = is_kept.sum(axis=1)
    features, languages = np.nonzero(is_kept)
    levels = np.rint(above[found[features], languages] / step) + zero
    pairs = languages.astype(np.uint16) << 8 | levels.astype(np.uint16)
    return np.concatenate([[0], np.cumsum(counts)]), pairs, step * (np.arange(LEVELS) - zero)


if __name__ == "__main__":
    sys.stdout.buffer.write(build())

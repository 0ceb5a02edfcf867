"""Oblivious decision trees, boosted: every question asked of all rows at once, then one table look-up a tree.

A tree asks the same `depth` questions of every row, so that the answers, read as a binary number, are
its leaf (Kohavi 1994; the trees of CatBoost). Leaves are whole numbers: their sum is the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS = 512
"""Rows judged at once: 512 rows of 4,000 questions take 2 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """A fitted model: rows of `names`' features to one raw value for each of its outputs.

    Question q is "is the feature `feature[q]` over `threshold[q]`?"; `asked` (trees × depth) are the questions of
    each tree, at most 8; `leaves` is trees × 2^depth × outputs, `scale` the value of one unit in them, `bias` what is
    added at the end; `covers` is how much of what a tree was fitted to ended in each leaf.
    """

    names: tuple[str, ...]
    outputs: tuple[str, ...]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float32]
    asked: NDArray[np.int64]
    leaves: NDArray[np.int16]
    covers: NDArray[np.uint16]
    scale: float
    bias: NDArray[np.float64]

    @property
    def wanted(self) -> frozenset[str]:
        """The names, to look one up."""
        return _set(self.names)

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Raw values, rows × outputs; `rows` has the columns of `names`."""
        trees, size, outputs = self.leaves.shape
        flat = self.leaves.reshape(-1, outputs)
        first = (np.arange(trees, dtype=np.intp) * size)[:, None]
        total = np.zeros((len(rows), outputs), np.int64)
        for start in range(0, len(rows), ROWS):
            places = self._leaves(rows[start : start + ROWS]) + first
            for output in range(outputs):
                total[start : start + ROWS, output] = flat[:, output].take(places).sum(axis=0, dtype=np.int64)
        return total * self.scale + self.bias

    def contributions(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """What each feature adds to the first raw value, rows × features; they sum to its distance from the mean.

        A question is worth the change in the mean of the leaves that are still possible (Saabas 2014).
        """
        depth = self.asked.shape[1]
        values = self.leaves[:, :, 0] * self.scale
        covers = self.covers + 1e-9
        means = []
        for known in range(depth + 1):  # the leaves that share their lowest `known` answers
            shape = (len(values), 1 << (depth - known), 1 << known)
            means.append((values * covers).reshape(shape).sum(axis=1) / covers.reshape(shape).sum(axis=1))
        total = np.zeros((len(rows), len(self.names)))
        every = np.arange(len(values))[:, None]
        for start in range(0, len(rows), ROWS):
            leaf = self._leaves(rows[start : start + ROWS]).astype(np.intp)
            number = np.arange(start, start + leaf.shape[1])
            for question in range(depth):
                after = means[question + 1][every, leaf & ((2 << question) - 1)]
                before = means[question][every, leaf & ((1 << question) - 1)]
                np.add.at(total, (number[None, :], self.feature[self.asked[:, question]][:, None]), after - before)
        return total

    def _leaves(self, rows: NDArray[np.float32]) -> NDArray[np.uint8]:
        """The leaf that each row ends in, trees × rows."""
        columns = np.ascontiguousarray(rows.T)
        answers = (columns[self.feature] > self.threshold[:, None]).view(np.uint8)
        leaf = np.zeros((len(self.asked), len(rows)), np.uint8)
        for question in range(self.asked.shape[1]):
            leaf |= answers[self.asked[:, question]] << np.uint8(question)
        return leaf


@lru_cache(maxsize=8)
def _set(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(names)


def load(path: Path) -> Trees:
    """Read a model that `save` wrote."""
    with np.load(path) as data:
        return Trees(
            names=tuple(str(data["names"]).split("\n")),
            outputs=tuple(str(data["outputs"]).split("\n")),
            feature=data["feature"].astype(np.int64),
            threshold=data["threshold"],
            asked=data["asked"].astype(np.int64),
            leaves=data["leaves"],
            covers=data["covers"],
            scale=float(data["scale"]),
            bias=data["bias"],
        )


def save(trees: Trees, path: Path) -> None:
    """Write a model as one `.npz`."""
    np.savez_compressed(
        path,
        names=np.asarray("\n".join(trees.names)),
        outputs=np.asarray("\n".join(trees.outputs)),
        feature=trees.feature.astype(np.uint16),
        threshold=trees.threshold,
        asked=trees.asked.astype(np.uint16),
        leaves=trees.leaves,
        covers=trees.covers,
        scale=trees.scale,
        bias=trees.bias,
    )


def from_catboost(model: dict[str, Any], names: tuple[str, ...], outputs: tuple[str, ...] = ("body",)) -> Trees:
    """A model out of CatBoost's JSON form, its leaves rounded to 16 bits, without features that no tree asks for."""
    grown = model["oblivious_trees"]
    depth = max(len(tree["splits"]) for tree in grown)
    asked = np.zeros((len(grown), depth), np.int64)
    values = np.zeros((len(grown), 1 << depth, len(outputs)))
    covers = np.zeros((len(grown), 1 << depth), np.uint16)
    # A tree of fewer questions fills its table up with the first one, whatever its answer.
    questions = sorted({(s["float_feature_index"], s["border"]) for tree in grown for s in tree["splits"]})
    position = {question: number for number, question in enumerate(questions)}
    for number, tree in enumerate(grown):
        own = len(tree["splits"])
        asked[number, :own] = [position[s["float_feature_index"], s["border"]] for s in tree["splits"]]
        values[number] = np.tile(np.asarray(tree["leaf_values"]).reshape(-1, len(outputs)), (1 << (depth - own), 1))
        weights = np.asarray(tree["leaf_weights"])
        covers[number] = np.tile(np.round(weights / weights.sum() * 65_535), 1 << (depth - own))
    used = sorted({feature for feature, _ in questions})
    scale = float(np.abs(values).max()) / 32_000
    factor, bias = model["scale_and_bias"]
    return Trees(
        names=tuple(names[feature] for feature in used),
        outputs=outputs,
        feature=np.asarray([used.index(feature) for feature, _ in questions], np.int64),
        threshold=np.asarray([border for _, border in questions], np.float32),
        asked=asked,
        leaves=np.round(values / scale).astype(np.int16),
        covers=covers,
        scale=scale * factor,
        bias=np.asarray(bias, np.float64).reshape(-1),
    )

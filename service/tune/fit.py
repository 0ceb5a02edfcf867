"""Fit the two models to labelled pages, and say how well they do on sites that they have not seen."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from catboost import CatBoostClassifier, Pool
from numpy.typing import NDArray

from service.extraction import kind, trees
from service.extraction.evidence import NAMED, SAID, UNDER
from service.settings import Settings
from service.tune.corpus import MOST_BLOCKS, CorpusError, Example, example, read
from service.tune.report import Report, report

VOCABULARY = {NAMED: 300, SAID: 150, UNDER: 100}
"""Commonest words that are features of their own: of class names and ids, of short texts, of headings."""

LEAST_SITES = 15
"""Sites that must use such a word: what one site alone says teaches nothing about others."""

LEAST_PAGES = 30
"""Pages that must have a trait for the kind model to look at it."""

LEAST_FOUND = 0.5
"""Share of a body's words that must be in the page's text: else the page teaches nothing, or something wrong."""

BLOCKS = {"iterations": 600, "depth": 6, "learning_rate": 0.12, "l2_leaf_reg": 5, "border_count": 64, "random_seed": 0}
"""CatBoost's parameters for the block model; everything else is its default."""

KINDS = {
    "iterations": 250, "depth": 5, "learning_rate": 0.12, "l2_leaf_reg": 5, "border_count": 16, "rsm": 0.2,
    "random_seed": 0,
}  # fmt: skip
"""The same for the kind model."""

Row = NDArray[np.float32]
Floats = NDArray[np.float64]


def tune(
    folders: Sequence[Path], output: Path, *, folds: int, settings: Settings, say: Callable[[str], None]
) -> Report:
    """Fit to the corpora in `folders`; write the models and `weights.yaml`, their provenance, to the folder `output`.

    Raises `CorpusError` where a folder holds no corpus, or too few sites or kinds of pages.
    """
    examples: list[Example] = []
    for folder in folders:
        for truth, body in read(folder):
            if (found := example(folder.name, truth, body, settings)) is not None:
                examples.append(found)
        say(f"{folder.name}: {sum(e.corpus == folder.name for e in examples)} pages with text")
    _check(examples, folds, ", ".join(map(str, folders)))
    output.mkdir(parents=True, exist_ok=True)

    columns = _traits(examples)
    told: dict[int, dict[str, float]] = {}
    for seen, unseen in _split(examples, folds):
        judge = _fit_kinds(seen, columns)
        told |= {id(e): kind.probabilities(judge, e.traits) for e in unseen}
    say(f"kinds: fitted to {len(examples)} pages, {len(columns)} traits")
    for e in examples:
        kind.tell(e.gathered, told[id(e)])

    names = _features(examples)
    rows = {id(e): e.gathered.rows(e.marks, names) for e in examples}
    likely: dict[int, Floats] = {}
    for number, (seen, unseen) in enumerate(_split(examples, folds), 1):
        judge = _fit_blocks(seen, rows, names)
        likely |= {id(e): 1 / (1 + np.exp(-judge(_of(judge, rows[id(e)], names))[:, 0])) for e in unseen}
        say(f"blocks: fold {number} of {folds}, fitted to {len(seen)} pages")
    figures = report(examples, told, likely, folds)

    trees.save(_fit_kinds(examples, columns), output / "kinds.npz")
    trees.save(_fit_blocks(examples, rows, names), output / "blocks.npz")
    provenance = {
        "fitted": datetime.now(UTC).date().isoformat(),
        "corpora": dict(Counter(e.corpus for e in examples)),
        "split": f"{folds} folds by site",
        "kinds": {"parameters": KINDS, "traits": len(columns)},
        "blocks": {"parameters": BLOCKS, "features": len(names)},
        "on_unseen_sites": figures.as_dict(),
    }
    (output / "weights.yaml").write_text(yaml.safe_dump(provenance, sort_keys=False), encoding="utf-8")
    return figures


def _check(examples: list[Example], folds: int, where: str) -> None:
    """Raise `CorpusError` where there is too little to learn from."""
    labelled = [e for e in examples if e.kind]
    if not labelled:
        raise CorpusError(f"no page in {where} has text, a `kind` and a `body`")
    if len({e.fold(folds) for e in labelled}) < folds:
        raise CorpusError(f"too few sites in {where}: {len({e.site for e in labelled})} for {folds} folds")
    if any(len({e.kind for e in seen if e.kind}) < 2 for seen, _ in _split(examples, folds)):
        raise CorpusError(f"too few kinds in {where}: pages of two must be left, whichever fold is measured")
    if len(labelled) < LEAST_PAGES:
        raise CorpusError(f"too few pages in {where}: {len(labelled)}, and {LEAST_PAGES} are needed")


def _split(examples: list[Example], folds: int) -> Iterable[tuple[list[Example], list[Example]]]:
    """(seen, unseen) pages of each fold."""
    for fold in range(folds):
        yield [e for e in examples if e.fold(folds) != fold], [e for e in examples if e.fold(folds) == fold]


def _traits(examples: list[Example]) -> tuple[str, ...]:
    pages = Counter(name for e in examples for name, value in e.traits.items() if value)
    return tuple(sorted(name for name, number in pages.items() if number >= LEAST_PAGES))


def _features(examples: list[Example]) -> tuple[str, ...]:
    """The names of the features: those gathered, and the commonest words."""
    sites: dict[str, set[str]] = {}
    for e in examples:
        for name in e.marks.different:
            sites.setdefault(name, set()).add(e.site)
    names = list(examples[0].gathered.names)
    for prefix, most in VOCABULARY.items():
        common = [name for name in sites if name.startswith(prefix) and len(sites[name]) >= LEAST_SITES]
        names.extend(sorted(common, key=lambda name: (-len(sites[name]), name))[:most])
    return tuple(names)


def _of(judge: trees.Trees, rows: Row, names: tuple[str, ...]) -> Row:
    """The columns that a model asks for."""
    position = {name: i for i, name in enumerate(names)}
    return rows[:, [position[name] for name in judge.names]]


def _fit_kinds(examples: list[Example], columns: tuple[str, ...]) -> trees.Trees:
    known = [(e, e.kind) for e in examples if e.kind]
    pages = Counter(kind for _, kind in known)
    outputs = tuple(sorted(pages))
    rows = np.asarray([[e.traits.get(name, 0.0) for name in columns] for e, _ in known], np.float32)
    # Between counting every page alike and every kind alike: articles are six in ten pages of the corpora.
    weights = [pages[kind] ** -0.5 for _, kind in known]
    pool = Pool(rows, label=[outputs.index(kind) for _, kind in known], weight=weights)
    return trees.from_catboost(_grown(pool, {"loss_function": "MultiClass", **KINDS}), columns, outputs)


def _fit_blocks(examples: list[Example], rows: dict[int, Row], names: tuple[str, ...]) -> trees.Trees:
    random = np.random.default_rng(0)
    parts, labels, weights = [], [], []
    for e in examples:
        if e.found < LEAST_FOUND:
            continue
        weight = e.weights()
        known = np.flatnonzero(weight > 0)
        if len(known) > MOST_BLOCKS:
            sample = np.sort(random.choice(known, MOST_BLOCKS, replace=False))
            weight = weight * (weight[known].sum() / weight[sample].sum())
            known = sample
        parts.append(rows[id(e)][known])
        labels.append(e.share[known])
        weights.append(weight[known])
    pool = Pool(np.concatenate(parts), label=np.concatenate(labels), weight=np.concatenate(weights))
    return trees.from_catboost(_grown(pool, {"loss_function": "CrossEntropy", **BLOCKS}), names)


def _grown(pool: Pool, parameters: dict[str, Any]) -> dict[str, Any]:
    pool.set_weight(np.asarray(pool.get_weight()) / np.mean(pool.get_weight()))
    with tempfile.TemporaryDirectory() as folder:
        learner = CatBoostClassifier(verbose=0, allow_writing_files=False, thread_count=-1, **parameters)
        learner.fit(pool)
        learner.save_model(f"{folder}/model.json", format="json")
        found: dict[str, Any] = json.loads(Path(folder, "model.json").read_text())
        return found

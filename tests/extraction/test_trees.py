"""Trees evaluated by numpy: the same as the library that grew them, the same after writing, explained in full."""

import json
from pathlib import Path

import numpy as np
import pytest

from service.extraction import trees

catboost = pytest.importorskip("catboost")

NAMES = ("first", "second", "idle", "third")


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    found = np.random.default_rng(1).normal(size=(3000, len(NAMES))).astype(np.float32)
    found[:, 2] = 7
    return found


def grown(rows: np.ndarray, labels: np.ndarray, folder: Path, **options: object):  # type: ignore[no-untyped-def]
    learner = catboost.CatBoostClassifier(
        iterations=40, depth=4, learning_rate=0.3, verbose=0, allow_writing_files=False, random_seed=0, **options
    )
    learner.fit(rows, labels)
    learner.save_model(str(folder / "model.json"), format="json")
    return learner, json.loads((folder / "model.json").read_text())


def test_as_the_library_says(rows: np.ndarray, tmp_path: Path) -> None:
    learner, model = grown(rows, rows[:, 0] * rows[:, 1] > rows[:, 3], tmp_path)
    judge = trees.from_catboost(model, NAMES)
    assert "idle" not in judge.names
    columns = [NAMES.index(name) for name in judge.names]
    assert judge(rows[:, columns])[:, 0] == pytest.approx(
        learner.predict(rows, prediction_type="RawFormulaVal"), abs=0.01
    )


def test_one_value_for_each_kind(rows: np.ndarray, tmp_path: Path) -> None:
    labels = (rows[:, 0] > 0).astype(int) + (rows[:, 1] > 0)
    learner, model = grown(rows, labels, tmp_path, loss_function="MultiClass")
    judge = trees.from_catboost(model, NAMES, ("a", "b", "c"))
    columns = [NAMES.index(name) for name in judge.names]
    assert judge(rows[:, columns]) == pytest.approx(learner.predict(rows, prediction_type="RawFormulaVal"), abs=0.01)


def test_written_and_read(rows: np.ndarray, tmp_path: Path) -> None:
    _, model = grown(rows, rows[:, 0] > rows[:, 1], tmp_path)
    judge = trees.from_catboost(model, NAMES)
    trees.save(judge, tmp_path / "a.npz")
    trees.save(trees.load(tmp_path / "a.npz"), tmp_path / "b.npz")
    again = trees.load(tmp_path / "b.npz")
    used = rows[:, [NAMES.index(name) for name in judge.names]]
    assert again.names == judge.names
    assert (again(used) == judge(used)).all()


def test_contributions_sum_to_what_the_row_is_over_the_mean(rows: np.ndarray, tmp_path: Path) -> None:
    _, model = grown(rows, rows[:, 0] > rows[:, 1], tmp_path)
    judge = trees.from_catboost(model, NAMES)
    used = rows[:, [NAMES.index(name) for name in judge.names]]
    weights = judge.contributions(used)
    distance = judge(used)[:, 0] - weights.sum(axis=1)
    assert distance == pytest.approx(np.full(len(rows), distance[0]))
    assert np.abs(weights[:, judge.names.index("first")]).mean() > 1


def test_no_rows() -> None:
    judge = trees.load(Path(trees.__file__).with_name("weights") / "blocks.npz")
    assert judge(np.zeros((0, len(judge.names)), np.float32)).shape == (0, 1)

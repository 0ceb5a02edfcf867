"""`bonmun tune`: from labelled pages to weights that the extractor can use, and its errors for people."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from service import cli, extract
from service.extraction import trees, weights
from service.settings import SettingsError, load
from service.tune.labels import by_body, by_snippets

pytest.importorskip("catboost")

WORDS = "harbour pilot ledger winter granary tide bell quarry lantern orchard ferry keeper mill causeway".split()


def corpus(folder: Path, sites: int) -> Path:
    """Pages of two kinds: a body between a menu and a footer, half of them lists."""
    random = np.random.default_rng(3)
    (folder / "pages").mkdir(parents=True)
    lines = []

    def text(words: int) -> str:
        return " ".join(random.choice(WORDS, words)).capitalize() + "."

    for number in range(2 * sites):
        is_list = number % 2
        parts = [text(9) for _ in range(40)] if is_list else [text(60) for _ in range(12)]
        body = "".join(f"<li>{part}</li>" if is_list else f"<p>{part}</p>" for part in parts)
        menu = "".join(f"<li><a href=/{word}>{word}</a></li>" for word in WORDS)
        page = (
            f"<title>{text(5)}</title><nav><ul>{menu}</ul></nav><main>{body}</main><footer><p>{text(20)}</p></footer>"
        )
        (folder / "pages" / f"{number}.html.gz").write_bytes(gzip.compress(page.encode()))
        url = f"https://site{number // 2}.example/{'list' if is_list else 'story'}/{number}"
        kind = "listing" if is_list else "article"
        lines.append(json.dumps({"id": str(number), "url": url, "kind": kind, "body": "\n\n".join(parts)}))
    (folder / "truth.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return folder


def test_weights_from_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = corpus(tmp_path / "pages", 40)
    assert cli.main(["tune", str(pages), "--folds", "2", "-o", str(tmp_path / "weights")]) == 0
    out = capsys.readouterr().out
    assert "pages: F1 on unseen sites 1.0" in out or "pages: F1 on unseen sites 0.9" in out
    provenance = yaml.safe_load((tmp_path / "weights" / "weights.yaml").read_text())
    assert provenance["corpora"] == {"pages": 80}
    assert provenance["split"] == "2 folds by site"
    assert provenance["on_unseen_sites"]["kind_agreement"]["pages"]["all"] > 0.9
    assert trees.load(tmp_path / "weights" / "blocks.npz").outputs == ("body",)
    assert trees.load(tmp_path / "weights" / "kinds.npz").outputs == ("article", "listing")
    settings = load(environ={"BONMUN_EXTRACTION__WEIGHTS": str(tmp_path / "weights")})
    truth = json.loads(gzip.decompress((pages / "truth.jsonl.gz").read_bytes()).splitlines()[0])
    page = extract(gzip.decompress((pages / "pages" / "0.html.gz").read_bytes()), truth["url"], settings=settings)
    assert page.text.split() == truth["body"].split()


def test_a_folder_without_weights_is_no_setting(tmp_path: Path) -> None:
    environ = {"BONMUN_EXTRACTION__WEIGHTS": str(tmp_path)}
    with pytest.raises(SettingsError, match=r"there is no blocks\.npz: not a folder that `bonmun tune` wrote"):
        load(environ=environ)
    (tmp_path / "blocks.npz").write_bytes(b"no archive")
    with pytest.raises(SettingsError, match=r"blocks\.npz is no model"):
        load(environ=environ)
    for name, other in (("blocks", "kinds"), ("kinds", "blocks")):
        (tmp_path / f"{name}.npz").write_bytes((weights.HERE / f"{other}.npz").read_bytes())
    with pytest.raises(SettingsError, match=r"blocks\.npz holds the other model"):
        load(environ=environ)


def test_no_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tune", str(tmp_path)]) == 65
    assert f"{tmp_path} is no corpus" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"id": ', "line 2 of truth.jsonl.gz"),
        (b"[1]", "line 2 of truth.jsonl.gz: not an object"),
        (b'{"id": "1", "url": 7}', "`url` is no string"),
        (b'{"id": "1", "url": "http://[s1/"}', "`url`: Invalid IPv6 URL"),
        (b'{"id": "1", "kind": "blog"}', "`kind` is 'blog', not one of article"),
        (b'{"id": "1", "present": "x"}', "`present` is no list of strings"),
        (b'{"id": "1", "body": "x"}', "there is no "),
    ],
)
def test_a_wrong_line_is_named(line: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "truth.jsonl.gz").write_bytes(gzip.compress(b'{"id": "0"}\n' + line))
    assert cli.main(["tune", str(tmp_path)]) == 65
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sites", "change", "said"),
    [
        (1, {}, "too few sites in"),
        (2, {"kind": None}, "has text, a `kind` and a `body`"),
        (9, {"kind": "article"}, "too few kinds in"),
        (9, {}, "too few pages in"),
    ],
)
def test_too_little_to_learn_from(
    sites: int, change: dict[str, str | None], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = corpus(tmp_path / "pages", sites) / "truth.jsonl.gz"
    lines = [json.loads(line) | change for line in gzip.decompress(file.read_bytes()).splitlines()]
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    assert cli.main(["tune", str(tmp_path / "pages"), "--folds", "2", "-o", str(tmp_path / "w")]) == 65
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("folds", ["1", "x", "21"])
def test_folds(folds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["tune", ".", "--folds", folds])
    assert "must be a whole number from 2 to 20" in capsys.readouterr().err


def test_labels_by_body() -> None:
    blocks = ["Menu home about", "The keeper counts the boats.", "Then she rings the bell twice.", "About the keeper"]
    body = "The keeper counts the boats. Then she rings the bell twice."
    assert by_body(blocks, body).tolist() == [0, 1, 1, 0]
    assert by_body(blocks, "").tolist() == [0, 0, 0, 0]


def test_labels_out_of_order() -> None:
    first = "one two three four five six seven eight nine ten"
    second = "Zwei Boote liegen am Ufer und warten auf den Wind von Norden"
    assert by_body([second, first], f"{first}\n{second}").tolist() == [1, 1]


def test_labels_of_scripts_without_spaces() -> None:
    assert by_body(["灯台守は船を数えた。", "関連記事"], "灯台守は船を数えた。").tolist() == [1, 0]


def test_labels_by_snippets() -> None:
    found = by_snippets(["the  body here", "related links", "else"], {"present": ["body here"], "absent": ["related"]})
    assert found[:2].tolist() == [1, 0]
    assert np.isnan(found[2])

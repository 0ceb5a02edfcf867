"""Formulas, each once and as TeX: from MathML, KaTeX, MathJax, and images drawn from TeX."""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import drop
from service.extraction.mathml import to_tex

SOURCE = "data-tex"
"""The attribute of a `<math>` that carries the TeX of a script, which noise takes away."""

MAX_DRAWN = 4
"""Elements that MathJax draws before a script: a preview, the formula, its MathML."""

_SCRIPT = re.compile(r"math/(?:tex|latex)\b", re.I)
_DRAWN = re.compile(r"(?:^|\s)(?:MathJax|MJX|mjx)", re.I)
_IMAGE = re.compile(r"(?:^|[\s_-])(?:latex|tex|math|mwe-math\S*|equation)(?:$|[\s_-])", re.I)
_TEX = re.compile(r"[\\^_{=]")
_STYLE = re.compile(r"^\{\\(?:display|text|script)style\s?(.*)\}$", re.S)


def keep_scripts(root: HtmlElement) -> None:
    """Put a `<math>` with its TeX in the place of each script that MathJax reads, and take away what it drew there."""
    for script in list(root.iter("script")):
        kind = script.get("type") or ""
        if not _SCRIPT.match(kind) or not (script.text or "").strip():
            continue
        for _ in range(MAX_DRAWN):
            before = script.getprevious()
            if before is None or not _DRAWN.search(before.get("class") or "") or (before.tail or "").strip():
                break
            drop(before)
        math = etree.Element("math", {SOURCE: script.text.strip()})
        if "display" in kind:
            math.set("display", "block")
        math.tail, script.tail = script.tail, None
        script.getparent().replace(script, math)


def tex_of(math: HtmlElement) -> str:
    """The TeX of a `<math>`: its own, its annotation's, its alternative text, or what its symbols come to."""
    source: str | None = math.get(SOURCE)
    if source:
        return source
    for note in math.iter("annotation"):
        if "tex" in (note.get("encoding") or "").lower():
            return _plain("".join(note.itertext()))
    alternative = math.get("alttext") or ""
    return _plain(alternative) if alternative.strip() else to_tex(math)


def is_display(math: HtmlElement) -> bool:
    """Whether a formula stands on a line of its own."""
    if math.get("display") == "block" or "display" in (math.get("mode") or ""):
        return True
    return any("katex-display" in (around.get("class") or "") for around in islice(math.iterancestors(), 4))


def is_drawn(element: HtmlElement) -> bool:
    """Whether an element only draws a formula again that stands beside it as MathML: KaTeX's and MathJax's HTML."""
    name = element.get("class") or ""
    if "katex-html" in name:
        before = element.getprevious()
        return before is not None and "katex-mathml" in (before.get("class") or "")
    if element.tag == "mjx-math" or "mjx-chtml" in name or "mjx-char" in name:
        after = element.getnext()
        return after is not None and next(after.iter("math"), None) is not None
    return False


def tex_of_image(image: HtmlElement) -> str | None:
    """The TeX that an image was drawn from, as its class and alternative text tell."""
    source = (image.get("alt") or "").strip()
    if source and _IMAGE.search(image.get("class") or "") and (_TEX.search(source) or len(source) == 1):
        return _plain(source)
    return None


def _plain(source: str) -> str:
    source = source.strip()
    found = _STYLE.match(source)
    source = found.group(1).strip() if found else source
    for mark in ("$$", "$"):
        if len(source) > 2 * len(mark) and source.startswith(mark) and source.endswith(mark):
            return source[len(mark) : -len(mark)].strip()
    return source

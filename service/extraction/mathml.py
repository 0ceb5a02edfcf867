"""Presentation MathML as TeX, for formulas that carry no TeX of their own."""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree
from lxml.etree import _Element as HtmlElement

MAX_ELEMENTS = 5_000
"""Elements of one formula that are written as TeX; beyond, its symbols alone."""

_SYMBOLS = {
    "×": r"\times", "÷": r"\div", "±": r"\pm", "∓": r"\mp", "⋅": r"\cdot", "·": r"\cdot", "∗": "*", "−": "-",
    "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx", "≡": r"\equiv", "∝": r"\propto", "∼": r"\sim",
    "→": r"\to", "←": r"\leftarrow", "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow", "↦": r"\mapsto",
    "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla", "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∮": r"\oint",
    "∈": r"\in", "∉": r"\notin", "⊂": r"\subset", "⊆": r"\subseteq", "∪": r"\cup", "∩": r"\cap", "∅": r"\emptyset",
    "∀": r"\forall", "∃": r"\exists", "¬": r"\neg", "∧": r"\land", "∨": r"\lor", "…": r"\dots", "⋯": r"\cdots",
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon", "ϵ": r"\epsilon",
    "ζ": r"\zeta", "η": r"\eta", "θ": r"\theta", "ι": r"\iota", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu",
    "ν": r"\nu", "ξ": r"\xi", "π": r"\pi", "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "υ": r"\upsilon",
    "φ": r"\varphi", "ϕ": r"\phi", "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega", "Γ": r"\Gamma", "Δ": r"\Delta",
    "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi", "Π": r"\Pi", "Σ": r"\Sigma", "Φ": r"\Phi", "Ψ": r"\Psi",
    "Ω": r"\Omega", "{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&",
    "\u2061": "", "\u2062": "", "\u2063": "", "\u2064": "",
}  # fmt: skip
_ACCENTS = {"¯": r"\bar", "‾": r"\overline", "^": r"\hat", "ˆ": r"\hat", "~": r"\tilde", "→": r"\vec", "˙": r"\dot"}


def to_tex(math: HtmlElement) -> str:
    """A `<math>` element as TeX; its bare text where it is too large. Iterative."""
    if sum(1 for _ in math.iter()) > MAX_ELEMENTS:
        return " ".join("".join(math.itertext()).split())
    written: list[list[str]] = [[]]
    for event, element in etree.iterwalk(math, events=("start", "end")):
        if event == "start":
            written.append([])
        else:
            parts = written.pop()
            written[-1].append(_element(element, parts))
    return " ".join("".join(written[0]).split())


def _element(element: HtmlElement, parts: list[str]) -> str:
    name = element.tag.rpartition(":")[2] if isinstance(element.tag, str) else ""
    if name in ("annotation", "annotation-xml", "mspace", "none", "mprescripts", "mphantom"):
        return " " if name == "mspace" else ""
    if name in ("mi", "mn", "mo", "ms", "mtext"):
        return _token(name, " ".join((element.text or "").split()))
    if name == "mtr":
        return " & ".join(parts) + r" \\ "
    if name == "mtable":
        body = "".join(parts).removesuffix(r" \\ ")
        return rf"\begin{{matrix}}{body}\end{{matrix}}"
    layout = _LAYOUTS.get(name)
    if layout is not None and len(parts) == layout[0]:
        return layout[1](*parts)
    if name == "msqrt":
        return rf"\sqrt{{{''.join(parts)}}}"
    if name == "mfenced":
        bars = element.get("open", "("), element.get("close", ")")
        return f"{_symbol(bars[0])}{', '.join(parts)}{_symbol(bars[1])}"
    return "".join(parts)


def _token(name: str, text: str) -> str:
    if name == "mtext":
        return rf"\text{{{text}}}" if text else " "
    if name == "mi" and len(text) > 1 and text.isalpha() and text.isascii():
        return rf"\operatorname{{{text}}}"
    written = "".join(map(_symbol, text))
    return f" {written} " if name == "mo" and text in "=<>≤≥≠≈≡→⇒∈+−" and text else written


def _symbol(character: str) -> str:
    known = _SYMBOLS.get(character)
    if known is None:
        return character
    return f"{known} " if known[-1:].isalpha() else known


def _over(base: str, mark: str) -> str:
    accent = _ACCENTS.get(mark.strip()) or (r"\vec" if mark.strip() == r"\to" else None)
    return f"{accent}{{{base}}}" if accent else rf"\overset{{{mark}}}{{{base}}}"


def _under(base: str, mark: str) -> str:
    base = base.strip()
    return f"{base}_{{{mark}}}" if base.startswith("\\") else rf"\underset{{{mark}}}{{{base}}}"


def _base(base: str) -> str:
    base = base.strip()
    return base if len(base) <= 1 or (base.startswith("\\") and base[1:].isalpha()) else f"{{{base}}}"


_LAYOUTS: dict[str, tuple[int, Callable[..., str]]] = {
    "msup": (2, lambda base, up: f"{_base(base)}^{{{up}}}"),
    "msub": (2, lambda base, low: f"{_base(base)}_{{{low}}}"),
    "msubsup": (3, lambda base, low, up: f"{_base(base)}_{{{low}}}^{{{up}}}"),
    "munderover": (3, lambda base, low, up: f"{base.strip()}_{{{low}}}^{{{up}}}"),
    "munder": (2, _under),
    "mover": (2, _over),
    "mfrac": (2, lambda top, low: rf"\frac{{{top}}}{{{low}}}"),
    "mroot": (2, lambda base, index: rf"\sqrt[{index}]{{{base}}}"),
}

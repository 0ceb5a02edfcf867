"""An RSS or Atom document as feedparser can read it in linear time: well formed, and only what is asked of it.

feedparser's strict parser is fast, but quadratic in an author's length (40 KB take 14 s) and in the number of an
entry's categories; its loose parser, which takes what is not well formed, is quadratic in open tags. So libxml2
reads the document, repaired where it has to be, and a small copy with bounded texts goes on.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.entities import html5

from lxml import etree
from lxml.etree import _Element as XmlElement

from service.extraction.dom import printable
from service.extraction.urls import resolve

MAX_ENTRIES = 500
"""Entries of a feed that are read; feeds of real sites have 10 to 100."""

MAX_FIELD_CHARS = 1_000
"""Where all but contents and addresses are cut: titles, names, dates."""

MAX_FIELDS = 60
"""Elements of one entry that are read; a photo gallery has some 20."""

_XML = "http://www.w3.org/XML/1998/namespace"
_ATOM = "http://www.w3.org/2005/Atom"
_ATOM_03 = "http://purl.org/atom/ns#"
_NAMESPACES = {
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "media": "http://search.yahoo.com/mrss/",
}
_NAMES = {
    "atom": {"title", "link", "id", "author", "published", "updated", "issued", "modified", "created", "summary",
             "content", "subtitle", "tagline"},
    "rss": {"title", "link", "guid", "author", "pubDate", "description", "enclosure", "managingEditor"},
    "content": {"encoded"},
    "dc": {"creator", "date"},
    "itunes": {"author", "summary"},
    "media": {"content", "thumbnail", "description", "group", "title"},
}  # fmt: skip
_LONG = frozenset(("description", "encoded", "content", "summary", "link", "guid", "id"))
_FOLDED = {name.lower(): name for names in _NAMES.values() for name in names}

_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_REFERENCE = re.compile(r"&(#\d{1,8};|#[xX][0-9a-fA-F]{1,6};|[a-zA-Z][a-zA-Z0-9]{1,31};)?")
_TEXTS = re.compile(r"<((?:[a-zA-Z]{1,20}:)?(?:description|encoded|title|summary|content))((?:\s[^<>]*)?)>", re.I)
_OF_XML = frozenset(("amp;", "lt;", "gt;", "quot;", "apos;"))


def shape(text: str, url: str | None) -> bytes | None:
    """The small copy of a feed's text, as UTF-8; None where there is no feed in it.

    Its root has the base of all addresses: the feed's own `xml:base`, else in RSS, which knows no rule, the site that
    the feed is of, and in Atom its own address `url` (RFC 4287, 2).
    """
    text = printable(_DECLARATION.sub("", text.lstrip("\ufeff"), count=1))
    root = _tree(text, recover=False)
    if root is None:
        root = _tree(_repaired(text), recover=True)
    if root is None:
        return None
    top = _local(root)
    if top not in ("rss", "rdf", "feed"):
        root = next((e for e in root.iter() if _local(e) in ("rss", "rdf", "feed")), None)
        if root is None:
            return None
        top = _local(root)
    copy = _atom(root, url) if top == "feed" else _rss(root, url)
    shaped: bytes = etree.tostring(copy, encoding="utf-8", xml_declaration=True)
    return shaped


def _tree(text: str, *, recover: bool) -> XmlElement | None:
    parser = etree.XMLParser(
        recover=recover, resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None


def _repaired(text: str) -> str:
    """Text with HTML's entities written out, stray ampersands escaped, and bare mark-up in texts put into CDATA."""
    start = text.find("<rss")
    for name in ("<rdf:RDF", "<feed"):
        found = text.find(name)
        start = found if start < 0 else min(start, found) if found >= 0 else start
    text = "".join(_with_cdata(text[max(start, 0) :]))
    return "".join(part if inside else _REFERENCE.sub(_reference, part) for inside, part in _cdata(text))


def _with_cdata(text: str) -> Iterator[str]:
    position = 0
    while match := _TEXTS.search(text, position):
        end = text.find(f"</{match.group(1)}>", match.end())
        if end < 0 or match.group(2).endswith("/"):
            yield text[position : match.end()]
            position = match.end()
            if end < 0:
                break
            continue
        inner = text[match.end() : end]
        yield text[position : match.end()]
        if "<" in inner and "<![CDATA[" not in inner and "xhtml" not in match.group(2):
            yield f"<![CDATA[{html.unescape(inner).replace(']]>', ']] >')}]]>"
        else:
            yield inner
        position = end
    yield text[position:]


def _cdata(text: str) -> Iterator[tuple[bool, str]]:
    """Parts of a text, and whether each is a CDATA section."""
    position = 0
    while (start := text.find("<![CDATA[", position)) >= 0:
        end = text.find("]]>", start)
        if end < 0:
            break
        yield False, text[position:start]
        yield True, text[start : end + 3]
        position = end + 3
    yield False, text[position:]


def _reference(match: re.Match[str]) -> str:
    name = match.group(1)
    if not name:
        return "&amp;"
    if name in _OF_XML:
        return match.group()
    if name.startswith("#"):  # a control character is one that XML has no way to write
        return html.escape(printable(html.unescape(f"&{name}")))
    return html.escape(html.unescape(f"&{name}")) if name in html5 else f"&amp;{name}"


def _rss(root: XmlElement, url: str | None) -> XmlElement:
    """RSS of any version, RDF's too, as RSS 2.0."""
    copy = etree.Element("rss", {"version": "2.0"}, nsmap=_NAMESPACES)
    channel = etree.SubElement(copy, "channel")
    source = next((e for e in root.iter() if _local(e) == "channel"), root)
    links = ("".join(e.itertext()).strip() for e in source.iterchildren() if _local(e) == "link")
    site = next((address for link in links if (address := resolve(url, link))), None)
    _root_base(root, copy, site or url, url)
    if source is not root:
        _base(source, channel)
    _fields(source, channel, "")
    for item in _entries(root, "item"):
        _fields(item, _base(item, etree.SubElement(channel, "item")), "")
    return copy


def _atom(root: XmlElement, url: str | None) -> XmlElement:
    # Atom 0.3 has a namespace of its own, and modes of escaping that go with it.
    namespace = _ATOM_03 if _namespace(root) == _ATOM_03 else _ATOM
    spaces: dict[str | None, str] = {None: namespace}
    spaces.update(_NAMESPACES)
    copy = etree.Element(f"{{{namespace}}}feed", nsmap=spaces)
    _root_base(root, copy, url, url)
    _fields(root, copy, namespace)
    for entry in _entries(root, "entry"):
        _fields(entry, _base(entry, etree.SubElement(copy, f"{{{namespace}}}entry")), namespace)
    return copy


def _entries(root: XmlElement, name: str) -> Iterator[XmlElement]:
    count = 0
    for element in root.iter():
        if _local(element) == name:
            yield element
            count += 1
            if count == MAX_ENTRIES:
                return


def _fields(source: XmlElement, target: XmlElement, atom: str) -> None:
    """Copy the known children of a feed or an entry."""
    kept = 0
    for child in source.iterchildren():
        prefix, name = _kind(child, atom), _FOLDED.get(_local(child), "")
        if not prefix or name not in _NAMES[prefix]:
            continue
        kept += 1
        if kept > MAX_FIELDS:
            return
        namespace = {"rss": "", "atom": atom or _ATOM}.get(prefix, _NAMESPACES.get(prefix, ""))
        tag = f"{{{namespace}}}{name}" if namespace else name
        if name == "group":
            for part in child.iterchildren():
                if (inner := _FOLDED.get(_local(part), "")) in _NAMES["media"] - {"group"}:
                    _field(part, target, f"{{{namespace}}}{inner}", inner)
        else:
            _field(child, target, tag, name)


def _field(child: XmlElement, target: XmlElement, tag: str, name: str) -> None:
    copy = _base(child, etree.SubElement(target, tag))
    for key, value in child.attrib.items():
        if key in ("href", "url", "src"):
            copy.set(key, value)
        elif key in ("rel", "type", "mode", "isPermaLink", "medium", "length"):
            copy.set(key, value[:MAX_FIELD_CHARS])
    xhtml = copy.get("type", "").endswith("xhtml") or copy.get("mode") == "xml"
    if len(child) and name in _LONG and xhtml:
        copy.text = child.text
        copy.extend(_safe(child))
    elif name == "author" and len(child):
        for part in child.iterchildren():
            if (local := _local(part)) in ("name", "email", "uri"):
                inner = etree.SubElement(copy, etree.QName(etree.QName(tag).namespace, local))
                inner.text = "".join(part.itertext())[:MAX_FIELD_CHARS]
    else:
        text = _marked(child) if len(child) and name in _LONG else "".join(child.itertext())
        copy.text = text if name in _LONG else text.strip()[:MAX_FIELD_CHARS]


def _safe(child: XmlElement) -> list[XmlElement]:
    """XHTML inside a feed, without what would not be well formed in another place."""
    parts = etree.tostring(child, encoding="unicode", with_tail=False)
    parsed = _tree(parts, recover=True)
    return list(parsed) if parsed is not None else []


def _marked(child: XmlElement) -> str:
    """Mark-up that stands unescaped in a text, as the text that it would be."""
    inner = (etree.tostring(part, encoding="unicode", method="html") for part in child)
    return html.escape(child.text or "", quote=False) + "".join(inner)


def _base(source: XmlElement, copy: XmlElement) -> XmlElement:
    base = source.get(f"{{{_XML}}}base")
    if base:
        copy.set(f"{{{_XML}}}base", base[:MAX_FIELD_CHARS])
    return copy


def _root_base(root: XmlElement, copy: XmlElement, without: str | None, url: str | None) -> None:
    base = resolve(url, root.get(f"{{{_XML}}}base")) or without
    if base:
        copy.set(f"{{{_XML}}}base", printable(base))


def _kind(element: XmlElement, atom: str) -> str:
    """The vocabulary of an element: by its namespace, else by the prefix that a broken feed forgot to declare."""
    namespace = _namespace(element)
    known = next((name for name, address in _NAMESPACES.items() if address.rstrip("/") == namespace.rstrip("/")), "")
    if known:
        return known
    if namespace and "atom" in namespace.lower():
        return "atom"
    prefix = element.tag.partition(":")[0] if isinstance(element.tag, str) and not namespace else ""
    if prefix in _NAMES:
        return prefix
    if not namespace or namespace.startswith(
        ("http://purl.org/rss/1.0/", "http://my.netscape.com/", "http://backend.")
    ):
        return "atom" if atom and not namespace else "rss"
    return ""


def _namespace(element: XmlElement) -> str:
    tag = element.tag
    return tag[1:].partition("}")[0] if isinstance(tag, str) and tag.startswith("{") else ""


def _local(element: XmlElement) -> str:
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(tag, str) else ""

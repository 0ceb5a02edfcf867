"""Bodies in the data of a page: every shape read whole, whatever stands around it, in bounded time."""

from __future__ import annotations

import html
import json
import random
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from service import Failure, Page, extract
from service.extraction.payload.literals import assigned

TITLE = "The mill race"
URL = "https://thornby.example/notes/the-mill-race"
FIRST = 'The race {at Thornby} froze on Monday, said "the miller", and nobody had asked it to; the sled stayed at home.'
SECOND = "By evening the sluice had to be opened. The record stands at a hand and a half, whatever that hand measured."
MARKED = f"<p>{html.escape(FIRST, quote=False)}</p><p>{SECOND}</p>"
LEGAL = (
    "We and our partners keep small files on your device. You may withdraw at any time, and nothing will change. " * 9
)
OTHER = (
    "A ferry that nobody rows is a raft. Whoever finds the oars may keep them, said the harbour master on Friday. " * 4
)


def page(data: str, *, body: str = "", url: str = URL) -> Page:
    return extract(
        f"<html><head><title>{TITLE} | Thornby</title></head><body><div id=app>{body}</div>{data}</body></html>", url
    )


def script(code: str, attributes: str = "") -> str:
    escaped = code.replace("</", "<\\/")
    return f"<script {attributes}>{escaped}</script>"


def reads(found: Page, name: str) -> None:
    assert found.source == f"payload:{name}"
    assert (FIRST in found.text, SECOND in found.text) == (True, True)
    assert "small files" not in found.text
    assert "ferry" not in found.text


STATE: dict[str, Any] = {
    "nav": [{"label": "Home", "href": "/"}] * 5,
    "consent": {"text": LEGAL},
    "latest": [{"title": f"Ferry {number}", "body": OTHER} for number in range(4)],
    "post": {"title": TITLE, "slug": "the-mill-race", "body": MARKED},
}
LITERAL = (
    "{nav:[{label:'Home',href:\"\\u002F\"}],consent:{text:a},post:{title:'The mill race',at:new Date(\"2026-01-19\"),"
    "draft:!1,parent:void 0,body:b,},}"
)

SHAPES: dict[str, tuple[str, str]] = {
    "next": ("state", script(json.dumps({"props": {"pageProps": STATE}}), 'id=__NEXT_DATA__ type="application/json"')),
    "assigned": ("state", script(f"window.__INITIAL_STATE__ = {json.dumps(STATE)};(function(){{var s;}}())")),
    "assigned later": (
        "state",
        script(f"var a={{b:1}};if(a.b){{a.c=[1,2]}};window['__APOLLO_STATE__']={json.dumps(STATE)};"),
    ),
    "parsed": ("state", script(f"window.__STATE__=JSON.parse({json.dumps(json.dumps(STATE))});")),
    "parsed in single quotes": (
        "state",
        script("window.s=JSON.parse('" + json.dumps(STATE).replace("\\", "\\\\").replace("'", "\\'") + "')"),
    ),
    "a string": ("state", script(f"window.__PRELOADED__={json.dumps(json.dumps(STATE))}")),
    "nuxt 2": (
        "state",
        script(f"window.__NUXT__=(function(a,b){{return {LITERAL}}}({json.dumps(LEGAL)},{json.dumps(MARKED)}));"),
    ),
    "attribute": ("state", f'<div id=page data-page="{html.escape(json.dumps({"props": STATE}))}"></div>'),
    "escaped script": ("state", f"<script type=application/json>{html.escape(json.dumps(STATE))}</script>"),
    "arc": (
        "arc-xp",
        script(
            "Fusion.arcSite='x';Fusion.globalContent="
            + json.dumps({"content_elements": [{"type": "text", "content": t} for t in (FIRST, SECOND)]})
            + ';Fusion.contentCache={"a":{}}'
        ),
    ),
    "json-ld": (
        "json-ld",
        script(json.dumps({"@type": "NewsArticle", "articleBody": f"{FIRST}\n{SECOND}"}), "type=application/ld+json"),
    ),
    "wordpress": (
        "state",
        script(
            "var wp="
            + json.dumps(
                [{"title": {"rendered": TITLE}, "content": {"rendered": MARKED}, "excerpt": {"rendered": FIRST}}]
            )
        ),
    ),
    "discourse": (
        "discourse",
        '<div id=data-preloaded data-preloaded="'
        + html.escape(
            json.dumps(
                {
                    "site": json.dumps({"faq": LEGAL}),
                    "topic_7": json.dumps(
                        {
                            "post_stream": {
                                "posts": [
                                    {"username": "oren", "cooked": f"<p>{html.escape(FIRST)}</p>"},
                                    {"username": "ruth", "cooked": f"<p>{SECOND}</p>"},
                                ]
                            }
                        }
                    ),
                }
            )
        )
        + '"></div>',
    ),
    "escaped twice": ("state", script("x=" + json.dumps({"title": TITLE, "body": html.escape(html.escape(MARKED))}))),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_body_is_found(shape: str) -> None:
    name, data = SHAPES[shape]
    reads(page(data), name)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_mark_up_s_own_body_wins(shape: str) -> None:
    own = "What the page shows is what it says: the mill is closed, the bridge is open, and tea is at four. " * 3
    found = page(SHAPES[shape][1], body=f"<article><p>{own}</p></article>")
    assert found.source == "body"
    assert "tea is at four" in found.text


def test_the_stream_of_next_js() -> None:
    text = MARKED + "é" * 3
    rows = (
        '1:"$Sreact.fragment"\n2:I[7,["static/x.js"],"default"]\n'
        f"a:T{len(text.encode()):x},{text}"
        f"3:{json.dumps(['$', 'main', None, {'post': {'title': TITLE, 'html': '$a'}, 'legal': {'text': LEGAL}}])}\n"
    )
    cuts = [0, 10, len(rows) // 2, len(rows)]
    pushes = "".join(script(f"self.__next_f.push([1,{json.dumps(rows[a:b])}])") for a, b in pairwise(cuts))
    reads(page(script("(self.__next_f=self.__next_f||[]).push([0])") + pushes), "flight")


def test_nuxt_s_references() -> None:
    flat = [["ShallowReactive", 1], {"data": 2}, ["Reactive", 3], {"post": 4, "legal": 7, "self": 3},
            {"title": 5, "html": 6, "back": 3}, TITLE, MARKED, {"text": 8}, LEGAL]  # fmt: skip
    reads(page(script(json.dumps(flat), 'type="application/json" id="__NUXT_DATA__"')), "state")


def text_node(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


TREES: dict[str, Any] = {
    "prosemirror": {"type": "doc", "content": [
        {"type": "heading", "attrs": {"level": 3}, "content": [text_node("What it was")]},
        *({"type": "paragraph", "content": [text_node(t)]} for t in (FIRST, SECOND)),
        {"type": "bulletList", "content": [{"type": "listItem", "content": [{"type": "paragraph", "content": [
            text_node("One lamp")]}]}]}]},
    "slate": [{"type": "h3", "children": [{"text": "What it was"}]},
              *({"type": "paragraph", "children": [{"text": t}]} for t in (FIRST, SECOND)),
              {"type": "bulleted-list", "children": [{"type": "list-item", "children": [{"text": "One lamp"}]}]}],
    "portable text": [{"_type": "block", "style": "h3", "children": [{"_type": "span", "text": "What it was"}]},
                      *({"_type": "block", "style": "normal", "children": [{"_type": "span", "text": t, "marks": []}]}
                        for t in (FIRST, SECOND)),
                      {"_type": "block", "style": "normal", "listItem": "bullet",
                       "children": [{"_type": "span", "text": "One lamp"}]}],
    "contentful": {"nodeType": "document", "content": [
        {"nodeType": "heading-3", "content": [{"nodeType": "text", "value": "What it was", "marks": []}]},
        *({"nodeType": "paragraph", "content": [{"nodeType": "text", "value": t, "marks": []}]} for t in (FIRST, SECOND)),
        {"nodeType": "unordered-list", "content": [{"nodeType": "list-item", "content": [
            {"nodeType": "paragraph", "content": [{"nodeType": "text", "value": "One lamp"}]}]}]}]},
    "hast": {"type": "root", "children": [
        {"type": "element", "tagName": "h3", "children": [{"type": "text", "value": "What it was"}]},
        *({"type": "element", "tagName": "p", "children": [{"type": "text", "value": t}]} for t in (FIRST, SECOND)),
        {"type": "element", "tagName": "ul", "children": [
            {"type": "element", "tagName": "li", "children": [{"type": "text", "value": "One lamp"}]}]}]},
    "lexical": {"root": {"type": "root", "children": [
        {"type": "heading", "tag": "h3", "children": [text_node("What it was")]},
        *({"type": "paragraph", "children": [text_node(t)]} for t in (FIRST, SECOND)),
        {"type": "list", "children": [{"type": "listitem", "children": [text_node("One lamp")]}]}]}},
    "editor.js": {"time": 1, "blocks": [
        {"type": "header", "data": {"text": "What it was", "level": 3}},
        *({"type": "paragraph", "data": {"text": t}} for t in (FIRST, SECOND)),
        {"type": "list", "data": {"style": "unordered", "items": ["One lamp"]}}]},
    "react": [["$", "h3", None, {"children": "What it was"}],
              *(["$", "p", None, {"children": t}] for t in (FIRST, SECOND)),
              ["$", "ul", None, {"children": ["$", "li", None, {"children": "One lamp"}]}]],
    "strings": [FIRST, SECOND, "One lamp burned all night on the ice, and then What it was went out."],
}  # fmt: skip


@pytest.mark.parametrize("tree", TREES)
def test_structured_text(tree: str) -> None:
    state = {"consent": {"text": LEGAL}, "post": {"title": TITLE, "content": TREES[tree]}}
    found = page(script(f"window.s={json.dumps(state)}"))
    reads(found, "state")
    assert "One lamp" in found.text
    assert "What it was" in found.text
    if tree != "strings":
        assert "### What it was" in found.markdown
        assert "- One lamp" in found.markdown


ELEMENTS: list[tuple[dict[str, Any], str]] = [
    ({"type": "text", "content": "Plain <b>bold</b>."}, "Plain **bold**."),
    ({"type": "header", "level": 3, "content": "Head"}, "### Head"),
    ({"type": "image", "url": "https://a.example/i.jpg", "alt_text": "ice", "caption": "Thin."}, "![ice](https://a.example/i.jpg)"),
    ({"type": "gallery", "content_elements": [{"type": "image", "url": "https://a.example/g.jpg"}]}, "https://a.example/g.jpg"),
    ({"type": "video", "streams": [{"url": "https://a.example/v.mp4"}], "headlines": {"basic": "Ice"}}, "https://a.example/v.mp4"),
    ({"type": "list", "list_type": "ordered", "items": [{"type": "text", "content": "uno"}]}, "1. uno"),
    ({"type": "list", "items": [{"type": "list", "items": [{"type": "text", "content": "deep"}]}]}, "- deep"),
    ({"type": "quote", "content_elements": [{"type": "text", "content": "Said."}], "citation": {"content": "Ruth"}}, "> Said."),
    ({"type": "table", "header": [{"content": "Year"}, {"content": "Ice"}], "rows": [[{"content": "2026"}, {"content": "2"}]]}, "| 2026 | 2 |"),
    ({"type": "raw_html", "content": "<p>Raw <em>it</em>.</p>"}, "Raw *it*."),
    (
        {"type": "oembed_response", "raw_oembed": {"url": "https://v.example/1", "title": "A film", "html": "<iframe></iframe>"}},
        "[A film](https://v.example/1)",
    ),
    ({"type": "interstitial_link", "url": "https://a.example/m", "content": "More"}, "[More](https://a.example/m)"),
    ({"type": "link_list", "title": "See", "items": [{"url": "https://a.example/n", "content": "Next"}]}, "[Next](https://a.example/n)"),
    ({"type": "correction", "text": "It was Tuesday."}, "It was Tuesday."),
    ({"type": "endorsement", "text": "We stand by it."}, "We stand by it."),
    ({"type": "code", "content": "if a < b:\n    go()"}, "if a < b:\n    go()"),
    ({"type": "numeric_rating", "numeric_rating": 4, "max": 5, "units": "stars"}, "4/5 stars"),
    ({"type": "custom_embed", "embed": {"config": {"url": "https://a.example/map", "title": "A map"}}}, "[A map](https://a.example/map)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("element", "markdown"), ELEMENTS, ids=lambda value: value["type"] if isinstance(value, dict) else ""
)
def test_every_element_of_arc(element: dict[str, Any], markdown: str) -> None:
    text = [{"type": "text", "content": FIRST}, element, {"type": "divider"}, {"type": "text", "content": SECOND}]
    found = page(script("Fusion.globalContent=" + json.dumps({"content_elements": text}) + ";x=1"))
    reads(found, "arc-xp")
    assert markdown in found.markdown


def test_a_list_of_articles_is_none_of_them() -> None:
    data = {"items": [{"title": f"Ferry {number}", "body": f"Number {number}. {OTHER}"} for number in range(6)]}
    with pytest.raises(Failure):
        page(script(f"window.s={json.dumps(data)}"), url="https://thornby.example/")


def test_a_cut_body_is_read_on() -> None:
    """The mark-up has the beginning and an ellipsis; the data the whole."""
    whole = [f"{FIRST} This is line {number} of what the log says about the ice." for number in range(8)]
    data = {"title": TITLE, "body": "".join(f"<p>{html.escape(line)}</p>" for line in whole)}
    shown = f"<article><h1>{TITLE}</h1><p>{whole[0]}</p><p>{whole[1][:110]}…</p></article>"
    found = page(script(f"window.s={json.dumps(data)}"), body=shown)
    assert (found.source, whole[7] in found.text) == ("payload:state", True)
    again = page(script(f"window.s={json.dumps(data)}"), body=shown.replace("…", "."))
    assert again.source == "body"


POSTS: dict[str, dict[str, Any]] = {
    "note": {
        "@context": ["https://www.w3.org/ns/activitystreams", {"x": "y"}], "type": "Note",
        "attributedTo": "https://social.example/users/oren", "published": "2026-03-02T06:00:00Z",
        "content": "<p>Low water at <b>six</b>.</p>", "quote": {"type": "Note", "attributedTo": "https://b.example/@ruth",
                                                                "content": "<p>Who has the key?</p>"},
        "attachment": [{"type": "Document", "mediaType": "image/png", "url": "https://social.example/i.png", "name": "Sand"}],
    },
    "status": {
        "created_at": "2026-03-02T06:00:00Z", "content": "<p>Low water at <b>six</b>.</p>",
        "account": {"acct": "oren", "display_name": "Oren", "url": "https://social.example/@oren"},
        "quote": {"quoted_status": {"created_at": "x", "content": "<p>Who has the key?</p>", "account": {"acct": "ruth"}}},
        "media_attachments": [{"type": "image", "url": "https://social.example/i.png", "description": "Sand"}],
    },
    "posting": {
        "@context": "https://schema.org", "@type": "SocialMediaPosting", "author": {"@type": "Person", "name": "oren"},
        "datePublished": "2026-03-02T06:00:00Z", "articleBody": "Low water at six.",
        "image": "https://social.example/i.png",
        "sharedContent": {"@type": "SocialMediaPosting", "author": {"name": "ruth"}, "text": "Who has the key?"},
    },
}  # fmt: skip


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", POSTS)
@pytest.mark.parametrize("how", ["activity", "none", "html"])
def test_posts_keep_what_makes_them(name: str, reverse: bool, how: str) -> None:
    data = dict(reversed(POSTS[name].items())) if reverse else POSTS[name]
    if how == "html":
        kind = "application/ld+json" if name == "posting" else "application/json"
        found = page(script(json.dumps(data), f"type={kind}"))
        assert found.source == "payload:post"
    else:
        found = extract(json.dumps(data).encode(), URL, {"activity": "application/activity+json"}.get(how))
    assert found.kind == "social"
    for text in ("ren", "2026-03-02T06:00:00Z", "Low water at six.", "ruth", "Who has the key?"):
        assert text in found.text
    assert "> Who has the key?" in found.markdown
    assert found.images[0].url == "https://social.example/i.png"
    assert "ren" in (found.metadata.author or "")
    assert found.metadata.published == "2026-03-02T06:00:00Z"


def test_oembed() -> None:
    data = {"html": "<blockquote><p>Low water at six.</p>&mdash; Oren</blockquote><script src=x></script>", "type": "rich",
            "version": "1.0", "author_name": "Oren", "author_url": "https://social.example/@oren", "provider_name": "Social"}  # fmt: skip
    found = extract(json.dumps(data).encode(), URL, "application/json+oembed")
    assert (found.kind, found.site, found.metadata.author) == ("social", "Social", "Oren")
    assert "Low water at six." in found.text


@pytest.mark.parametrize(
    "data", [{"a": 1}, [1, 2], {"type": "Note"}, {"type": "link", "version": 2}, {"@type": "Thing"}]
)
def test_other_json_remains_code(data: Any) -> None:
    assert extract(json.dumps(data).encode(), URL, "application/json").markdown.startswith("```json")


UNITS = ["={", '={"a":', "=[", '=["a",', "={a:b,", '="', '="\\', "(function(a){return {", "={/*", "=`${", "='\\", ",{a:1}",
         "=JSON.parse('", '={"a":"', "/*", "=function(a,"]  # fmt: skip


@pytest.mark.parametrize("size", [100_000, 400_000])
@pytest.mark.parametrize("unit", UNITS)
def test_scripts_take_their_time_and_no_more(unit: str, size: int) -> None:
    text = unit * (size // len(unit))
    started = time.process_time()
    for _ in assigned(text):
        pass
    assert time.process_time() - started < 0.3 + 3 * size / 1_000_000


HEAVY: dict[str, Any] = {
    "many values": [[{"a": 1, "b": [2]}] * 3] * 40_000,
    "labels": [{"label": "Home", "href": "/a/b/c" * 20}] * 12_000,
    "deep": json.loads("[" * 400 + "]" * 400),
    "a tree in trees": {
        "type": "doc",
        "content": [{"type": "doc", "content": [{"type": "p", "text": "x" * 50}] * 900}] * 60,
    },
    "long strings": ["a. " * 300_000] * 3,
    "tags": {"body": "<p " * 400_000},
    "entities": {"body": "&lt;p&gt;" * 100_000},
}


@pytest.mark.parametrize("name", HEAVY)
def test_megabytes_of_other_state(name: str) -> None:
    state = {"heavy": HEAVY[name], **STATE}
    started = time.process_time()
    found = page(script(f"window.s={json.dumps(state)}"))
    assert time.process_time() - started < 4
    reads(found, "state")


@pytest.mark.parametrize("seed", range(4))
def test_mutated_payloads_are_a_page_or_named(seed: int) -> None:
    chance = random.Random(seed)
    sources = [data.encode() for _, data in SHAPES.values()]
    sources += [script(f"window.s={json.dumps({'title': TITLE, 'content': tree})}").encode() for tree in TREES.values()]
    sources += [script(json.dumps(post), "type=application/ld+json").encode() for post in POSTS.values()]
    sources += [path.read_bytes() for path in (Path(__file__).parents[2] / "captures").glob("payload-*/page.*")]
    shards = [b"{", b"}", b"[", b"]", b'"', b"'", b"\\", b"\\u", b"null", b"[null]", b"1e999", b":", b",", b"</script>",
              b'{"type":[]}', b'"@type":"SocialMediaPosting",', b'"content":{"a":1},', b'"type":"doc",', b"&quot;",
              b"T5,", b"\xff", b"1" * 5_000, b"\\ud800", b"-1", b'"level":"x",']  # fmt: skip
    for _ in range(80):
        document = bytearray(chance.choice(sources))
        for _ in range(chance.randint(1, 8)):
            place = chance.randrange(len(document) + 1)
            if chance.random() < 0.7:
                document[place:place] = chance.choice(shards) * chance.choice([1, 1, 3])
            else:
                del document[place : place + chance.randint(1, 60)]
        for body in (b"<title>x</title>" + bytes(document), bytes(document)):
            with suppress(Failure):
                extract(body, URL).markdown.encode()

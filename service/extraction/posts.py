"""Social posts as data: ActivityPub objects, statuses of its servers' API, oEmbed answers, schema.org postings.

Whatever the order of their keys, a post keeps its author, time, text, media and the post that it quotes.
"""

from __future__ import annotations

import html
import json
from typing import Any

from service.extraction.dom import collapse, printable
from service.extraction.facts import types
from service.extraction.post import MARKUP, Media, Post
from service.failures import ExtractFailed

MAX_QUOTES = 3
"""Posts that quote each other are followed so far."""

MAX_MEDIA = 40
"""Media of one post that are kept."""

_STREAMS = "www.w3.org/ns/activitystreams"
_OBJECTS = frozenset(("Note", "Article", "Page", "Question", "Video", "Image", "Audio", "Event"))
_ACTIVITIES = frozenset(("Create", "Announce", "Update"))
_POSTINGS = frozenset(("SocialMediaPosting", "DiscussionForumPosting", "BlogPosting", "Comment"))
_QUOTES = ("quote", "quoteUrl", "quoteUri", "_misskey_quote", "quoted_status", "reblog", "sharedContent", "isBasedOn")
_OEMBED = frozenset(("rich", "video", "photo", "link"))


def is_post(data: Any) -> bool:
    """Whether a JSON document is a post of a known shape."""
    return read(data) is not None


def read(data: Any, quotes: int = MAX_QUOTES) -> Post | None:
    """The post that an object is, None where it is of no known shape or says nothing."""
    if not isinstance(data, dict):
        return None
    post = None
    kind = _type(data)
    if kind in _ACTIVITIES and isinstance(data.get("object"), dict) and quotes:
        return read({"@context": data.get("@context"), **data["object"]}, quotes - 1)
    if kind in _OBJECTS and (_is_streams(data) or "attributedTo" in data):
        post = _activity(data, kind)
    elif isinstance(data.get("account"), dict) and "content" in data and "created_at" in data:
        post = _status(data)
    elif str(data.get("version")) == "1.0" and kind in _OEMBED and _is_oembed(data):
        post = _oembed(data, kind)
    elif not types(data).isdisjoint(_POSTINGS):
        post = _posting(data)
    if post is None:
        return None
    if quotes:
        post.quoted = _quoted(data, quotes)
    return post if post.says_something() else None


def from_document(body: bytes) -> Post:
    """The post that a JSON document is. Raises `ExtractFailed` when it is none."""
    try:
        post = read(json.loads(body))
    except (ValueError, RecursionError):
        post = None
    if post is None:
        raise ExtractFailed("The document is no post.", reason="post broken")
    return post


def _activity(data: dict[str, Any], kind: str) -> Post:
    """ActivityStreams 2.0: Note and its kin."""
    people = _first(data.get("attributedTo")) or _first(data.get("actor"))
    texts = data.get("contentMap")
    content = data.get("content") or next(iter(texts.values()), "") if isinstance(texts, dict) else data.get("content")
    options = data.get("oneOf") or data.get("anyOf")
    post = Post(
        author=_name(people),
        address=people if isinstance(people, str) else _link(people),
        published=_string(data.get("published")),
        title=_string(data.get("name")) if kind != "Note" else "",
        warning=_plain(data.get("summary")),
        content=_string(content),
        url=_link(data) or _string(data.get("id")),
        is_article=kind in ("Article", "Page"),
        choices=[_string(o.get("name")) for o in options if isinstance(o, dict)] if isinstance(options, list) else [],
    )
    own = [data] if kind in ("Video", "Image", "Audio") and "url" in data else []
    for item in (*own, *_list(data.get("attachment")), *_list(data.get("image"))):
        _attach(post, item, "name")
    return post


def _status(data: dict[str, Any]) -> Post:
    """A status of Mastodon's API, which many servers speak."""
    account = data["account"]
    handle = _string(account.get("acct"))
    name = _string(account.get("display_name"))
    post = Post(
        author=f"{name} (@{handle})" if name and handle else name or handle,
        address=_web(account.get("url")),
        published=_string(data.get("created_at")),
        warning=_plain(data.get("spoiler_text")),
        content=_string(data.get("content")),
        url=_web(data.get("url")),
    )
    poll = data.get("poll")
    if isinstance(poll, dict):
        post.choices = [_string(o.get("title")) for o in _list(poll.get("options")) if isinstance(o, dict)]
    for item in _list(data.get("media_attachments")):
        _attach(post, item, "description")
    return post


def _is_oembed(data: dict[str, Any]) -> bool:
    return any(isinstance(data.get(key), str) for key in ("html", "url", "title", "author_name", "thumbnail_url"))


def _oembed(data: dict[str, Any], kind: str) -> Post:
    """oEmbed 1.0. Its `html` is a quotation of the post: what it says is kept, its scripts are not."""
    post = Post(
        author=_string(data.get("author_name")),
        address=_web(data.get("author_url")),
        title=_string(data.get("title")),
        content=_string(data.get("html")),
        site=_string(data.get("provider_name")),
        url="" if kind == "photo" else _web(data.get("url")),
    )
    if kind == "photo":
        _attach(post, {"url": data.get("url"), "type": "Image", "name": data.get("title")}, "name")
    elif _web(data.get("thumbnail_url")) and not post.content:
        _attach(post, {"url": data.get("thumbnail_url"), "type": "Image"}, "name")
    return post


def _posting(data: dict[str, Any]) -> Post:
    """schema.org: a posting, as JSON-LD has it."""
    person = _first(data.get("author")) or _first(data.get("creator"))
    post = Post(
        author=_name(person),
        address=_link(person),
        published=_string(_first(data.get("datePublished")) or data.get("dateCreated")),
        content=_string(data.get("articleBody") or data.get("text")),
        url=_web(data.get("url")),
    )
    headline = collapse(_string(data.get("headline")))
    if not post.content:
        post.content = html.escape(headline, quote=False)
    elif headline and not collapse(post.content).startswith(headline.rstrip(" .…")):
        post.title = headline
    for key in ("image", "video", "audio", "associatedMedia", "sharedContent"):
        for item in _list(data.get(key)):
            kind = types(item) if isinstance(item, dict) else set()
            if key != "sharedContent" or not kind.isdisjoint(("ImageObject", "VideoObject", "AudioObject")):
                _attach(post, item if isinstance(item, dict) else {"url": item, "type": key}, "caption")
    return post


def _quoted(data: dict[str, Any], quotes: int) -> Post | None:
    for key in _QUOTES:
        value = _first(data.get(key))
        if isinstance(value, dict):
            nested = value.get("quoted_status")
            inner = nested if isinstance(nested, dict) else value
            post = read({"@context": data.get("@context"), **inner}, quotes - 1)
            if post is not None:
                return post
            value = _link(value)
        if isinstance(value, str) and _web(value) and key not in ("isBasedOn",):
            address = html.escape(value)
            return Post(content=f'<p><a href="{address}">{address}</a></p>')
    return None


def _attach(post: Post, item: Any, text: str) -> None:
    """Add what an attachment holds, if it can be shown."""
    if isinstance(item, str):
        item = {"url": item, "type": "Image"}
    if not isinstance(item, dict) or len(post.media) >= MAX_MEDIA:
        return
    address = _web(item.get("contentUrl")) or _link(item) or _web(item.get("embedUrl"))
    declared = f"{_string(item.get('mediaType'))} {item.get('type')} {' '.join(types(item))}".lower()
    kind = next((k for k in ("video", "audio", "image") if k in declared), "video" if "gifv" in declared else "image")
    if address and address not in [media.url for media in post.media]:
        said = _string(item.get(text)) or _string(item.get("name")) or _string(item.get("summary"))
        post.media.append(Media(address, kind, collapse(_plain(said))))


def _type(data: dict[str, Any]) -> str:
    """The type of an ActivityStreams object or an oEmbed answer: the first, where it has several."""
    return next((kind for kind in _list(data.get("type")) if isinstance(kind, str)), "")


def _is_streams(data: dict[str, Any]) -> bool:
    return any(isinstance(item, str) and _STREAMS in item for item in _list(data.get("@context")))


def _name(person: Any) -> str:
    """A person's name, else the end of the address that stands for one."""
    if isinstance(person, dict):
        name = _string(_first(person.get("name")))
        handle = _string(person.get("preferredUsername") or person.get("alternateName"))
        return f"{name} (@{handle.lstrip('@')})" if name and handle else name or handle or _name(person.get("id"))
    return person.rstrip("/").rpartition("/")[2][:200] if isinstance(person, str) and person else ""


def _link(item: Any) -> str:
    """The web address of an object: `url`, `href`, or the first of a list of links, a page before a file."""
    value = item
    for _ in range(4):
        if isinstance(value, dict):
            value = value.get("url") or value.get("href") or value.get("@id")
        elif isinstance(value, list):
            pages = [v for v in value if isinstance(v, dict) and v.get("mediaType") == "text/html"]
            value = (pages or value or [None])[0]
        else:
            break
    return _web(value)


def _web(value: Any) -> str:
    text = _string(value)
    return text if text.startswith(("http://", "https://")) else ""


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None if isinstance(value, list) else value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _plain(value: Any) -> str:
    return collapse(html.unescape(MARKUP.sub(" ", _string(value)))) if "<" in _string(value) else _string(value)


def _string(value: Any) -> str:
    return printable(value).strip() if isinstance(value, str) else ""

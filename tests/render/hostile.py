"""Pages that do to a browser what strangers' pages do. Most have a text worth reading beside it."""

# ruff: noqa: E501 (a page a line reads better than one broken in four)

from __future__ import annotations

TEXT = "The keeper of the lighthouse counts every boat that passes in the evening. "
BODY = "<article>" + f"<p>{TEXT * 2}</p>" * 6 + "</article>"


def app(script: str, body: str = BODY) -> str:
    """A page whose text is there once its script runs, and what else the script does."""
    return (
        "<!doctype html><meta charset=utf-8><title>A page</title><div id=root></div>"
        f"<script>document.getElementById('root').innerHTML = {body!r};</script><script>{script}</script>"
    )


WORKER = "self.addEventListener('fetch', (event) => event.respondWith(new Promise(() => 0))); self.skipWaiting();"
"""A service worker that holds on to every request."""

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
"""The head of an answer that never ends."""

BUSY: dict[str, str] = {
    "endless loop": app("for (;;) {}"),
    "endless loop later": app("setTimeout(() => { for (;;) {} }, 100)"),
    "endless timers": app("const f = () => { setTimeout(f); setTimeout(f); }; for (let i = 0; i < 50; i++) f()"),
    "endless microtasks": app("const f = () => Promise.resolve().then(f); f()"),
    "animation frames": app("const f = () => { document.title += 'x'; requestAnimationFrame(f); }; f()"),
    "dialog storm": app("for (;;) alert('no'); "),
    "dialogs": app("alert(1); confirm(2); prompt(3); print(); onbeforeunload = () => 'stay'"),
    "window flood": app("for (let i = 0; i < 500; i++) { open('about:blank'); open('/x' + i); }"),
    "windows by links": app(
        "setInterval(() => { const a = document.createElement('a'); a.target = '_blank'; a.href = '/normal';"
        "document.body.append(a); a.click(); }, 1)"
    ),
    "history flood": app("let i = 0; setInterval(() => { for (let k = 0; k < 1000; k++) history.replaceState(0, '', '?' + i++); })"),
    "history flood at once": app("for (let i = 0;; i++) history.pushState(0, '', '?' + i)"),
    "console flood": app("setInterval(() => { for (let i = 0; i < 1000; i++) console.log('x'.repeat(1000)); })"),
    "error flood": app("setInterval(() => { for (let i = 0; i < 100; i++) queueMicrotask(() => { throw new Error('x'.repeat(1000)); }); })"),
    "rejection flood": app("setInterval(() => { for (let i = 0; i < 100; i++) Promise.reject(new Error('x'.repeat(1000))); })"),
    "growth without end": app("setInterval(() => { for (let i = 0; i < 200; i++) { const p = document.createElement('p');"
                              "p.textContent = 'more and more of it'; document.body.append(p); } })"),
    "loop before unload": app("onbeforeunload = onunload = onpagehide = () => { for (;;) {} }"),
    "worker loops": app("const u = URL.createObjectURL(new Blob(['for (;;) {}'])); for (let i = 0; i < 4; i++) new Worker(u)"),
    "worker floods": app("const u = URL.createObjectURL(new Blob(['setInterval(() => { for (let i = 0; i < 100; i++) { console.log(i); queueMicrotask(() => { throw i; }); } })'])); setInterval(() => { for (let i = 0; i < 20; i++) new Worker(u); }, 5)"),
    "poisoned prototypes": app(
        "for (const p of [Array.prototype, Object.prototype, String.prototype]) for (const k of ['push', 'join', 'toJSON', 'map'])"
        "Object.defineProperty(p, k, {get() { for (;;) {} }, configurable: true});"
        "document.createTreeWalker = document.querySelector = () => { for (;;) {} }; JSON.stringify = () => 'no'"
    ),
    "clobbered document": app(
        "document.body.insertAdjacentHTML('beforeend', '<form><input name=childNodes><input name=attributes>"
        "<input name=firstChild><input name=nodeType></form><img name=querySelector><img name=body><form name=documentElement></form>')"
    ),
    "synchronous request": app("const x = new XMLHttpRequest(); x.open('GET', '/drip', false); x.send()"),
    "script that never comes": app("") + "<script src=/drip></script>",
    "style sheet that never comes": app("", BODY) + "<link rel=stylesheet href=/drip>",
    "download flood": app("setInterval(() => { const a = document.createElement('a'); a.href = '/attachment'; a.download = 'x'; document.body.append(a); a.click(); }, 5)"),
    "service worker": app("navigator.serviceWorker.register('/worker.js'); navigator.serviceWorker.ready.then(() => location.reload())"),
    "web sockets": app("setInterval(() => new WebSocket('ws://' + location.host + '/drip'), 10)"),
    "requests without end": app("setInterval(() => fetch('/normal?' + Math.random()), 1)"),
    "hosts without end": app("let i = 0; setInterval(() => fetch(`http://h${i++}.test/`).catch(() => 0), 5)"),
    "locks and storage": app("navigator.locks.request('x', () => new Promise(() => 0)); for (let i = 0; i < 20; i++) localStorage[i] = 'x'.repeat(200000)"),
    "event source": app("new EventSource('/drip')"),
    "never-ending image": app("document.body.insertAdjacentHTML('beforeend', '<img src=/drip>')"),
    "never-ending fetch": app("fetch('/drip')"),
    "never-ending frame": app("document.body.insertAdjacentHTML('beforeend', '<iframe src=/drip></iframe>')"),
    "frames of itself": app("if (self === top || location.hash.length < 9) { const f = document.createElement('iframe');"
                            "f.src = location.pathname + '?' + Math.random() + '#' + location.hash; document.body.append(f); }"),
    "fullscreen and permissions": app("document.body.requestFullscreen?.().catch(() => 0); navigator.geolocation?.getCurrentPosition(() => 0);"
                                      "Notification?.requestPermission(); navigator.mediaDevices?.getUserMedia({video: true}).catch(() => 0)"),
}  # fmt: skip
"""Pages whose text must come all the same."""

HUNGRY: dict[str, str] = {
    "many elements": app("document.body.insertAdjacentHTML('beforeend', '<div><b>x</b></div>'.repeat(150000))"),
    "deep nesting": app("let e = document.body; for (let i = 0; i < 100000; i++) { const d = document.createElement('div'); e.append(d); e = d; }"),
    "observer storm": app("new MutationObserver(() => { document.body.append('.'); }).observe(document.body, {childList: true}); document.body.append('x')"),
    "memory in arrays": app("const a = []; for (;;) a.push(new Array(1e6).fill(1.5))"),
    "memory in buffers": app("const a = []; for (let i = 0; i < 64; i++) { const b = new Uint8Array(64 << 20); b.fill(1); a.push(b); }"),
    "memory in text": app("let s = 'x'; const a = []; for (;;) { s += s; document.body.append(s); if (s.length > 1 << 28) s = 'x'; }"),
    "crash": app("location = 'chrome://crash'"),
    "a title of megabytes": app("document.title = 'x'.repeat(48 << 20)"),
}  # fmt: skip
"""Pages that may cost their renderer its life: they get an answer or a named failure."""

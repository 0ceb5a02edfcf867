"""`/docs`: the interface on one page that needs nothing from elsewhere."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from service.failures import ALL

_STYLE = """
body{font:16px/1.55 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
h1{margin-bottom:0}
code,pre{font:14px/1.5 ui-monospace,monospace}
pre{background:#f4f4f2;padding:1rem;overflow:auto;white-space:pre-wrap}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;font-weight:normal;padding:.35rem .6rem;border-bottom:1px solid #ddd;vertical-align:top}
input{font:inherit;padding:.4rem;width:100%;box-sizing:border-box;margin:.3rem 0}
button{font:inherit;padding:.4rem 1.2rem}
@media(prefers-color-scheme:dark){
body{background:#161616;color:#e6e6e6}pre{background:#242424}th,td{border-color:#444}a{color:#8ab4f8}}
"""
_SCRIPT = """
document.getElementById("try").addEventListener("submit", async (event) => {
  event.preventDefault();
  const out = document.getElementById("out");
  out.textContent = "Reading…";
  try {
    const response = await fetch("v1/read", {method: "POST", headers: {"Content-Type": "application/json"},
      body: JSON.stringify({url: document.getElementById("url").value})});
    const answer = await response.json();
    out.textContent = response.ok ? answer.markdown : JSON.stringify(answer.error, null, 2);
  } catch (error) { out.textContent = "The service did not answer: " + error.message; }
});
"""


def _hash(source: str) -> str:
    return f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'"


CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; script-src {_hash(_SCRIPT)}; style-src {_hash(_STYLE)}; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Only this page's own script and style run; its form talks to this service alone."""

_ROWS = "".join(
    f"<tr><th scope=row><code>{failure.code}</code><td>{failure.status}<td>{'yes' if failure.retryable else 'no'}"
    f"<td>{(failure.__doc__ or '').splitlines()[0]}"
    for failure in ALL
)

PAGE = f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Bonmun</title><style>{_STYLE}</style>
<h1>Bonmun</h1>
<p>A URL in, the main content of the page out, as Markdown.
The whole interface: <a href="openapi.json">openapi.json</a>.</p>
<form id="try"><label for="url">Try an address</label>
<input id="url" type="url" required placeholder="https://example.org/article"><button>Read</button></form>
<pre id="out" role="status" aria-live="polite">The Markdown appears here.</pre>
<h2>Read a page</h2>
<pre>curl -s localhost:8000/v1/read -H 'Content-Type: application/json' -d '{{"url": "https://example.org/article"}}'
curl -s localhost:8000/read/https://example.org/article</pre>
<h2>Extract from a page you have</h2>
<pre>curl -s 'localhost:8000/v1/extract?url=https://example.org/article' \\
  -H 'Content-Type: text/html' --data-binary @page.html</pre>
<h2>Failures</h2>
<table><tr><th scope=col>Code<th scope=col>Status<th scope=col>Retry<th scope=col>When</tr>{_ROWS}</table>
<script>{_SCRIPT}</script></html>
"""

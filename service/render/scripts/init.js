// Runs before any script of every document. What is taken away opens sockets past the proxy, opens windows nobody reads,
// or sends messages nobody reads through the driver: console lines made it grow by 350 MiB in one page.
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport"]) delete globalThis[name];
globalThis.open = () => null;
for (const name of ["error", "unhandledrejection"]) addEventListener(name, (event) => event.preventDefault(), true);
for (const name of Object.keys(console)) if (typeof console[name] === "function") console[name] = () => undefined;

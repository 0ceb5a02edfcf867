// Runs before any script of every document. What is taken away opens sockets past the proxy, opens windows nobody reads,
// or sends messages nobody reads through the driver: console lines made it grow by 350 MiB in one page.
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport", "SharedWorker",
  "BroadcastChannel"]) delete globalThis[name];
globalThis.open = () => null;
const mute = () => {
  for (const name of ["error", "unhandledrejection"]) addEventListener(name, (event) => event.preventDefault(), true);
  for (const name of Object.keys(console)) if (typeof console[name] === "function") console[name] = () => undefined;
};
mute();
// A worker is muted as well, and has no workers of its own: one that wrote to its console held up every other page.
{
  const MAX_WORKERS = 8;
  let workers = 0;
  globalThis.Worker = new Proxy(Worker, {
    construct(target, [url, options], made) {
      if (++workers > MAX_WORKERS) return new EventTarget();
      const address = JSON.stringify(new URL(url, document.baseURI).href);
      const load = options?.type === "module" ? `import(${address});` : `importScripts(${address});`;
      const own = new Blob([`(${mute})();`, "delete self.Worker;", load], { type: "text/javascript" });
      return Reflect.construct(target, [URL.createObjectURL(own), { name: options?.name }], made);
    },
  });
}

// Images are off, and off, tell nobody that they came: a page that waits for one would wait for ever.
{
  const later = setTimeout;
  const source = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, "src");
  const set = function (value) { source.set.call(this, value); later(() => this.dispatchEvent(new Event("load"))); };
  Object.defineProperty(HTMLImageElement.prototype, "src", { ...source, set });
  HTMLImageElement.prototype.decode = () => Promise.resolve();
}

// Whether this page can still change by itself: it cannot once it waits for no timer and no frame to be drawn, and has
// nothing open that may bring text or wake it. Asked by the event `bonmun-idle`, which is cancelled to say so. A page
// that lies is read earlier or later, and no other.
{
  const replace = (name, trap) => { if (name in globalThis) globalThis[name] = new Proxy(globalThis[name], trap); };
  const waiting = { timer: new Set(), frame: new Set(), idle: new Set() };
  let open = false;
  const once = (kind, repeats) => ({
    apply(target, self, [callback, ...rest]) {
      if (typeof callback !== "function") open = true;
      const done = typeof callback !== "function" || repeats ? callback : function (...given) {
        waiting[kind].delete(id);
        return Reflect.apply(callback, this, given);
      };
      const id = Reflect.apply(target, self, [done, ...rest]);
      waiting[kind].add(id);
      return id;
    },
  });
  const cancel = (kind) => ({
    apply(target, self, given) { waiting[kind].delete(given[0]); return Reflect.apply(target, self, given); },
  });
  const opens = { construct(target, given, made) { open = true; return Reflect.construct(target, given, made); } };
  replace("setTimeout", once("timer", false));
  replace("setInterval", once("timer", true));
  replace("requestAnimationFrame", once("frame", false));
  replace("requestIdleCallback", once("idle", false));
  for (const name of ["clearTimeout", "clearInterval"]) replace(name, cancel("timer"));
  replace("cancelAnimationFrame", cancel("frame"));
  replace("cancelIdleCallback", cancel("idle"));
  for (const name of ["Worker", "WebSocket", "EventSource", "IntersectionObserver"]) replace(name, opens);
  addEventListener("bonmun-idle", (event) => {
    if (!open && Object.values(waiting).every((ids) => ids.size === 0)) event.preventDefault();
  });
}

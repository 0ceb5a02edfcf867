// How much text a reader sees now, outside of links (`chars`) and in them (`linked`), controls and navigation left out;
// and how far the document has come.
(limit, selector) => {
  const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "svg", "button", "select", "textarea", "nav"]);
  const ready = getter(Document.prototype, "readyState")(document);
  let chars = 0, linked = 0, nodes = 0;
  const stack = [{ children: childrenOf(document), link: false }];
  while (stack.length && nodes < limit) {
    const { children, link } = stack[stack.length - 1];
    const { value: node, done } = children.next();
    if (done) { stack.pop(); continue; }
    nodes += 1;
    const type = nodeType(node);
    if (type === TEXT) link ? (linked += data(node).trim().length) : (chars += data(node).trim().length);
    else if (type === ELEMENT && !SKIPPED.has(localName(node)) && isVisible(node)) {
      stack.push({ children: childrenOf(node), link: link || localName(node) === "a" });
    }
  }
  const root = Document.prototype.querySelector.call(document, "html");
  return {
    chars,
    linked,
    matched: selector !== null && Document.prototype.querySelector.call(document, selector) !== null,
    height: root ? root.scrollHeight : 0,
    type: getter(Document.prototype, "contentType")(document),
    loaded: ready !== "loading",
    // init.js answers; a frame has timers of its own, for which nobody answers here.
    idle: ready === "complete" && frames.length === 0
      && Document.prototype.querySelector.call(document, "meta[http-equiv=refresh i]") === null
      && Document.prototype.getAnimations.call(document).length === 0
      && !EventTarget.prototype.dispatchEvent.call(globalThis, new Event("bonmun-idle", { cancelable: true })),
  };
}

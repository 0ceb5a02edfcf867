// How much text a reader sees now, outside of links (`chars`) and in them (`linked`), controls and navigation left out;
// and how far the document has come.
(limit, selector) => {
  const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "svg", "button", "select", "textarea", "nav"]);
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
    loaded: getter(Document.prototype, "readyState")(document) !== "loading",
  };
}

// How much text a reader sees now, links and controls left out, and how far the document has come.
(limit, selector) => {
  const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "svg", "a", "button", "select", "textarea", "nav"]);
  let chars = 0, nodes = 0;
  const stack = [childrenOf(document)];
  while (stack.length && nodes < limit) {
    const { value: node, done } = stack[stack.length - 1].next();
    if (done) { stack.pop(); continue; }
    nodes += 1;
    const type = nodeType(node);
    if (type === TEXT) chars += data(node).trim().length;
    else if (type === ELEMENT && !SKIPPED.has(localName(node)) && checkVisibility(node, { visibilityProperty: true })) {
      stack.push(childrenOf(node));
    }
  }
  const root = Document.prototype.querySelector.call(document, "html");
  return {
    chars,
    matched: selector !== null && Document.prototype.querySelector.call(document, selector) !== null,
    height: root ? root.scrollHeight : 0,
    loaded: getter(Document.prototype, "readyState")(document) !== "loading",
  };
}

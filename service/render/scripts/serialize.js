// The document as it is now, as HTML: shadow trees and same-origin frames in place, current values, no scripts.
// Iterative, since a page may nest deeper than a stack; stops after `limit` characters or `maxNodes` nodes.
(limit, maxNodes) => {
  const VOID = new Set(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]);
  const RAW = new Set(["style", "xmp", "iframe", "noembed", "noframes", "plaintext"]);
  const DATA = /^application\/(?:[a-z0-9.+-]*\+)?json$/i;
  const text = (value) => value.replace(/[&<>]/g, (c) => (c === "&" ? "&amp;" : c === "<" ? "&lt;" : "&gt;"));
  const quoted = (value) => value.replace(/[&"]/g, (c) => (c === "&" ? "&amp;" : "&quot;"));
  const scriptType = getter(HTMLScriptElement.prototype, "type");
  const current = {
    input: (node) => ({ value: getter(HTMLInputElement.prototype, "value")(node), checked: getter(HTMLInputElement.prototype, "checked")(node) }),
    option: (node) => ({ selected: getter(HTMLOptionElement.prototype, "selected")(node) }),
    textarea: () => ({}),
  };
  const parts = [];
  let size = 0, nodes = 0, truncated = false;
  const put = (piece) => { size += piece.length; parts.push(piece); };
  const LINKS = new Set(["href", "src", "poster", "data-src", "data-original"]);
  const absolute = (value, base) => { try { return new URL(value, base).href; } catch { return value; } };
  const open = (node, name, base) => {
    let tag = "<" + name;
    const known = name in current && node instanceof HTMLElement ? current[name](node) : {};
    for (const { name: key, value } of attributes(node)) {
      if (key.startsWith("on") || key in known) continue;
      tag += ` ${key}="${quoted(base && LINKS.has(key) ? absolute(value, base) : value)}"`;
    }
    for (const [key, value] of Object.entries(known)) {
      if (value === true) tag += ` ${key}`;
      else if (typeof value === "string" && (value || key !== "value")) tag += ` ${key}="${quoted(value)}"`;
    }
    put(tag + ">");
  };
  const stack = [{ children: siblings(firstChild(document)), close: "" }];
  put("<!DOCTYPE html>");
  while (stack.length) {
    const frame = stack[stack.length - 1];
    const full = size >= limit || nodes >= maxNodes;
    truncated ||= full;
    const { value: node, done } = full ? { done: true } : frame.children.next();
    if (done) { put(frame.close); stack.pop(); continue; }
    nodes += 1;
    const type = nodeType(node);
    if (type === TEXT) {
      const value = data(node);
      put(frame.raw ? value.slice(0, limit - size) : text(value.slice(0, limit - size)));
      continue;
    }
    if (type !== ELEMENT) continue;
    let name = localName(node);
    if (node instanceof HTMLScriptElement && !DATA.test(scriptType(node)) && !/Fusion\.globalContent/.test(node.text)) continue;
    if (name === "noscript" || name === "template") continue;
    if (node instanceof HTMLIFrameElement && frameDocument(node)) {
      // The frame's page in its place; its html, head and body become plain containers.
      put("<div>");
      stack.push({ children: childrenOf(node), close: "</div>", base: baseURI(frameDocument(node)) });
      continue;
    }
    const base = frame.base;
    if (base && name === "head") continue;
    if (base && (name === "html" || name === "body")) name = "div";
    if (node instanceof HTMLSlotElement) {
      stack.push({ children: childrenOf(node), close: "", base });
      continue;
    }
    open(node, name, base);
    if (node instanceof HTMLElement && VOID.has(name)) continue;
    if (name === "textarea") {
      put(text(getter(HTMLTextAreaElement.prototype, "value")(node)) + "</textarea>");
      continue;
    }
    const raw = node instanceof HTMLElement && (RAW.has(name) || name === "script");
    stack.push({ children: childrenOf(node), close: `</${name}>`, raw, base });
  }
  return {
    html: parts.join(""),
    truncated,
    url: getter(Document.prototype, "URL")(document),
    type: getter(Document.prototype, "contentType")(document),
  };
}

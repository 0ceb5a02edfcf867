// The document as it is now, as HTML: shadow trees and same-origin frames in place, current values, no scripts.
// What no reader sees is left out, unless `hidden` says that there is nothing else. Iterative, since a page may nest
// deeper than a stack; stops after `limit` characters or `maxNodes` nodes.
(limit, maxNodes, hidden) => {
  const VOID = new Set(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]);
  const DROPPED = new Set(["noscript", "template", "style", "noembed", "noframes"]);
  // In a frame's page these are about the frame; in place, they would be about the whole.
  const ABOUT = new Set(["head", "base", "meta", "link", "title"]);
  const MAX_ATTRIBUTE = 20000, MAX_TITLE = 5000; // what is longer is no text, and would crowd out what is
  const NAME = /^[a-z][a-z0-9-]*$/i;
  const PAYLOAD = /Fusion\.globalContent/;
  const DATA = /^application\/(?:[a-z0-9.+-]*\+)?json$/i;
  const text = (value) => value.replace(/[&<>]/g, (c) => (c === "&" ? "&amp;" : c === "<" ? "&lt;" : "&gt;"));
  const quoted = (value) => value.replace(/[&"]/g, (c) => (c === "&" ? "&amp;" : "&quot;"));
  const scriptType = getter(HTMLScriptElement.prototype, "type");
  const scriptText = getter(HTMLScriptElement.prototype, "text");
  const isDropped = (node, name) => {
    if (DROPPED.has(name)) return true;
    return name === "script" && !DATA.test(scriptType(node)) && !PAYLOAD.test(scriptText(node));
  };
  const current = {
    input: (node) => ({ value: getter(HTMLInputElement.prototype, "value")(node), checked: getter(HTMLInputElement.prototype, "checked")(node) }),
    option: (node) => ({ selected: getter(HTMLOptionElement.prototype, "selected")(node) }),
    textarea: () => ({}),
  };
  const parts = [];
  let size = 0, nodes = 0, truncated = false;
  const put = (piece) => { size += piece.length; parts.push(piece); };
  const LINK = /^(?:href|src|poster|data-[a-z-]*(?:src|original|url|image))$/;
  const LINKS = /^(?:data-[a-z-]*)?srcset$/;
  const absolute = (value, base) => { try { return new URL(value, base).href; } catch { return value; } };
  const resolved = (key, value, base) => {
    if (LINK.test(key)) return absolute(value, base);
    return LINKS.test(key) ? value.replace(/(^|,\s+)([^\s,]\S*)/g, (_, gap, url) => gap + absolute(url, base)) : value;
  };
  const open = (node, name, base) => {
    let tag = "<" + name;
    const known = name in current && isHtml(node) ? current[name](node) : {};
    for (const { name: key, value } of attributes(node)) {
      if (key.startsWith("on") || key in known || value.length > MAX_ATTRIBUTE) continue;
      tag += ` ${key}="${quoted(base ? resolved(key, value, base) : value)}"`;
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
      const room = Math.min(limit - size, frame.title ? MAX_TITLE : limit);
      put(frame.json ? value.slice(0, room).replaceAll("</", "<\\/") : text(value.slice(0, room)));
      continue;
    }
    if (type !== ELEMENT) continue;
    let name = localName(node);
    const html = isHtml(node);
    if (html && isDropped(node, name)) continue;
    const framed = frameDocument(node);
    if (!hidden && !frame.head && isUnseen(node, framed)) continue;
    if (framed) {
      // The frame's page in its place; its html, head and body become plain containers.
      put("<div>");
      stack.push({ children: childrenOf(node), close: "</div>", base: baseURI(framed) });
      continue;
    }
    const base = frame.base;
    if (base && ABOUT.has(name)) continue;
    if (!NAME.test(name) || name === "plaintext") name = "div"; // a parser would take it for text, or take all for text
    if (name === "xmp") name = "pre";
    if (name === "frameset") name = base || frame.frameset ? "div" : "body"; // the parser keeps no text inside one
    if (base && (name === "html" || name === "body")) name = "div";
    if (isSlot(node)) {
      stack.push({ children: childrenOf(node), close: "", base });
      continue;
    }
    open(node, name, base);
    if (html && VOID.has(name)) continue;
    if (html && name === "textarea") {
      put(text(getter(HTMLTextAreaElement.prototype, "value")(node)) + "</textarea>");
      continue;
    }
    const json = html && name === "script"; // JSON, in which a slash may be escaped
    const title = html && name === "title";
    if (html && name === "iframe") { put("</iframe>"); continue; }
    stack.push({ children: childrenOf(node), close: `</${name}>`, json, title, base,
      head: name === "head" || frame.head, frameset: name === "body" || frame.frameset });
  }
  return {
    html: parts.join(""),
    truncated,
    url: getter(Document.prototype, "URL")(document),
    type: getter(Document.prototype, "contentType")(document),
  };
}

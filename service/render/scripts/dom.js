// Reading a document that may be hostile, from an isolated world. The page cannot change this world's built-ins,
// but a form with a field called "childNodes" shadows the property of that name: getters are taken from prototypes.
const getter = (proto, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(proto, name).get);
const method = (proto, name) => Function.prototype.call.bind(proto[name]);
const nodeType = getter(Node.prototype, "nodeType");
const firstChild = getter(Node.prototype, "firstChild");
const nextSibling = getter(Node.prototype, "nextSibling");
const baseURI = getter(Node.prototype, "baseURI");
const data = getter(CharacterData.prototype, "data");
const localName = getter(Element.prototype, "localName");
const attributes = getter(Element.prototype, "attributes");
const shadowRoot = getter(Element.prototype, "shadowRoot");
const assignedNodes = method(HTMLSlotElement.prototype, "assignedNodes");
const checkVisibility = method(Element.prototype, "checkVisibility");
const namespace = getter(Element.prototype, "namespaceURI");
const iframeDocument = getter(HTMLIFrameElement.prototype, "contentDocument");
const framesetDocument = getter(HTMLFrameElement.prototype, "contentDocument");

const ELEMENT = 1, TEXT = 3;

// By name, not by `instanceof`: the elements of a frame are of another realm.
const isHtml = (node) => namespace(node) === "http://www.w3.org/1999/xhtml";
const isSlot = (node) => localName(node) === "slot" && isHtml(node);

// The document of a frame of the page's own origin; null for what is no frame, or is another's.
const frameDocument = (node) => {
  if (!isHtml(node)) return null;
  const name = localName(node);
  return name === "iframe" ? iframeDocument(node) : name === "frame" ? framesetDocument(node) : null;
};

// `display: contents` has no box of its own, which `checkVisibility` takes for hidden.
const isVisible = (node) =>
  checkVisibility(node, { visibilityProperty: true }) || getComputedStyle(node).display === "contents";

// Never with a box, and not unseen for it: what they say is for machines, or for who draws their parent.
const BOXLESS = new Set(["html", "head", "base", "link", "meta", "title", "script", "area", "param", "source", "track", "rp"]);
const MIN_FRAME = 50; // CSS pixels
// Without a box, by whatever rule of a style sheet; a frame also by being too small to read.
const isUnseen = (node, framed) => {
  const name = localName(node);
  if (BOXLESS.has(name)) return false;
  if (framed && name === "iframe" && (node.offsetWidth < MIN_FRAME || node.offsetHeight < MIN_FRAME)) return true;
  return getComputedStyle(node).display === "none";
};

// The children a reader sees: the open shadow tree in its host's place, what a slot was given, a same-origin frame's page.
function* childrenOf(node) {
  const type = nodeType(node);
  if (type === ELEMENT) {
    const shadow = shadowRoot(node);
    if (shadow) { yield* siblings(firstChild(shadow)); return; }
    if (isSlot(node)) {
      const given = assignedNodes(node);
      if (given.length) { yield* given; return; }
    }
    const inner = frameDocument(node);
    if (inner) { yield* siblings(firstChild(inner)); return; }
  }
  yield* siblings(firstChild(node));
}

function* siblings(node) {
  for (; node; node = nextSibling(node)) yield node;
}

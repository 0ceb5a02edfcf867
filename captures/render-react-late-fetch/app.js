// A runtime as small as it gets: elements are plain objects, a render draws the whole tree anew.
const h = (type, props, ...children) => ({ type, props: props || {}, children: children.flat() });

function draw(node) {
  if (node === null || node === undefined || node === false) return document.createComment('');
  if (typeof node !== 'object') return document.createTextNode(String(node));
  if (typeof node.type === 'function') return draw(node.type({ ...node.props, children: node.children }));
  const element = document.createElement(node.type);
  for (const [name, value] of Object.entries(node.props)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2).toLowerCase(), value);
    else if (name === 'className') element.className = value;
    else element.setAttribute(name, value);
  }
  for (const child of node.children) element.appendChild(draw(child));
  return element;
}

let state = { story: null };
function setState(next) {
  state = { ...state, ...next };
  document.getElementById('root').replaceChildren(draw(h(App, state)));
}

const Header = () => h('div', { className: 'c-1 c-4' },
  h('a', { href: './' }, '물길신문'),
  ...['정치', '지역', '문화', '날씨', '사진'].map((name) => h('a', { href: `section.html?s=${name}`, className: 'c-2' }, name)),
  h('button', { onClick: () => {} }, '검색'));

const Spinner = () => h('div', { className: 'c-spin', role: 'status' }, h('span', null, '불러오는 중…'));

const Story = ({ story }) => h('div', { className: 'c-9' },
  h('div', { className: 'c-11' }, h('h1', { className: 'c-12' }, story.title)),
  h('div', { className: 'c-13' }, h('span', null, story.reporter), h('span', null, story.published)),
  h('div', { className: 'c-14' }, story.blocks.map((text) => h('div', { className: 'c-15' }, h('span', null, text)))),
  h('div', { className: 'c-20' }, h('div', null, '많이 본 기사'),
    story.related.map((title, i) => h('div', { className: 'c-21' }, h('a', { href: `story.html?id=${i}` }, title)))));

const Footer = () => h('div', { className: 'c-30' },
  h('a', { href: 'about.html' }, '회사 소개'), h('a', { href: 'terms.html' }, '이용 약관'),
  h('a', { href: 'privacy.html' }, '개인정보 처리방침'), h('span', null, '© 물길신문'));

const App = ({ story }) => h('div', { className: 'c-0' }, h(Header), story ? h(Story, { story }) : h(Spinner), h(Footer));

function head(story) {
  document.title = `${story.title} | 물길신문`;
  const meta = { 'og:title': story.title, 'og:site_name': '물길신문', 'og:type': 'article', 'og:image': story.image };
  for (const [property, content] of Object.entries(meta)) {
    const element = document.createElement('meta');
    element.setAttribute('property', property);
    element.setAttribute('content', content);
    document.head.appendChild(element);
  }
}

setState({});
setTimeout(async () => {
  const answer = await fetch('data.json', { headers: { Accept: 'application/json' } });
  const story = await answer.json();
  head(story);
  setState({ story });
}, 300);

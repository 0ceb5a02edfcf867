const root = document.getElementById('svelte');
const story = await (await fetch('story.json')).json();

function fragment(parent, tag) {
  const wrapper = parent.appendChild(document.createElement('div'));
  wrapper.style.display = 'contents';
  return wrapper.appendChild(document.createElement(tag));
}

document.title = `${story.title} | Brindle Bay Reader`;
const menu = fragment(root, 'nav');
for (const name of ['Quay', 'Village', 'Tides', 'Lost and found']) {
  const link = fragment(menu, 'a');
  link.href = `${name}.html`;
  link.textContent = name;
}
const article = fragment(root, 'article');
fragment(article, 'h1').textContent = story.title;
for (const text of story.paragraphs) fragment(article, 'p').textContent = text;
fragment(root, 'footer').textContent = 'Printed in Brindle End on Tuesdays';

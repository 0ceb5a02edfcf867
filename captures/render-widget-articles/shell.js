const shell = document.getElementById('__shell');

function add(parent, tag, className, text) {
  const element = parent.appendChild(document.createElement(tag));
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

function widget(parent, data) {
  const card = add(parent, 'article', 'card');
  add(add(card, 'h3'), 'a', '', data.title).href = `n/${data.title.length}.html`;
  add(card, 'p', '', data.blurb);
  add(card, 'span', 'time', `${data.minutes} min read`);
}

function rail(parent, heading, widgets) {
  const section = add(parent, 'section', 'rail');
  add(section, 'h2', '', heading);
  for (const data of widgets) widget(section, data);
}

Promise.all(['story.json', 'widgets.json'].map((name) => fetch(name).then((answer) => answer.json()))).then(([story, widgets]) => {
  document.title = `${story.title} - The Fenland Courier`;
  const top = add(shell, 'div', 'top');
  for (const name of ['News', 'River', 'Farming', 'Sport', 'Letters', 'Notices']) add(top, 'a', '', name).href = `${name}.html`;
  rail(shell, 'Most read today', widgets.slice(0, 7));
  const column = add(shell, 'div', 'column');
  add(column, 'h1', '', story.title);
  add(column, 'div', 'by', story.by);
  const text = add(column, 'div', 'story');
  story.paragraphs.forEach((paragraph) => add(text, 'div', '', paragraph));
  rail(shell, 'More from the river', widgets.slice(7, 15));
  rail(shell, "Editors' choice", widgets.slice(15));
  const foot = add(shell, 'div', 'foot');
  for (const name of ['Contact', 'Terms', 'Privacy', 'Advertise']) add(foot, 'a', '', name).href = `${name}.html`;
});

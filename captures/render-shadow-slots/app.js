fetch('story.json').then((answer) => answer.json()).then((story) => {
  document.title = `${story.title} | Fresh Water Quarterly`;
  const page = document.querySelector('story-page');
  const add = (tag, text, slot) => {
    const element = document.createElement(tag);
    element.textContent = text;
    if (slot) element.slot = slot;
    page.append(element);
  };
  const [lead, ...rest] = story.paragraphs;
  rest.forEach((text) => add('p', text));
  add('p', story.note, 'editor-only');
  add('p', lead, 'lead');
  add('span', story.title, 'headline');
});

import { mount } from './tiny.js';

const link = (name) => ({ name, href: `${name.toLowerCase().replaceAll(' ', '-')}.html` });

const answer = await fetch('post.json');
const post = await answer.json();
post.more = post.related.map(link);
document.title = `${post.title} — The Mending Bench`;
mount(document.getElementById('app'), {
  post,
  menu: ['Home', 'All posts', 'Tools', 'About me'].map(link),
  links: ['Feed', 'Write to me', 'Imprint', 'Cookies'].map(link),
});

const view = document.getElementById('view');

async function enter() {
  view.textContent = '';
  const story = await (await fetch('story.json')).json();
  document.title = `${story.title} | Corran Sound News`;
  const site = document.createElement('meta');
  site.setAttribute('property', 'og:site_name');
  site.content = 'Corran Sound News';
  document.head.append(site);
  view.innerHTML = '<nav><a href="1.html">Sound</a> <a href="2.html">Weather</a> <a href="3.html">Livestock</a></nav><article><h1></h1></article>';
  view.querySelector('h1').textContent = story.title;
  for (const text of story.paragraphs) view.querySelector('article').appendChild(document.createElement('p')).textContent = text;
}

if (document.cookie.includes('corran_pass=1')) {
  enter();
} else {
  setTimeout(() => {
    document.cookie = 'corran_pass=1; path=' + location.pathname;
    location.reload();
  }, 900);
}

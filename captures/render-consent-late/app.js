(async () => {
  const story = await (await fetch('story.json')).json();
  document.title = `${story.title} | Lahn Messenger`;
  const app = document.getElementById('app');
  app.innerHTML = `
    <header><a href="./">Lahn Messenger</a><nav><a href="1.html">Town</a><a href="2.html">Valley</a><a href="3.html">Obituaries</a></nav></header>
    <main><article><h1></h1><div class="body"></div></article></main>
    <section class="next"><h2>Also in the Messenger</h2><ul>${story.also.map((t) => `<li><a href="${t.length}.html">${t}</a></li>`).join('')}</ul></section>
    <footer><a href="imprint.html">Imprint</a> <a href="privacy.html">Privacy</a></footer>`;
  app.querySelector('h1').textContent = story.title;
  for (const text of story.paragraphs) app.querySelector('.body').appendChild(document.createElement('p')).textContent = text;
})();

const later = (ms) => new Promise((done) => setTimeout(done, ms));

function component(name, render) {
  customElements.define(name, class extends HTMLElement {
    connectedCallback() {
      if (!this.shadowRoot) render(this.attachShadow({ mode: 'open' }), this);
    }
  });
}

component('app-menu', (root) => {
  root.innerHTML = '<style>a { color: #444 }</style><nav>' +
    ['오늘', '사람', '소리', '지난 호', '구독 신청'].map((name) => `<a href="#${name}">${name}</a>`).join(' ') + '</nav>';
});

component('app-shell', (root) => {
  root.innerHTML = '<app-menu></app-menu><app-column></app-column><footer>새벽 다섯 시의 신문 · 매주 화요일에 펴냅니다</footer>';
});

await later(150);
const story = await (await fetch('story.json')).json();
document.title = `${story.title} · 새벽 다섯 시의 신문`;

component('app-column', (root) => {
  root.innerHTML = '<main><h1></h1><p class="by"></p><section></section></main>';
  root.querySelector('h1').textContent = story.title;
  root.querySelector('.by').textContent = story.by;
  for (const text of story.paragraphs) {
    const paragraph = document.createElement('app-paragraph');
    paragraph.dataset.text = text;
    root.querySelector('section').append(paragraph);
  }
});

await later(150);
component('app-paragraph', (root, host) => {
  root.innerHTML = '<style>p { margin: 1em 0 }</style><p></p>';
  root.querySelector('p').textContent = host.dataset.text;
});

customElements.define('story-page', class extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({ mode: 'open' }).innerHTML = `
      <style>:host { display: block } nav a { margin-right: 1em } ::slotted(p) { line-height: 1.6 }</style>
      <nav><a href="issue.html">This issue</a><a href="archive.html">Archive</a><a href="subscribe.html">Subscribe</a></nav>
      <main>
        <h1><slot name="headline">Untitled</slot></h1>
        <div class="credit"><slot name="credit">From our correspondent</slot></div>
        <div class="text"><slot name="lead"></slot><slot></slot></div>
      </main>
      <footer><a href="contact.html">Contact</a><a href="rights.html">Rights</a></footer>`;
  }
});

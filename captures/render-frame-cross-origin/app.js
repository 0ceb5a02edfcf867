function frame(attributes) {
  const element = document.createElement('iframe');
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  document.body.append(element);
}
const here = (text) => `<p>${text}</p>`.repeat(3);
frame({ src: 'http://elsewhere.example/render-frame-cross-origin/feed.html', width: 300, height: 250 });
frame({ sandbox: '', srcdoc: here('이 칸은 따로 갇힌 창이며 기사와 아무런 관계가 없는 설문 조사입니다. 참여하시면 선물을 드립니다.') });
fetch('story.json').then((answer) => answer.json()).then((story) => {
  document.title = `${story.title} - 포구일보`;
  document.body.insertAdjacentHTML('afterbegin', '<div class="menu"><a href="1.html">어업</a> <a href="2.html">물때</a> <a href="3.html">시세</a></div>');
  const main = document.body.appendChild(document.createElement('main'));
  main.appendChild(document.createElement('h1')).textContent = story.title;
  story.paragraphs.forEach((text, i) => {
    main.appendChild(document.createElement('p')).textContent = text;
    if (i === 2) main.append(document.createElement('iframe'));
  });
  frame({ src: 'data:text/html;charset=utf-8,' + encodeURIComponent(here('함께 보면 좋은 영상 열두 편을 모았습니다. 소리를 켜고 보세요.')) });
  frame({ src: 'nowhere/at/all.html' });
  frame({ src: 'javascript:void 0' });
});

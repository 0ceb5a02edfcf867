(async function () {
  const app = document.getElementById('app');
  const story = await (await fetch('story.json')).json();
  history.pushState({ id: 12 }, '', 'story/12/');
  document.title = story.title + ' | 갯바람';
  app.innerHTML = '<nav><a href="../../">처음으로</a><a href="../">모든 이야기</a></nav><main><h1></h1><div></div>' +
    '<p>물때를 읽는 다른 방법은 <a href="notes/tide.html">따로 적은 글</a>에 모아 두었다.</p></main><footer>갯바람 편집실</footer>';
  app.querySelector('h1').textContent = story.title;
  story.paragraphs.forEach(function (text, i) {
    const paragraph = app.querySelector('main > div').appendChild(document.createElement('p'));
    paragraph.textContent = text;
    if (i === 2) paragraph.insertAdjacentHTML('afterend', '<figure><img src="photo/holes.jpg" alt="갯벌의 구멍 두 개"><figcaption>숨 쉬는 구멍과 드나드는 구멍.</figcaption></figure>');
  });
})();

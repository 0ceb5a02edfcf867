const seen = navigator.userAgent.length + screen.width;
setTimeout(() => {
  document.getElementById('main').innerHTML = `<div class="box" data-seen="${seen}"><h1>보안 확인</h1>
    <p>고객님의 네트워크에서 비정상적인 트래픽이 감지되었습니다. 서비스를 계속 이용하시려면 아래 상자를 눌러 사람인지 확인해 주세요.</p>
    <label><input type="checkbox"> 사람입니다</label>
    <p>회사나 학교처럼 여러 사람이 같은 주소를 쓰는 곳에서는 다른 사람의 요청 때문에 이 화면이 나타날 수 있습니다.</p></div>`;
}, 500);

setTimeout(() => {
  const box = document.createElement('div');
  box.setAttribute('role', 'dialog');
  box.setAttribute('aria-modal', 'true');
  box.id = 'cmp';
  box.style = 'position: fixed; inset: 0; background: rgba(0, 0, 0, .7); color: #fff; z-index: 9999';
  box.innerHTML = `<div class="cmp-box"><h2>We value your privacy</h2>
    <p>We and our partners store and/or access information on a device, such as cookies, and process personal data, such
    as unique identifiers, for advertising, measurement and the development of our services. With your permission we and
    our partners may use precise location data. You may click to consent to this, or open the details and change your
    choice before consenting.</p>
    <p>Please note that some processing may not require your consent, but you have a right to object to it.</p>
    <button>Details</button> <button>Accept all</button></div>`;
  document.body.append(box);
  document.documentElement.style.overflow = 'hidden';
}, 400);

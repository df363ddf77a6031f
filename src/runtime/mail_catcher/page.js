// Keeps the page as the server would show it now. Without it, the page is as it was when it was loaded.
const button = document.querySelector('#empty');
const lost = document.querySelector('#lost');
let isBusy = false;
let isStale = false;

const show = (next) => {
  const focused = document.activeElement?.getAttribute('href');
  document.body.className = next.body.className;
  button.hidden = next.body.className === 'empty';
  for (const part of document.querySelectorAll('[data-live]')) {
    const now = next.getElementById(part.id);
    if (now && now.innerHTML !== part.innerHTML) part.replaceChildren(...now.childNodes);
  }
  if (focused) document.querySelector(`#list a[href="${CSS.escape(focused)}"]`)?.focus();
};

const refresh = async () => {
  isStale = true;
  if (isBusy) return;
  isBusy = true;
  while (isStale) {
    isStale = false;
    try {
      const response = await fetch(location.href);
      show(new DOMParser().parseFromString(await response.text(), 'text/html'));
    } catch {
      lost.hidden = false;
    }
  }
  isBusy = false;
};

// Only while it is seen: a browser opens few connections to one server, and tabs left open would use them up.
let changes = null;
const follow = () => {
  changes?.close();
  changes = document.hidden ? null : new EventSource('/changes');
  changes?.addEventListener('open', () => {
    lost.hidden = true;
    void refresh();
  });
  changes?.addEventListener('message', ({ data }) => {
    if (data === 'emptied' && location.search) location.assign('/');
    else void refresh();
  });
  changes?.addEventListener('error', () => (lost.hidden = false));
};

follow();
document.addEventListener('visibilitychange', follow);
button.addEventListener('click', () => void fetch('/messages', { method: 'DELETE' }));

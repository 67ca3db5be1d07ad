/* What pages do beyond htmx. Every page can be read, and every form sent, without it. */
(() => {
  'use strict';
  const SILENCE = 12000; // the server sends a sign of life each 5 s
  const gone = document.getElementById('gone');
  const dialog = document.getElementById('dialog');
  let source = null;
  let heard = Date.now();
  let isGone = false;
  let loads = 0;
  let loadsSoon = false;
  let rests = false;

  // Relative times grow older by themselves.
  const units = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];
  const length = (seconds) => {
    if (seconds >= 172800) { return Math.floor(seconds / 86400) + ' d'; }
    for (const [unit, size] of units.slice(1)) {
      if (seconds >= size) { return Math.floor(seconds / size) + ' ' + unit; }
    }
    return '';
  };
  const relative = () => {
    for (const time of document.querySelectorAll('time[data-relative]')) {
      const passed = (Date.now() - Date.parse(time.dateTime)) / 1000;
      const text = length(Math.abs(passed));
      const words = text === '' ? 'now' : passed < 0 ? 'in ' + text : text + ' ago';
      if (time.textContent !== words) { time.textContent = words; }
    }
  };
  relative();
  setInterval(relative, 1000);
  document.addEventListener('htmx:afterSwap', relative);

  // Live updates: the banner, and what was missed.
  const alive = () => {
    heard = Date.now();
    if (isGone) {
      isGone = false;
      gone.hidden = true;
    }
  };
  const lost = (always) => {
    if (isGone || (!source && always !== true)) { return; }
    isGone = true;
    const time = gone.querySelector('time');
    time.dateTime = new Date(heard).toISOString();
    time.textContent = new Date(heard).toLocaleTimeString();
    gone.hidden = false;
  };
  const reload = () => {
    const live = document.getElementById('live');
    // What a form has asked for replaces the same place.
    const wait = document.querySelector('form.htmx-request') ? 500 : loads + 2000 - Date.now();
    if (!live || loadsSoon) { return; }
    if (wait > 0) {
      loadsSoon = true;
      setTimeout(() => { loadsSoon = false; reload(); }, wait);
      return;
    }
    loads = Date.now();
    window.htmx.ajax('GET', live.dataset.path || location.pathname + location.search,
      { target: '#live', select: '#live', swap: 'outerHTML' }).catch(() => {});
  };
  document.addEventListener('htmx:sseOpen', (event) => {
    const opened = event.detail.source;
    alive();
    if (source === opened) { return; }
    source = opened;
    if (document.hidden) { rest(); }
    if (!source) { return; }
    source.addEventListener('beat', alive);
    source.addEventListener('missed', () => { alive(); reload(); });
    const topic = document.getElementById('live')?.dataset.reload;
    if (topic) { source.addEventListener(topic, () => { alive(); reload(); }); }
    source.addEventListener('ended', () => { location.href = '/login?to=' + encodeURIComponent(location.pathname + location.search); });
  });
  document.addEventListener('htmx:sseError', lost);

  // A page that nobody sees keeps no connection: browsers open six to a server, for all its pages.
  const rest = () => {
    if (!source || document.querySelector('button[data-pause].paused')) { return; }
    source.close();
    source = null;
    rests = true;
  };
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) { rest(); } else if (rests) { rests = false; heard = Date.now(); reload(); }
  });
  for (const failure of ['htmx:responseError', 'htmx:sendError']) {
    document.addEventListener(failure, (event) => {
      if (event.detail.target && event.detail.target.id === 'live' && !source) { lost(true); setTimeout(reload, 3000); }
    });
  }
  // A row whose state changed lights up; figures change quietly.
  const states = new WeakMap();
  const stateOf = (element) => (element.querySelector('.state') || element).textContent;
  document.addEventListener('htmx:sseBeforeMessage', (event) => {
    for (const element of document.querySelectorAll('tr[sse-swap="' + CSS.escape(event.detail.type) + '"]')) {
      states.set(element, stateOf(element));
    }
  });
  document.addEventListener('htmx:sseMessage', (event) => {
    alive();
    for (const element of document.querySelectorAll('[sse-swap="' + CSS.escape(event.detail.type) + '"]')) {
      if (states.has(element) && states.get(element) !== stateOf(element)) {
        element.classList.remove('fresh');
        void element.offsetWidth;
        element.classList.add('fresh');
      }
    }
    const list = event.target;
    while (list.dataset.most && list.children.length > Number(list.dataset.most)) {
      list.lastElementChild.remove();
    }
    relative();
  });
  setInterval(() => { if (source && Date.now() - heard > SILENCE) { lost(); } }, 1000);

  // A list that grows at its top has each row once, keeps its length, and can be paused.
  let waiting = 0;
  document.addEventListener('htmx:sseBeforeMessage', (event) => {
    const button = document.querySelector('button[data-pause].paused');
    if (!button || !event.target.dataset.keep) { return; }
    event.preventDefault();
    alive();
    waiting += (event.detail.data.match(/<tr /g) || []).length;
    button.textContent = 'Continue (' + waiting + ' new)';
  });
  document.addEventListener('htmx:sseMessage', (event) => {
    const list = event.target;
    if (!list.dataset.keep) { return; }
    const seen = new Set();
    for (const row of [...list.children]) {
      if (seen.has(row.id) || seen.size >= Number(list.dataset.keep)) { row.remove(); }
      seen.add(row.id);
    }
  });
  const pause = (button) => {
    waiting = 0;
    if (button.classList.toggle('paused')) {
      button.textContent = 'Continue';
    } else {
      loads = 0;
      reload();
    }
  };

  // A link to a confirmation opens it as a dialog.
  let opener = null;
  document.addEventListener('click', (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!target) { return; }
    const ask = target.closest('a[data-ask]');
    if (ask && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      opener = ask;
      window.htmx.ajax('GET', ask.getAttribute('href'), { target: '#dialog', select: '#confirm', swap: 'innerHTML' })
        .catch(() => {})
        .then(() => {
          // An error is no question: its own page shows it.
          if (!dialog.querySelector('#confirm')) { location.href = ask.href; } else if (!dialog.open) { dialog.showModal(); }
        });
      return;
    }
    if (target.closest('[data-close]') && dialog.open) {
      event.preventDefault();
      dialog.close();
      return;
    }
    const hold = target.closest('button[data-pause]');
    if (hold) { pause(hold); }
    const copy = target.closest('button[data-copy]');
    if (copy) {
      const text = document.getElementById(copy.dataset.copy).textContent;
      navigator.clipboard.writeText(text).then(() => {
        const before = copy.textContent;
        copy.textContent = 'Copied';
        setTimeout(() => { copy.textContent = before; }, 1500);
      });
    }
  });
  dialog.addEventListener('close', () => {
    dialog.replaceChildren();
    if (opener) { opener.focus(); }
  });

  // "/" leads to the search.
  document.addEventListener('keydown', (event) => {
    const typing = event.target instanceof Element && event.target.closest('input, textarea, select');
    const search = document.querySelector('input[type="search"]');
    if (event.key === '/' && !typing && search && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  });

  // The colours change in place: the page may show what is shown once.
  document.addEventListener('submit', (event) => {
    const form = event.target;
    const button = event.submitter;
    if (!form.matches('.themes') || !button) { return; }
    event.preventDefault();
    fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form, button)), headers: { 'hx-request': 'true' } })
      .then((answer) => {
        if (!answer.ok) { throw new Error(answer.status); }
        document.documentElement.dataset.theme = button.value;
        for (const other of form.querySelectorAll('button')) { other.setAttribute('aria-pressed', String(other === button)); }
      })
      .catch(() => { location.href = new FormData(form).get('back'); });
  });

  // A form is sent once.
  document.addEventListener('submit', (event) => {
    const button = event.submitter;
    if (button && event.target.method === 'post' && !event.defaultPrevented) {
      setTimeout(() => { button.setAttribute('aria-disabled', 'true'); button.addEventListener('click', (again) => again.preventDefault()); });
    }
  });
})();

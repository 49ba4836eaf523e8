// The frame of the page: which view is shown, the state of the store, the theme.

import {h, duration, foreign, tick} from './dom.js';
import {listen} from './live.js';
import {namesView} from './names.js';
import {nameView} from './name.js';
import {waitersView} from './waiters.js';
import {overviewView, eventsView} from './overview.js';

const main = document.getElementById('main');
const pill = document.getElementById('state');
const banner = document.getElementById('banner');
const numbers = document.getElementById('numbers');

// The view that is shown: {update(), key(event)?, close()?}.
let view = null;
let last = {state: 'loading'};
let since = performance.now();

// The text of a part of an address; an address that nobody wrote for this page may have escapes that are none.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function show() {
  const [, kind = '', ...rest] = location.hash.split('/');
  if (view && view.close) view.close();
  main.replaceChildren();
  const views = {waiters: waitersView, overview: overviewView, events: eventsView};
  const name = kind === 'name' ? 'name' : Object.hasOwn(views, kind) ? kind : 'names';
  for (const link of document.querySelectorAll('nav a')) {
    if (link.dataset.view === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (name === 'name') view = nameView(main, rest.join('/'));
  else if (name === 'names') view = namesView(main, decoded(rest.join('/')));
  else view = views[kind](main);
  main.dataset.view = name;
  refresh();
}

let busy = false;
let again = false;

// Reads what the view shows; while that goes on, one more time is remembered.
async function refresh() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  do {
    again = false;
    const shown = view;
    try {
      await shown.update();
      if (shown === view) main.removeAttribute('aria-busy');
    } catch (error) {
      if (shown === view && last.state !== 'reconnecting' && error.name !== 'AbortError') say('error', 'The server answered: ' + error.message);
    }
    if (shown !== view) again = true;
  } while (again);
  busy = false;
}

function say(kind, ...texts) {
  banner.className = kind;
  banner.replaceChildren(...texts);
  banner.hidden = false;
}

function showState() {
  const names = {loading: 'loading', starting: 'loading', up: 'live', down: 'store down', reconnecting: 'reconnecting'};
  const text = names[last.state];
  pill.dataset.state = last.state;
  if (pill.textContent !== text) pill.textContent = text;
  const age = (last.age_ms ?? 0) + performance.now() - since;
  if (last.state === 'reconnecting') {
    say('warning', 'The connection to holdfast serve is lost. It is tried again every second; this page shows what it saw last.');
  } else if (last.state === 'down') {
    say('error', 'The store does not answer: ', foreign(last.error.message),
        last.age_ms === null ? '' : `. This page shows it as it was ${duration(age)} ago.`);
  } else {
    banner.hidden = true;
  }
  if (last.names !== undefined) {
    const deadlocks = last.deadlocks > 0 ? [h('a', {href: '#/waiters', class: 'bad'}, `${last.deadlocks} deadlock${last.deadlocks > 1 ? 's' : ''}`)] : [];
    numbers.replaceChildren(`${last.held.toLocaleString()} held · ${last.waiters.toLocaleString()} waiting`, deadlocks.length ? ' · ' : '', ...deadlocks);
  }
}

listen((event) => {
  last = {...last, ...event};
  since = performance.now();
  showState();
  if (event.state !== 'reconnecting') refresh();
});

const themes = ['', 'light', 'dark'];
const button = document.getElementById('theme');
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  button.setAttribute('aria-label', 'Colours: ' + (theme || 'as the system'));
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // The browser keeps nothing here: the theme lasts as long as the page.
  }
}

function storedTheme() {
  try {
    return localStorage.getItem('theme') ?? '';
  } catch {
    return '';
  }
}

button.addEventListener('click', () => setTheme(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length]));
setTheme(storedTheme());

document.addEventListener('keydown', (event) => {
  const typing = event.target.closest('input, select, textarea, dialog');
  if (!typing && event.key === 'g') location.hash = '#/';
  else if (!typing && event.key === 'w') location.hash = '#/waiters';
  else if (!typing && event.key === 'o') location.hash = '#/overview';
  else if (!typing && event.key === 'e') location.hash = '#/events';
  else if (view && view.key && !event.target.closest('dialog')) view.key(event, Boolean(typing));
});

addEventListener('hashchange', show);
setInterval(() => {
  tick();
  if (last.state === 'down') showState();
}, 1000);
show();

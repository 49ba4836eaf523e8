// Elements and texts. Text is only ever set as text, so nothing that a store has can become markup.

const SVG = 'http://www.w3.org/2000/svg';

// Control characters, marks of direction and invisible characters, which could change how the rest
// of a line is shown.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]/g;

export function printable(text) {
  return String(text).replace(UNSAFE, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Makes an element: h('a', {href: '#/'}, 'text', another).
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A text of the store: its direction does not reach beyond it.
export function foreign(text) {
  return h('bdi', {title: printable(text)}, printable(text));
}

// "user@host:41" as people read it.
export function ownerText(owner) {
  const match = /^(.*):(\d+)$/s.exec(owner);
  return printable(match ? `${match[1]} (pid ${match[2]})` : owner);
}

export function nameLink(name) {
  return h('a', {href: '#/name/' + name.id, class: 'name'}, foreign(name.name));
}

// "3h 20m", "12m 5s", "8.2s", "250ms"
export function duration(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1000) return Math.max(0, Math.round(ms)) + 'ms';
  const seconds = Math.floor(ms / 1000);
  if (seconds < 10) return (ms / 1000).toFixed(1) + 's';
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'm'], [1, 's']];
  const first = parts.findIndex(([size]) => seconds >= size);
  const [size, unit] = parts[first];
  let text = Math.floor(seconds / size) + unit;
  const rest = seconds % size;
  if (first + 1 < parts.length && rest >= parts[first + 1][0]) {
    text += ' ' + Math.floor(rest / parts[first + 1][0]) + parts[first + 1][1];
  }
  return text;
}

export function clock(time) {
  return new Date(time).toLocaleTimeString();
}

// A duration that goes on: its element is updated by tick(). `by` is 1 for a time that grows, -1
// for one that shrinks.
export function running(ms, by = 1) {
  const element = h('time', {}, duration(ms));
  element.running = {ms, by, since: performance.now()};
  element.classList.add('running');
  return element;
}

export function tick() {
  for (const element of document.getElementsByClassName('running')) {
    const {ms, by, since} = element.running;
    element.textContent = duration(Math.max(0, ms + by * (performance.now() - since)));
  }
}

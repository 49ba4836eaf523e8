// One name: its holders and waiters, and its past.

import {h, clock, duration, foreign, ownerText, running} from './dom.js';
import {api} from './live.js';
import {contention, histogram, timeline} from './charts.js';
import {adminButtons} from './admin.js';

function pair(label, value) {
  return [h('dt', {}, label), h('dd', {}, value)];
}

function permitsText(permits, capacity) {
  if (capacity === null) return permits === 1 ? 'shared' : permits === null ? 'exclusive' : `${permits} shared`;
  return capacity === 1 ? 'mutex' : `${permits} of ${capacity}`;
}

function holderCard(holder, name) {
  return h('dl', {class: 'card holder'},
    pair('held by', [h('bdi', {}, ownerText(holder.owner)), holder.foreign ? ' (a program that is not Holdfast)' : '']),
    holder.reason ? pair('reason', foreign(holder.reason)) : [],
    pair('as', permitsText(holder.permits, name.capacity)),
    pair('for', running(holder.held_for_ms)), pair('lease left', running(holder.time_left_ms, -1)),
    pair('token', String(holder.token)), pair('lease id', h('code', {}, holder.lease_id)));
}

function waiterItem(waiter) {
  return h('li', {}, h('bdi', {}, ownerText(waiter.owner)), waiter.reason ? [' “', foreign(waiter.reason), '”'] : '', ' has waited ', running(waiter.waited_ms));
}

function pastTable(holds) {
  if (holds.length === 0) return h('p', {class: 'hint'}, 'None since holdfast serve was started.');
  let next = null;
  const rows = [...holds].reverse().map((hold) => {
    // The time until the next holder.
    const gap = next === null ? '' : duration(Math.max(0, Date.parse(next.from) - Date.parse(hold.until)));
    next = hold;
    return h('tr', {class: hold.end}, h('td', {}, clock(hold.from)), h('td', {}, h('bdi', {}, ownerText(hold.owner))), h('td', {}, hold.reason ? foreign(hold.reason) : ''),
      h('td', {class: 'number'}, duration(hold.held_ms)), h('td', {class: 'number'}, hold.waited_ms === null ? '< 1s' : duration(hold.waited_ms)),
      h('td', {}, h('span', {class: 'kind ' + hold.end}, hold.end)), h('td', {class: 'number'}, gap), h('td', {class: 'number'}, String(hold.token)));
  });
  return h('div', {class: 'wide'}, h('table', {}, h('thead', {}, h('tr', {}, ...['From', 'Holder', 'Reason', 'Held', 'Waited', 'End', 'Then free', 'Token'].map((head) => h('th', {scope: 'col'}, head)))), h('tbody', {}, ...rows)));
}

function whyText(found) {
  const lines = [];
  if (found.once) lines.push(['once: ', foreign(found.once.reason), ` by ${ownerText(found.once.owner)}, at most ${duration(found.once.time_left_ms)} until the next run`]);
  if (found.throttle) lines.push([`throttle: ${found.throttle.hits} passed in this window, which ends in ${duration(found.throttle.resets_in_ms)}`]);
  if (found.mark) lines.push([`mark: set by ${ownerText(found.mark.owner)}, ${duration(found.mark.time_left_ms)} left`]);
  if (found.deadlock.length) lines.push([`deadlock of ${found.deadlock.length}: `, ...found.deadlock.flatMap((one) => [`${ownerText(one.owner)} holds `, foreign(one.holds), ' and waits for ', foreign(one.name), '; '])]);
  if (lines.length === 0) lines.push([found.held ? 'Only its holders are in the way.' : 'Nothing is in the way: the name is free.']);
  return h('ul', {}, ...lines.map((line) => h('li', {}, ...line)));
}

export function nameView(root, id) {
  const title = h('h1', {}, '…');
  const state = h('section', {'aria-label': 'Holders and waiters'});
  const past = h('section', {});
  const why = h('div', {class: 'why', role: 'status'});
  const ask = h('button', {type: 'button', onclick: async () => {
    ask.disabled = true;
    why.replaceChildren(h('p', {class: 'hint'}, 'Asking the store…'));
    try {
      why.replaceChildren(whyText(await api('why?name=' + id)));
    } catch (error) {
      why.replaceChildren(h('p', {class: 'bad'}, error.message));
    }
    ask.disabled = false;
  }}, 'Why does it wait?');
  const actions = h('span', {});
  root.append(h('p', {}, h('a', {href: '#/'}, '← all names')), title, state, h('div', {class: 'bar'}, ask, actions), why, past);
  let shown = '';

  async function update() {
    const name = await api('name?name=' + id);
    title.replaceChildren(foreign(name.name), ' ', h('span', {class: 'kind ' + (name.kind ?? 'free')}, name.held ? name.kind : 'free'));
    document.title = 'Holdfast';
    state.replaceChildren(h('div', {class: 'cards'}, ...(name.holders.length ? name.holders.map((holder) => holderCard(holder, name)) : [h('p', {class: 'card'}, 'Nobody holds it.')])),
      h('h2', {}, name.waiters.length ? `${name.waiter_count.toLocaleString()} waiting, the longest first` : 'Nobody waits'),
      name.waiters.length ? h('ol', {class: 'waiting'}, ...name.waiters.map(waiterItem)) : '');
    // A button that has the focus keeps it.
    const offered = name.held + ' ' + name.kind;
    if (actions.dataset.offered !== offered) actions.replaceChildren(...await adminButtons(name));
    actions.dataset.offered = offered;
    const now = Date.now();
    const holds = name.holds.map((hold) => ({...hold, from: Date.parse(hold.from), until: Date.parse(hold.until)}));
    const current = name.holders.map((holder) => ({owner: holder.owner, from: now - holder.held_for_ms, until: now, end: 'held', token: holder.token}));
    const waits = [...name.waits.map((wait) => ({from: Date.parse(wait.from), until: Date.parse(wait.until)})), ...name.waiters.map((waiter) => ({from: now - waiter.waited_ms, until: now}))];
    const marks = JSON.stringify([name.holds.length && name.holds[name.holds.length - 1].until, name.waits.length]);
    const wide = root.clientWidth - 62;
    const half = wide > 700 ? wide / 2 - 18 : wide;
    const chart = timeline([...holds, ...current], now, wide);
    if (marks === shown && past.firstChild) {
      past.querySelector('.timeline').replaceChildren(chart);
      past.querySelector('.contention').replaceChildren(contention(waits, now, wide));
      return;
    }
    shown = marks;
    past.replaceChildren(h('h2', {}, 'Timeline'), h('div', {class: 'timeline'}, chart),
      h('p', {class: 'legend'}, h('span', {class: 'sign-of expired'}, '▼'), ' lease ran out ', h('span', {class: 'sign-of stolen'}, '▼'), ' stolen here'),
      h('div', {class: 'two'}, h('figure', {}, h('figcaption', {}, 'Time held'), histogram(name.holds.map((hold) => hold.held_ms), {label: 'Time held', width: half})),
        h('figure', {}, h('figcaption', {}, 'Time waited'), histogram(name.waits.map((wait) => wait.waited_ms), {label: 'Time waited', width: half}))),
      h('figure', {}, h('figcaption', {}, 'Waiters over the last hour'), h('div', {class: 'contention'}, contention(waits, now, wide))),
      h('h2', {}, `Past holders (${name.holds.length})`), pastTable(name.holds));
  }

  return {update};
}

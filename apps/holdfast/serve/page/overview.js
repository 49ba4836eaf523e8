// The whole store: numbers, plots, groups, the checks of doctor; and the last events.

import {h, clock, duration, foreign, nameLink, ownerText} from './dom.js';
import {api} from './live.js';
import {lineChart} from './charts.js';

function card(value, label, href) {
  const number = h('strong', {}, value);
  return h('div', {class: 'card number-card'}, href ? h('a', {href}, number) : number, h('span', {}, label));
}

export function overviewView(root) {
  const cards = h('div', {class: 'cards'});
  const plots = h('div', {class: 'plots'});
  const groups = h('div', {});
  const health = h('div', {}, h('p', {class: 'hint'}, 'Asking the store…'));
  root.append(h('h1', {}, 'Overview'), cards, plots, h('div', {class: 'two'}, h('section', {}, h('h2', {}, 'Names by group'), groups), h('section', {}, h('h2', {}, 'The store'), health)));
  let checked = 0;

  async function readHealth() {
    try {
      const answer = await api('health');
      health.replaceChildren(h('p', {}, h('code', {}, foreign(answer.store))), h('ul', {class: 'checks'}, ...answer.checks.map((check) =>
        h('li', {class: check.status}, h('span', {class: 'kind ' + check.status}, check.status), ' ', h('b', {}, check.name), ' ', foreign(check.detail)))));
    } catch (error) {
      health.replaceChildren(h('p', {class: 'bad'}, error.message));
    }
  }

  async function update() {
    const answer = await api('overview');
    cards.replaceChildren(card(answer.held.toLocaleString(), 'names held', '#/'), card(answer.waiters.toLocaleString(), 'waiters', '#/waiters'),
      card(answer.deadlocks, 'deadlocks', '#/waiters'), card(answer.kinds.lock.toLocaleString(), 'locks'), card(answer.kinds.mark.toLocaleString(), 'marks'),
      card(answer.kinds.once.toLocaleString(), 'once records'), card(answer.kinds.election.toLocaleString(), 'elections'), card(answer.kinds.foreign.toLocaleString(), 'of other programs'),
      card(answer.totals.acquired.toLocaleString(), 'acquired'), card(answer.totals.expired.toLocaleString(), 'leases ran out'), card(duration(answer.listing_ms), 'for the last listing'));
    const points = (key) => answer.samples.map((sample) => [Date.parse(sample.time), sample[key]]);
    // As many in a row as fit, at least 260 pixels wide.
    const columns = Math.max(1, Math.min(4, Math.floor((root.clientWidth - 36) / 272)));
    const width = (root.clientWidth - 36 - (columns - 1) * 12) / columns - 28;
    const plot = (caption, key) => h('figure', {}, h('figcaption', {}, caption), lineChart(points(key), {label: caption, width}));
    const times = points('held').map(([time]) => time);
    const span = times.length > 1 ? `, over ${duration(times[times.length - 1] - times[0])}` : '';
    plots.replaceChildren(plot('Names held' + span, 'held'), plot('Waiters', 'waiters'), plot('Acquired, between two points', 'acquired'), plot('Leases that ran out', 'expired'));
    groups.replaceChildren(answer.groups.length === 0 ? h('p', {class: 'hint'}, 'No name is held.') :
      h('table', {}, h('thead', {}, h('tr', {}, ...['Begin with', 'Names', 'Waiters'].map((head) => h('th', {scope: 'col'}, head)))),
        h('tbody', {}, ...answer.groups.map((group) => h('tr', {}, h('td', {}, h('a', {href: '#/prefix/' + encodeURIComponent(group.group)}, foreign(group.group))), h('td', {class: 'number'}, group.names.toLocaleString()), h('td', {class: 'number'}, group.waiters.toLocaleString()))))));
    if (performance.now() - checked > 30000 || checked === 0) {
      checked = performance.now();
      readHealth();
    }
  }

  return {update};
}

export function eventsView(root) {
  const body = h('tbody', {});
  const table = h('div', {class: 'wide'}, h('table', {}, h('thead', {}, h('tr', {}, ...['Time', 'Event', 'Name', 'Holder', 'Reason', 'Token'].map((head) => h('th', {scope: 'col'}, head)))), body));
  const empty = h('div', {class: 'empty', hidden: true}, h('h2', {}, 'Nothing has happened yet'), h('p', {}, 'Acquisitions, releases and leases that ran out appear here.'));
  root.append(h('h1', {}, 'Last events'), table, empty);

  async function update() {
    const answer = await api('events');
    empty.hidden = answer.events.length > 0;
    table.hidden = answer.events.length === 0;
    body.replaceChildren(...answer.events.reverse().map((event) => h('tr', {}, h('td', {}, clock(event.time)), h('td', {}, h('span', {class: 'kind ' + event.event}, event.event)),
      h('td', {}, nameLink(event)), h('td', {}, h('bdi', {}, ownerText(event.owner))), h('td', {}, event.reason ? foreign(event.reason) : ''), h('td', {class: 'number'}, String(event.token)))));
  }

  return {update};
}

// The list of all names. The server filters and sorts; this has only the rows that can be seen, so
// a hundred thousand names are no more work than fifty.

import {h, foreign, ownerText, nameLink, running} from './dom.js';
import {api} from './live.js';

const MARGIN = 20;  // rows beyond those that can be seen

// What the user chose survives a visit to another view.
const chosen = {search: '', kind: '', order: 'name', waited: false};

function holderCells(name) {
  const holder = name.holders[0];
  if (!holder) return [h('span', {class: 'owner free'}, 'free'), h('span', {class: 'reason'}), h('span', {class: 'held'}), h('span', {class: 'left'}), h('span', {class: 'token'})];
  const more = name.holders.length > 1 ? h('span', {class: 'more'}, ` +${name.holders.length - 1}`) : null;
  return [
    h('span', {class: 'owner', title: ownerText(holder.owner)}, holder.foreign ? 'another program: ' : '', h('bdi', {}, ownerText(holder.owner)), more),
    h('span', {class: 'reason'}, holder.reason ? foreign(holder.reason) : ''),
    h('span', {class: 'held', 'data-label': 'held '}, running(holder.held_for_ms)),
    h('span', {class: 'left', 'data-label': 'left '}, running(holder.time_left_ms, -1)),
    h('span', {class: 'token'}, holder.foreign ? '–' : String(holder.token)),
  ];
}

function waitersCell(name) {
  const owners = name.waiters.map((waiter) => ownerText(waiter.owner));
  const text = owners.length === 0 ? '' : `${name.waiter_count.toLocaleString()}: ${owners.slice(0, 3).join(', ')}`;
  return h('span', {class: owners.length ? 'waiters some' : 'waiters', title: owners.join('\n')}, text);
}

function makeRow(name, index) {
  const kind = name.kind && name.kind !== 'lock' ? h('span', {class: 'kind ' + name.kind}, name.kind) : null;
  const row = h('div', {class: 'row', role: 'row', 'aria-rowindex': index + 2},
    h('span', {class: 'name-cell', role: 'rowheader'}, nameLink(name), kind), ...holderCells(name), waitersCell(name));
  for (const cell of row.children) if (!cell.hasAttribute('role')) cell.setAttribute('role', 'cell');
  return row;
}

export function namesView(root, prefix) {
  const search = h('input', {type: 'search', placeholder: 'Name, owner or reason ( / )', 'aria-label': 'Search names, owners and reasons', value: chosen.search});
  const kind = h('select', {'aria-label': 'Kind'}, ...[['', 'all kinds'], ['lock', 'locks'], ['mark', 'marks'], ['once', 'once records'], ['election', 'elections'], ['foreign', 'other programs']].map(([value, text]) => h('option', {value}, text)));
  const order = h('select', {'aria-label': 'Order'}, ...[['name', 'by name'], ['held', 'longest held first'], ['left', 'soonest to expire first'], ['waiters', 'most waiters first']].map(([value, text]) => h('option', {value}, text)));
  const waited = h('input', {type: 'checkbox', id: 'waited'});
  kind.value = chosen.kind;
  order.value = chosen.order;
  waited.checked = chosen.waited;
  const count = h('span', {class: 'count', role: 'status'});
  const filter = prefix === '' ? null : h('span', {class: 'chip'}, 'prefix ', foreign(prefix), ' ', h('a', {href: '#/', 'aria-label': 'Remove the prefix'}, '×'));
  const rows = h('div', {class: 'rows', role: 'rowgroup'});
  const scroller = h('div', {class: 'scroller', tabindex: 0, 'aria-label': 'Names'}, rows);
  const heading = h('div', {class: 'row head', role: 'row', 'aria-rowindex': 1}, ...['Name', 'Held by', 'Reason', 'Held for', 'Lease left', 'Token', 'Waiters'].map((text) => h('span', {role: 'columnheader'}, text)));
  const table = h('div', {class: 'table', role: 'table', 'aria-label': 'Names that are held or waited for'}, h('div', {role: 'rowgroup'}, heading), scroller);
  const empty = h('div', {class: 'empty', hidden: true});
  root.append(h('div', {class: 'bar', role: 'search'}, search, kind, order, h('label', {for: 'waited'}, waited, ' with waiters'), filter, count), table, empty);

  let total = null;
  let stop = new AbortController();
  let asked = {};

  const rowHeight = () => (matchMedia('(max-width: 700px)').matches ? 84 : 40);

  function showEmpty() {
    const filtered = chosen.search || chosen.kind || chosen.waited || prefix;
    empty.replaceChildren(...(filtered ?
      [h('h2', {}, 'No name matches'), h('p', {}, 'Names that are free, and throttles, are not listed. ',
        chosen.search ? h('a', {href: '#/name/' + encodeURIComponent(chosen.search)}, 'Open ', foreign(chosen.search)) : '')] :
      [h('h2', {}, 'No name is held'), h('p', {}, 'Hold one, and it appears here:'), h('pre', {}, 'holdfast run deploy -- ./deploy.sh')]));
  }

  function place(answer) {
    const height = rowHeight();
    const focused = document.activeElement && rows.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
    rows.style.height = total * height + 'px';
    rows.replaceChildren(...answer.names.map((name, i) => {
      const row = makeRow(name, answer.offset + i);
      row.style.top = (answer.offset + i) * height + 'px';
      return row;
    }));
    if (focused) {
      const link = [...rows.querySelectorAll('a.name')].find((one) => one.getAttribute('href') === focused);
      if (link) link.focus({preventScroll: true});
    }
  }

  async function update() {
    stop.abort();
    stop = new AbortController();
    const height = rowHeight();
    const first = Math.max(0, Math.floor(scroller.scrollTop / height) - MARGIN);
    const limit = Math.min(500, Math.ceil(scroller.clientHeight / height) + 2 * MARGIN);
    asked = {first, limit, height};
    const query = new URLSearchParams({order: chosen.order, offset: first, limit});
    if (chosen.search) query.set('search', chosen.search);
    if (chosen.kind) query.set('kind', chosen.kind);
    if (chosen.waited) query.set('waited', 'true');
    let text = query.toString().replaceAll('+', '%20');
    if (prefix !== '') text += '&prefix=' + encodeURIComponent(prefix);
    const answer = await api('names?' + text, {signal: stop.signal});
    total = answer.total;
    if (answer.names.length === 0 && total > 0 && first > 0) scroller.scrollTop = 0;
    table.setAttribute('aria-rowcount', total + 1);
    count.textContent = total === 1 ? '1 name' : total.toLocaleString() + ' names';
    table.hidden = total === 0;
    empty.hidden = total !== 0;
    if (total === 0) showEmpty();
    place(answer);
  }

  const quietly = () => update().catch((error) => { if (error.name !== 'AbortError') throw error; });

  // Rows are read anew only when the ones that are there do not do.
  let scheduled = false;
  scroller.addEventListener('scroll', () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      const top = Math.floor(scroller.scrollTop / asked.height);
      const bottom = top + Math.ceil(scroller.clientHeight / asked.height);
      const enough = top >= asked.first + (asked.first > 0 ? MARGIN / 2 : 0) && bottom <= asked.first + asked.limit - (asked.first + asked.limit < total ? MARGIN / 2 : 0);
      if (!enough) quietly();
    });
  });
  const choose = () => {
    Object.assign(chosen, {search: search.value, kind: kind.value, order: order.value, waited: waited.checked});
    scroller.scrollTop = 0;
    quietly();
  };
  search.addEventListener('input', choose);
  for (const control of [kind, order, waited]) control.addEventListener('change', choose);
  const resized = new ResizeObserver(() => { if (total !== null) quietly(); });
  resized.observe(scroller);

  function move(by) {
    const links = [...rows.querySelectorAll('a.name')].sort((a, b) => a.closest('.row').offsetTop - b.closest('.row').offsetTop);
    const at = links.indexOf(document.activeElement);
    const visible = links.findIndex((link) => link.closest('.row').offsetTop >= scroller.scrollTop);
    const next = links[at < 0 ? Math.max(visible, 0) : at + by];
    if (!next) return;
    next.focus({preventScroll: true});
    const row = next.closest('.row');
    if (row.offsetTop < scroller.scrollTop) scroller.scrollTop = row.offsetTop;
    else if (row.offsetTop + row.offsetHeight > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = row.offsetTop + row.offsetHeight - scroller.clientHeight;
  }

  function key(event, typing) {
    if (event.key === '/' && !typing) {
      event.preventDefault();
      search.focus();
    } else if (event.key === 'Escape' && event.target === search) {
      search.value = '';
      choose();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && event.target.tagName !== 'SELECT') {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    }
  }

  return {update, key, close: () => { stop.abort(); resized.disconnect(); }};
}

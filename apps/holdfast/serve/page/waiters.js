// Who waits for whom: deadlocks, a graph, and the same as a list.

import {h, s, foreign, nameLink, ownerText, printable, running} from './dom.js';
import {api} from './live.js';

const MOST_NODES = 60;

// Makes nodes, one for each process that holds or waits, and edges from a waiter to a holder.
function graphOf(answer) {
  const nodes = new Map();
  const byLease = new Map();
  const waits = answer.names.flatMap((name) => name.waiters.map((waiter) => ({waiter, name})));
  for (const {waiter} of waits) {
    const key = waiter.holding.map((lease) => byLease.get(lease)).find(Boolean) ?? 'w' + waiter.lease_id;
    byLease.set(waiter.lease_id, key);
    for (const lease of waiter.holding) byLease.set(lease, key);
    if (!nodes.has(key)) nodes.set(key, {key, owner: waiter.owner, waits: true});
  }
  const stuck = new Set(answer.deadlocks.flat().map((one) => one.lease_id));
  const edges = [];
  for (const {waiter, name} of waits) {
    for (const holder of name.holders) {
      const to = byLease.get(holder.lease_id) ?? 'h' + holder.lease_id;
      if (!nodes.has(to)) nodes.set(to, {key: to, owner: holder.owner, waits: false});
      edges.push({from: byLease.get(waiter.lease_id), to, name: name.name, bad: stuck.has(waiter.lease_id)});
    }
  }
  return {nodes: [...nodes.values()], edges};
}

// Returns the nodes that can be reached from each node.
function reachable({nodes, edges}) {
  const next = new Map(nodes.map((node) => [node.key, edges.filter((edge) => edge.from === node.key).map((edge) => edge.to)]));
  return new Map(nodes.map((node) => {
    const seen = new Set();
    const left = [...next.get(node.key)];
    while (left.length) {
      const key = left.pop();
      if (!seen.has(key)) {
        seen.add(key);
        left.push(...next.get(key));
      }
    }
    return [node.key, seen];
  }));
}

// Holders that do not wait are on the right; a waiter is left of what it waits for. The members of
// a circle are in one column.
function place({nodes, edges}) {
  const depth = new Map(nodes.map((node) => [node.key, 0]));
  const reach = reachable({nodes, edges});
  for (let round = 0; round < nodes.length; ++round) {
    for (const edge of edges) {
      const together = reach.get(edge.to).has(edge.from);
      depth.set(edge.from, Math.max(depth.get(edge.from), depth.get(edge.to) + (together ? 0 : 1)));
    }
  }
  const columns = [];
  for (const node of nodes) (columns[depth.get(node.key)] ??= []).push(node);
  const used = columns.filter(Boolean);
  const tall = Math.max(...used.map((column) => column.length));
  const height = Math.max(120, tall * 64 + 20);
  used.reverse().forEach((column, i) => column.forEach((node, j) => {
    node.x = 110 + i * 300;
    node.y = ((j + 0.5) * height) / column.length;
  }));
  return {width: 220 + (used.length - 1) * 300, height};
}

function draw(graph) {
  const {width, height} = place(graph);
  const at = new Map(graph.nodes.map((node) => [node.key, node]));
  const label = `${graph.nodes.length} processes, ${graph.edges.length} waits; the list below has the same`;
  const wide = width + 70;
  const svg = s('svg', {viewBox: `0 0 ${wide} ${height}`, width: wide, height, class: 'graph', role: 'img', 'aria-label': label},
    s('defs', {}, ...['', 'bad'].map((kind) => s('marker', {id: 'arrow' + kind, class: 'arrow ' + kind, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto'}, s('path', {d: 'M0 0 L8 4 L0 8 Z'})))));
  graph.edges.forEach((edge, i) => {
    const [a, b] = [at.get(edge.from), at.get(edge.to)];
    const bend = a.x === b.x ? 120 * (a.y < b.y ? 1 : -1) : 0;
    const [x1, x2] = bend ? [a.x + Math.sign(bend) * 95, b.x + Math.sign(bend) * 95] : [a.x + 95, b.x - 95];
    const [mx, my] = [(x1 + x2) / 2 + bend * 0.45, (a.y + b.y) / 2 - (bend ? 0 : 8)];
    const path = a === b ? '' : bend ? `M${x1} ${a.y} C${x1 + bend * 0.6} ${a.y} ${x2 + bend * 0.6} ${b.y} ${x2} ${b.y}` : `M${x1} ${a.y} C${x1 + 50} ${a.y} ${x2 - 50} ${b.y} ${x2} ${b.y}`;
    const name = printable(edge.name);
    svg.append(s('path', {d: path, class: edge.bad ? 'edge bad' : 'edge', 'marker-end': `url(#arrow${edge.bad ? 'bad' : ''})`}, s('title', {}, `waits for ${name}`)),
      s('text', {x: mx, y: my, class: edge.bad ? 'edge-name bad' : 'edge-name', 'text-anchor': 'middle'}, name.length > 22 ? name.slice(0, 21) + '…' : name));
  });
  for (const node of graph.nodes) {
    const owner = ownerText(node.owner);
    svg.append(s('g', {class: node.waits ? 'node waits' : 'node'}, s('title', {}, owner), s('rect', {x: node.x - 95, y: node.y - 17, width: 190, height: 34, rx: 8}),
      s('text', {x: node.x, y: node.y + 4, 'text-anchor': 'middle'}, owner.length > 26 ? owner.slice(0, 25) + '…' : owner)));
  }
  return svg;
}

function deadlockCard(deadlock) {
  return h('section', {class: 'card deadlock', 'aria-label': `Deadlock of ${deadlock.length}`}, h('h3', {}, `Deadlock of ${deadlock.length}`),
    h('ol', {}, ...deadlock.map((one) => h('li', {}, h('bdi', {}, ownerText(one.owner)), ' holds ', foreign(one.holds), ' and has waited ', running(one.waited_ms), ' for ', foreign(one.name)))),
    h('p', {class: 'hint'}, 'It does not end by itself: end one of them, or steal one of their locks.'));
}

export function waitersView(root) {
  const deadlocks = h('div', {});
  const graph = h('div', {class: 'wide graph-box'});
  const list = h('div', {});
  root.append(h('h1', {}, 'Waiters'), deadlocks, graph, list);
  let drawn = '';

  async function update() {
    const answer = await api('waiters');
    deadlocks.replaceChildren(...answer.deadlocks.map(deadlockCard));
    if (answer.names.length === 0) {
      graph.replaceChildren();
      drawn = '';
      list.replaceChildren(h('div', {class: 'empty'}, h('h2', {}, 'Nobody waits'), h('p', {}, 'A caller appears here when it has waited for a second.')));
      return;
    }
    const made = graphOf(answer);
    const shape = JSON.stringify([made.nodes.map((node) => node.key), made.edges]);
    if (made.nodes.length > MOST_NODES) graph.replaceChildren(h('p', {class: 'hint'}, `${made.nodes.length} processes are too many for a picture.`));
    else if (shape !== drawn) graph.replaceChildren(draw(made));
    drawn = shape;
    list.replaceChildren(...answer.names.map((name) => h('section', {class: 'card'}, h('h3', {}, nameLink(name)),
      h('p', {}, name.holders.length ? 'held by ' : 'held by nobody', ...name.holders.flatMap((holder, i) => [i ? ', ' : '', h('bdi', {}, ownerText(holder.owner)), ' for ', running(holder.held_for_ms)])),
      h('ol', {class: 'waiting'}, ...name.waiters.map((waiter) => h('li', {}, h('bdi', {}, ownerText(waiter.owner)), waiter.reason ? [' “', foreign(waiter.reason), '”'] : '', ' has waited ', running(waiter.waited_ms)))))),
      answer.complete ? '' : h('p', {class: 'hint'}, `There are ${answer.waiters} waiters; these are the first.`));
  }

  return {update};
}

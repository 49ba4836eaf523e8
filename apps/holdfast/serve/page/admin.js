// Changes, which a server with --admin-token-file allows: each asks for the token and for the name
// once more. The token is kept until the page is left.

import {h, foreign, printable} from './dom.js';
import {api} from './live.js';

let allowed = null;
let token = '';

const CHANGES = {
  steal: {title: 'Steal', text: 'The leases of its holders are removed. A holder notices when it renews next, within a third of its ttl; until then it works as if it held the name.'},
  clear: {title: 'Clear', text: 'The mark is removed.'},
  reset: {title: 'Reset', text: 'The next call of holdfast once runs the command again in this period.'},
};

// Returns the changes that this name allows, each with the key that it needs.
function changesOf(name) {
  if (!name.held || name.kind === 'foreign') return [];
  if (name.kind === 'mark') return [['clear', name.name.slice('mark/'.length), name.id.slice('mark%2F'.length)]];
  const steal = ['steal', name.name, name.id];
  return name.kind === 'once' ? [['reset', name.name.slice('once/'.length), name.id.slice('once%2F'.length)], steal] : [steal];
}

function ask(kind, key, id) {
  const change = CHANGES[kind];
  const typed = h('input', {type: 'text', autocomplete: 'off', spellcheck: 'false', required: true});
  const secret = h('input', {type: 'password', autocomplete: 'off', required: true, value: token});
  const message = h('p', {class: 'bad', role: 'alert'});
  const go = h('button', {class: 'danger', disabled: true}, change.title);
  // A name that cannot be typed is confirmed by its id.
  const expected = printable(key) === key && !key.includes('\ufffd') ? key : id;
  const dialog = h('dialog', {'aria-label': `${change.title} ${printable(key)}`}, h('form', {onsubmit: async (event) => {
    event.preventDefault();
    token = secret.value;
    go.disabled = true;
    try {
      await api(`${kind}?name=${id}`, {method: 'POST', headers: {'Content-Type': 'application/json', 'Authorization': 'Bearer ' + token}, body: JSON.stringify({confirm: typed.value})});
      dialog.close();
    } catch (error) {
      message.textContent = printable(error.message);
      go.disabled = false;
    }
  }}, h('h2', {}, `${change.title} `, foreign(key), '?'), h('p', {}, change.text),
    h('label', {}, 'Type ', h('b', {}, foreign(expected)), ' to confirm', typed), h('label', {}, 'Admin token', secret), message,
    h('div', {class: 'buttons'}, h('button', {type: 'button', onclick: () => dialog.close()}, 'Cancel'), go)));
  typed.addEventListener('input', () => { go.disabled = typed.value !== expected; });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  typed.focus();
}

export async function adminButtons(name) {
  if (allowed === null) allowed = (await api('overview')).admin;
  if (!allowed) return [];
  return changesOf(name).map(([kind, key, id]) => h('button', {type: 'button', class: 'danger', onclick: () => ask(kind, key, id)}, CHANGES[kind].title + '…'));
}

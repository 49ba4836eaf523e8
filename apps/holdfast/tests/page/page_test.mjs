// page_test.mjs HOLDFAST MODULES [FOLDER]: drives the page of `holdfast serve` in a real browser. With FOLDER, leaves a
// picture of each state there.

import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {PATIENCE, World, eventually, freePort} from './world.mjs';

const [holdfast, modules, pictures] = process.argv.slice(2);
const world = new World(holdfast, modules);
const complaints = [];  // of the browser: scripts that failed, requests that the policy refused

async function open(url, options = {}) {
  const page = await (await world.browser.newContext({viewport: {width: 1200, height: 760}, ...options})).newPage();
  page.setDefaultTimeout(PATIENCE);
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A server or a store that was ended on purpose is no mistake of the page.
    if (message.type() === 'error' && !/ERR_(CONNECTION|INCOMPLETE|EMPTY|NETWORK)|status of 503/.test(message.text())) complaints.push(message.text());
  });
  page.on('dialog', (dialog) => complaints.push('a dialog: ' + dialog.message()));
  await page.goto(url);
  return page;
}

async function picture(page, name) {
  if (pictures) await page.screenshot({path: path.join(pictures, name + '.png')});
}

const row = (page, name) => page.locator('.rows .row', {has: page.locator('a.name', {hasText: name})});
const state = (page, text) => page.locator('#state', {hasText: text}).waitFor();

const tests = {
  async 'an empty store says how to hold a name'(page) {
    await state(page, 'live');
    await page.getByText('No name is held').waitFor();
    await picture(page, 'empty');
  },

  async 'the list shows a lock that is acquired, and one that is released'(page) {
    const holder = await world.hold('deploy/web', '--owner', 'ci@web1:41', '--reason', 'release 8.12');
    await row(page, 'deploy/web').waitFor();
    const text = await row(page, 'deploy/web').innerText();
    assert.match(text, /ci@web1 \(pid 41\)/);
    assert.match(text, /release 8\.12/);
    const left = row(page, 'deploy/web').locator('.left');
    const before = await left.innerText();
    await eventually('the time left changes', async () => await left.innerText() !== before);
    holder.stdin.end();
    await page.getByText('No name is held').waitFor();
  },

  async 'waiters are shown in the order in which they came, and the past of a name'(page) {
    const holder = await world.hold('job', '--owner', 'first');
    const waiters = [];
    await page.goto(page.url().replace(/#.*|$/, '#/name/job'));
    for (const [i, owner] of ['second', 'third'].entries()) {
      waiters.push(world.start(world.holdfast, ['run', '-q', '--owner', owner, 'job', '--', 'true']));
      await page.locator('.waiting li').nth(i).waitFor();
    }
    const names = await page.locator('.waiting li bdi').allInnerTexts();
    assert.deepEqual(names, ['second', 'third']);
    await picture(page, 'name');
    await page.getByRole('button', {name: 'Why does it wait?'}).click();
    await page.getByText('Only its holders are in the way.').waitFor();
    holder.stdin.end();
    await Promise.all(waiters.map((waiter) => waiter.ended));
    await page.getByText('Nobody holds it.').waitFor();
    await page.getByRole('heading', {name: /^Past holders \([1-9]/}).waitFor();
    const past = await page.locator('tbody tr').allInnerTexts();
    assert.ok(past.some((line) => line.includes('first') && line.includes('released')), past.join());
    assert.ok(await page.locator('svg .hold').count() >= 1);
    await picture(page, 'history');
  },

  async 'an address that nobody wrote for this page shows the names'(page) {
    for (const address of ['#/prefix/%', '#/toString']) {
      await page.goto(page.url().replace(/#.*|$/, address));
      await page.getByRole('searchbox').waitFor();
    }
  },

  async 'a page that is not visible keeps no connection'(page) {
    const streams = async () => Number(/^holdfast_serve_streams (\d+)/m.exec(await (await fetch(new URL('/metrics', page.url()))).text())[1]);
    const hide = (hidden) => page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', {configurable: true, get: () => value});
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
    await eventually('the page listens', async () => await streams() === 1);
    await hide(true);
    // The server sees that when it sends the next event.
    await eventually('the stream is closed', async () => await streams() === 0);
    await hide(false);
    await eventually('the page listens again', async () => await streams() === 1);
    await state(page, 'live');
  },

  async 'a deadlock is marked in the graph and named'(page) {
    const start = (held, wanted) => world.start('sh', ['-c', `"$0" run -q --owner owner-of-${held} ${held} -- sh -c 'echo ready; read line; "$0" run -q --owner owner-of-${held} ${wanted} -- true; true' "$0"`, world.holdfast]);
    const both = [start('lock-a', 'lock-b'), start('lock-b', 'lock-a')];
    for (const one of both) await eventually('both hold a lock', () => one.output.includes('ready'));
    for (const one of both) one.stdin.end('go\n');
    await page.goto(page.url().replace(/#.*/, '#/waiters'));
    await page.getByRole('heading', {name: 'Deadlock of 2'}).waitFor();
    await page.locator('svg .edge.bad').nth(1).waitFor();
    await picture(page, 'deadlock');
    for (const name of ['lock-a', 'lock-b']) await world.run('steal', name, '--confirm', name);
    await page.getByText('Nobody waits').waitFor();
    await Promise.all(both.map((one) => one.ended));
  },

  async 'markup, marks of direction and 1,024 bytes are only text'(page) {
    const names = ['<script>document.title="taken"</script>', '<img src=x onerror=alert(1)>', '\u202Egnp.exe', 'x'.repeat(1024)];
    for (const name of names) await world.run('acquire', '--ttl', '1h', '--owner', names[1], '--reason', names[0], name);
    await page.goto(page.url().replace(/#.*/, '#/'));
    await row(page, 'document.title').waitFor();
    await row(page, '\\u202egnp.exe').waitFor();
    assert.equal(await page.locator('main img, main script').count(), 0);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await picture(page, 'strange-names');
    await row(page, 'document.title').locator('a').click();
    await page.locator('h1', {hasText: '<script>'}).waitFor();
    assert.equal(await page.title(), 'Holdfast');
    for (const name of names) await world.run('steal', name, '--confirm', name);
  },

  async 'the keyboard reaches everything'(page) {
    const holders = [await world.hold('alpha'), await world.hold('beta')];
    await page.goto(page.url().replace(/#.*/, '#/'));
    await row(page, 'beta').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('bet');
    await row(page, 'alpha').waitFor({state: 'detached'});
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('h1', {hasText: 'beta'}).waitFor();
    await page.keyboard.press('g');
    await page.getByRole('searchbox').fill('');
    await row(page, 'alpha').waitFor();
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, a')].filter((element) =>
      !(element.innerText || element.getAttribute('aria-label') || (element.labels && element.labels.length))).length);
    assert.equal(nameless, 0);
    for (const view of ['o', 'e', 'w', 'g']) {
      await page.keyboard.press(view);
      await page.locator('nav a[aria-current]').waitFor();
    }
    for (const holder of holders) holder.stdin.end();
    await Promise.all(holders.map((holder) => holder.ended));
  },

  async 'it is readable on a phone, light and dark'(page) {
    const holder = await world.hold('deploy/web', '--owner', 'ci@web1:41');
    for (const colorScheme of ['light', 'dark']) {
      const phone = await open(page.url().replace(/#.*/, ''), {viewport: {width: 390, height: 780}, colorScheme});
      await row(phone, 'deploy/web').waitFor();
      assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
      const dark = await phone.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(dark, colorScheme === 'dark' ? 'rgb(17, 21, 27)' : 'rgb(246, 247, 249)');
      await picture(phone, 'phone-' + colorScheme);
      await phone.context().close();
    }
    holder.stdin.end();
    await holder.ended;
  },
};

// A server that allows changes.
async function changes(readOnly) {
  const token = 'a-token-of-the-test-0123';
  const file = path.join(world.folder, 'token');
  writeFileSync(file, token + '\n', {mode: 0o600});
  const holder = await world.hold('deploy/web', '--owner', 'ci@web1:41');
  await readOnly.goto(readOnly.url().replace(/#.*/, '#/name/deploy%2Fweb'));
  await readOnly.getByText('ci@web1').first().waitFor();
  await readOnly.getByRole('heading', {name: 'Timeline'}).waitFor();
  assert.equal(await readOnly.getByRole('button', {name: 'Steal…'}).count(), 0);

  const server = await world.serve('--admin-token-file', file);
  const page = await open(server.url + '#/name/deploy%2Fweb');
  await page.getByRole('button', {name: 'Steal…'}).click();
  const dialog = page.getByRole('dialog');
  const steal = dialog.getByRole('button', {name: 'Steal'});
  assert.equal(await steal.isDisabled(), true);
  await dialog.getByLabel('to confirm').fill('deploy/we');
  assert.equal(await steal.isDisabled(), true);
  await dialog.getByLabel('to confirm').fill('deploy/web');
  await dialog.getByLabel('Admin token').fill('another-token-0123456789');
  await picture(page, 'steal');
  await steal.click();
  await dialog.getByText('changes need the token').waitFor();
  assert.equal(holder.exitCode, null);
  await dialog.getByLabel('Admin token').fill(token);
  await steal.click();
  await dialog.waitFor({state: 'detached'});
  await holder.ended;
  assert.equal(holder.exitCode, 79);
  await page.locator('tbody .kind.stolen').waitFor();
  await picture(page, 'stolen');
  console.log('ok  steal asks for the name and the token, and works with them alone');
  // The browser reports the 401 that was provoked.
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('status of 401')));
}

// A store of its own, which is ended on purpose.
async function manyNames() {
  const port = await freePort();
  let redis = await world.redis(port);
  const lines = Array.from({length: 100_000}, (_, i) => `SET name/${String(i).padStart(6, '0')} value PX 36000000\r\n`);
  await world.send(port, lines.join(''));
  let server = await world.serve('--store', `redis://127.0.0.1:${port}`);
  const page = await open(server.url);
  await page.getByText('100,000 names').waitFor();
  await row(page, 'name/000000').waitFor();
  assert.ok(await page.locator('.rows .row').count() < 200);
  await page.evaluate(() => { document.querySelector('.scroller').scrollTop = 50_000 * 40; });
  await row(page, 'name/050000').waitFor();
  await picture(page, 'many-names');
  await page.evaluate(() => { document.querySelector('.scroller').scrollTop = 1e9; });
  await row(page, 'name/099999').waitFor();
  await page.getByRole('searchbox').fill('NAME/01234');
  await page.getByText('10 names').waitFor();
  await page.getByRole('searchbox').fill('');
  console.log('ok  a hundred thousand names scroll and are searched');

  redis.kill('SIGKILL');
  await state(page, 'store down');
  await page.getByText('The store does not answer').waitFor();
  await page.getByText('100,000 names').waitFor();
  await picture(page, 'store-down');
  redis = await world.redis(port);
  await state(page, 'live');
  await page.getByText('No name is held').waitFor();
  console.log('ok  a store that ends and returns is shown so');

  const listen = new URL(server.url).host;
  server.kill('SIGKILL');
  await state(page, 'reconnecting');
  await picture(page, 'reconnecting');
  await server.ended;
  server = await world.serve('--store', `redis://127.0.0.1:${port}`, '--listen', listen);
  await state(page, 'live');
  console.log('ok  the page connects again by itself');
}

try {
  await world.openBrowser();
  const server = await world.serve();
  const page = await open(server.url);
  for (const [name, test] of Object.entries(tests)) {
    await test(page);
    console.log('ok  ' + name);
  }
  await changes(page);
  await manyNames();
  assert.deepEqual(complaints, []);
} catch (error) {
  console.error(error);
  console.error('the browser said:', complaints);
  process.exitCode = 1;
} finally {
  await world.end();
}

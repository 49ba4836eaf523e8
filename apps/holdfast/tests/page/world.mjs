// Starts and ends what the tests of the page need: servers, holders, the browser.

import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import net from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createRequire} from 'node:module';

// After this long, what a test waits for is taken not to come at all.
export const PATIENCE = 200_000;

export async function eventually(what, condition) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > end) throw new Error('this did not come: ' + what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const {port} = server.address();
      server.close(() => resolve(port));
    });
  });
}

export class World {
  constructor(holdfast, modules) {
    this.holdfast = path.resolve(holdfast);
    this.folder = mkdtempSync(path.join(tmpdir(), 'holdfast-page-'));
    this.children = new Set();
    this.require = createRequire(path.resolve(modules, 'package.json'));
    this.environment = {PATH: process.env.PATH, HOME: this.folder};
  }

  start(command, args, options = {}) {
    const child = spawn(command, args, {env: this.environment, stdio: ['pipe', 'pipe', 'inherit'], ...options});
    child.output = '';
    child.ended = new Promise((resolve) => child.on('close', resolve));
    child.stdout.on('data', (data) => { child.output += data; });
    this.children.add(child);
    child.ended.then(() => this.children.delete(child));
    return child;
  }

  // Runs `holdfast` to its end.
  async run(...args) {
    const child = this.start(this.holdfast, args);
    child.stdin.end();
    const status = await child.ended;
    if (status !== 0) throw new Error(`holdfast ${args.join(' ')} ended with ${status}`);
    return child.output;
  }

  // Holds a name until its input ends.
  async hold(name, ...options) {
    const child = this.start(this.holdfast, ['run', '-q', ...options, name, '--', 'sh', '-c', 'echo ready; read line; true']);
    await eventually(name + ' is held', () => child.output.includes('ready'));
    return child;
  }

  async serve(...options) {
    const child = this.start(this.holdfast, ['serve', '--json', '--every', '200ms', ...(options.includes('--listen') ? [] : ['--listen', '127.0.0.1:0']), ...options]);
    await eventually('the server listens', () => child.output.includes('\n'));
    child.url = JSON.parse(child.output).url;
    return child;
  }

  async redis(port) {
    const child = this.start('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', this.folder]);
    await eventually('Redis answers', () => this.send(port, 'PING\r\n').then((text) => text.startsWith('+PONG'), () => false));
    return child;
  }

  // Sends commands to Redis, and returns the answer to the last of them, which is QUIT.
  send(port, text) {
    return new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1', () => socket.write(text + 'QUIT\r\n'));
      let answer = '';
      socket.on('data', (data) => { answer = (answer + data).slice(-1000); });
      socket.on('error', reject);
      socket.on('close', () => resolve(answer));
    });
  }

  async openBrowser() {
    const {chromium} = this.require('playwright-core');
    this.browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'], timeout: PATIENCE});
    return this.browser;
  }

  async end() {
    if (this.browser) await this.browser.close();
    const left = [...this.children];
    for (const child of left) child.kill('SIGKILL');
    await Promise.all(left.map((child) => child.ended));
    rmSync(this.folder, {recursive: true, force: true});
  }
}

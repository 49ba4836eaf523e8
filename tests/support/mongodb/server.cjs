// A stand-in for a MongoDB server, for tests: one thread, one command at a time, everything in memory.
// It knows what Holdfast and its driver need, and refuses everything else, even a field too many.
//
//   node server.cjs PORT [--standalone] [--wire-version N] [--tls FOLDER]
//
// Listens on 127.0.0.1, with --tls by the server.pem and server.key in that folder. Port 0 is one that is free. Prints
// `listening PORT` when it does, and ends when its standard input does: when the test that started it has ended.
'use strict';
const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');
const tls = require('node:tls');
const {Commands, WRITES} = require('./commands.cjs');
const {Databases} = require('./documents.cjs');
const {Failure} = require('./failure.cjs');
const {Faults} = require('./faults.cjs');
const {Language} = require('./language.cjs');
const {formatReply, splitMessages} = require('./wire.cjs');

const EXPIRE_EVERY = 60_000;
const GREETINGS = ['hello', 'isMaster', 'ismaster'];
const BLOBS = new WeakMap();  // how many bytes more a reply has

// `$$NOW` is one moment in all of a command, and by a clock that a test may set.
const realNow = Date.now;
let clockOffset = 0, frozen = null;
Date.now = () => frozen ?? realNow() + clockOffset;

class Server {
  databases = new Databases();
  faults = new Faults();
  counts = {};
  sent = 0;  // bytes
  #commands = new Commands(this);
  #answered = new Map();  // the last retryable write of each session

  constructor(options) {
    this.options = options;
    this.address = '';  // known when it listens
    this.language = new Language(options.wireVersion);
  }

  setClock(offset) { clockOffset = offset; }

  // The reply; nothing if the connection is to be closed instead.
  async answer(command) {
    const name = Object.keys(command)[0];
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    try {
      if (!Object.hasOwn(Commands.prototype, name) || name === 'constructor') {
        throw new Failure(59, `no such command: '${name}'`);
      }
      const fault = this.faults.take(name, command);
      if (fault.blockConnection) await new Promise((resolve) => { setTimeout(resolve, fault.blockTimeMS); });
      if (fault.closeConnection) return null;
      if (fault.failure) throw fault.failure;
      const done = await this.#once(name, command);
      const reply = {...(fault.replaceReply ? {} : done), ...fault.replaceReply, ...fault.extendReply, ok: 1};
      if (fault.writeConcernError) reply.writeConcernError = fault.writeConcernError;
      if (fault.blobInReply && !GREETINGS.includes(name)) BLOBS.set(reply, fault.blobInReply);
      return fault.dropReply ? null : reply;
    } catch (error) {
      if (error instanceof Failure) return error.reply();
      process.stderr.write(`${error.stack}\n`);
      return new Failure(8, `the stand-in itself failed: ${error.message}`).reply();
    }
  }

  // A write that is sent again with its number is answered, and not done, again.
  #once(name, command) {
    if (command.txnNumber === undefined) return this.#run(name, command);
    if (this.options.standalone) {
      throw new Failure(20, 'Transaction numbers are only allowed on a replica set member or mongos');
    }
    if (!WRITES.includes(name)) throw new Failure(50768, `txnNumber may not be used with ${name}`);
    const session = command.lsid.id.toString('hex');
    const number = Number(command.txnNumber);
    const last = this.#answered.get(session);
    if (last !== undefined && number < last.number) throw new Failure(225, 'the retryable write is too old');
    if (last !== undefined && number === last.number) return Commands.repetition(name, last.reply);
    const reply = this.#run(name, command);
    if (Commands.isRemembered(name, reply)) this.#answered.set(session, {number, reply});
    return reply;
  }

  #run(name, command) {
    frozen = realNow() + clockOffset;
    try {
      return this.#commands[name](command);
    } finally {
      frozen = null;
    }
  }
}

function serve(server, socket) {
  let turn = Promise.resolve();
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  const split = splitMessages((message) => {
    turn = turn.then(async () => {
      const reply = await server.answer(message.body);
      if (reply === null) socket.destroy();
      if (reply === null || socket.destroyed) return;
      const bytes = formatReply(message, reply, BLOBS.get(reply) ?? 0);
      server.sent += bytes.length;
      socket.write(bytes);
    });
  });
  socket.on('data', (chunk) => {
    try {
      split(chunk);
    } catch (error) {
      process.stderr.write(`stand-in: ${error.message}\n`);
      socket.destroy();
    }
  });
}

function main([port, ...words]) {
  const options = {standalone: false, wireVersion: 17};
  while (words.length > 0) {
    const word = words.shift();
    if (word === '--standalone') options.standalone = true;
    else if (word === '--wire-version') options.wireVersion = Number(words.shift());
    else if (word === '--tls') options.tls = words.shift();
    else throw new Error(`unknown option ${word}`);
  }
  const server = new Server(options);
  setInterval(() => server.databases.expire(), EXPIRE_EVERY).unref();
  const accept = (socket) => serve(server, socket);
  const listener = options.tls === undefined ? net.createServer(accept) : tls.createServer({
    cert: fs.readFileSync(path.join(options.tls, 'server.pem')),
    key: fs.readFileSync(path.join(options.tls, 'server.key')),
  }, accept);
  listener.listen(Number(port), '127.0.0.1', 1024, () => {
    server.address = `127.0.0.1:${listener.address().port}`;
    process.stdout.write(`listening ${listener.address().port}\n`);
  });
  process.stdin.on('end', () => process.exit()).resume();
}

main(process.argv.slice(2));

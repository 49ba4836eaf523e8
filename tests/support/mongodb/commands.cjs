// What the stand-in answers to each command, and what it takes for a mistake.
'use strict';
const {Long} = require('bson');
const {Failure, allowOnly, require: demand} = require('./failure.cjs');

const ALWAYS = ['$db', 'lsid', '$readPreference', '$clusterTime'];
const WRITE = ['writeConcern', 'txnNumber'];
const FIRST_BATCH = 101;
const NOT_UNDERSTOOD = 9;
// The document, before or after, of each answer to a findAndModify that changed something.
const IMAGES = new WeakMap();

function checkWriteConcern(concern) {
  if (concern === undefined) return;
  allowOnly('writeConcern', concern, ['w', 'wtimeout', 'j']);
  if (concern.w !== 'majority' && !Number.isInteger(concern.w ?? 1)) throw new Failure(79, `no write concern mode named '${concern.w}'`);
}

class Commands {
  #server;
  #cursors = new Map();
  #lastCursor = 0;

  constructor(server) { this.#server = server; }

  #collection(command, field) {
    demand(field, command[field], 'string');
    return `${command.$db}.${command[field]}`;
  }

  hello(command) {
    const {options, address} = this.#server;
    allowOnly('hello', command, ['hello', 'isMaster', 'ismaster', 'helloOk', 'client', 'compression',
                                 'topologyVersion', 'maxAwaitTimeMS', ...ALWAYS]);
    const set = options.standalone ? {} : {
      setName: 'standIn', setVersion: 1, hosts: [address], primary: address, me: address, secondary: false,
      logicalSessionTimeoutMinutes: 30,
    };
    return {
      helloOk: true, isWritablePrimary: true, ismaster: true, ...set, maxBsonObjectSize: 16 * 1024 * 1024,
      maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000, localTime: new Date(Date.now()), minWireVersion: 0,
      maxWireVersion: options.wireVersion, readOnly: false,
    };
  }
  isMaster(command) { return this.hello(command); }
  ismaster(command) { return this.hello(command); }

  ping(command) {
    allowOnly('ping', command, ['ping', ...ALWAYS]);
    return {};
  }

  buildInfo(command) {
    allowOnly('buildInfo', command, ['buildInfo', ...ALWAYS]);
    const version = {8: '4.2.24', 9: '4.4.29', 17: '6.0.14'}[this.#server.options.wireVersion] ?? '0.0.0';
    return {version, versionArray: [...version.split('.').map(Number), 0], modules: ['holdfast stand-in']};
  }

  endSessions(command) {
    allowOnly('endSessions', command, ['endSessions', ...ALWAYS]);
    return {};
  }

  configureFailPoint(command) {
    this.#server.faults.configure(command);
    return {};
  }

  // Of the stand-in alone: its clock, and the work that a server does once a minute.
  holdfastSetClock(command) {
    allowOnly('holdfastSetClock', command, ['holdfastSetClock', 'offsetMS', ...ALWAYS]);
    demand('offsetMS', command.offsetMS, 'number');
    this.#server.setClock(command.offsetMS);
    return {};
  }
  holdfastExpire(command) {
    allowOnly('holdfastExpire', command, ['holdfastExpire', ...ALWAYS]);
    this.#server.databases.expire();
    return {};
  }
  // From now on reads see what is there now, as on a primary that has been replaced and does not know it yet.
  holdfastFreezeReads(command) {
    allowOnly('holdfastFreezeReads', command, ['holdfastFreezeReads', ...ALWAYS]);
    this.#server.databases.freezeReads();
    return {};
  }
  // How often each command came, and how many bytes were sent.
  holdfastCounts(command) {
    allowOnly('holdfastCounts', command, ['holdfastCounts', ...ALWAYS]);
    return {counts: {...this.#server.counts}, sent: this.#server.sent};
  }

  insert(command) {
    allowOnly('insert', command, ['insert', 'documents', 'ordered', ...WRITE, ...ALWAYS]);
    checkWriteConcern(command.writeConcern);
    demand('documents', command.documents, 'array');
    const collection = this.#server.databases.get(this.#collection(command, 'insert'));
    for (const document of command.documents) collection.insert(document);
    return {n: command.documents.length};
  }

  #checkUpdate(pipeline) {
    if (!Array.isArray(pipeline)) throw new Failure(9, 'the stand-in knows only updates that are pipelines');
    return pipeline;
  }

  #matching(name, filter, collection = this.#server.databases.find(name)) {
    demand('the filter', filter, 'object');
    if (collection === undefined) return [];
    const found = collection.candidates(filter);
    // A filter by the _id alone has been applied already.
    const isById = typeof filter._id === 'string' && Object.keys(filter).length === 1;
    return isById ? found : found.filter(this.#server.language.matcher(filter));
  }

  // The document after the update, and whether it is another.
  #change(name, filter, pipeline, before) {
    const collection = this.#server.databases.get(name);
    const {language} = this.#server;
    if (before !== undefined) {
      const after = language.update(before, pipeline);
      return {after, changed: collection.replace(before, after)};
    }
    const {_id, ...others} = filter;
    if (typeof _id !== 'string' || !Object.values(others).every(isComparison)) {
      throw new Failure(9, 'the stand-in knows an upsert only by the _id, a string, and comparisons that are not equality');
    }
    const after = language.update({_id: filter._id}, pipeline);
    collection.insert(after);
    return {after, changed: true};
  }

  #project(document, fields) {
    if (fields === undefined) return document;
    if (this.#server.options.wireVersion < 9 && Object.values(fields).some((each) => typeof each !== 'number')) {
      throw new Failure(2, 'Unsupported projection option');
    }
    if (document === null) return null;
    return this.#server.language.aggregate([document], [{$project: fields}])[0];
  }

  findAndModify(command) {
    allowOnly('findAndModify', command, ['findAndModify', 'query', 'update', 'new', 'upsert', 'fields', ...WRITE, ...ALWAYS]);
    checkWriteConcern(command.writeConcern);
    const name = this.#collection(command, 'findAndModify');
    const pipeline = this.#checkUpdate(command.update);
    const [before] = this.#matching(name, command.query);
    if (before === undefined && command.upsert !== true) {
      return {lastErrorObject: {n: 0, updatedExisting: false}, value: null};
    }
    const {after, changed} = this.#change(name, command.query, pipeline, before);
    const value = command.new === true ? after : before ?? null;
    const upserted = before === undefined ? {upserted: after._id} : {};
    const reply = {lastErrorObject: {n: 1, updatedExisting: before !== undefined, ...upserted},
                   value: this.#project(value, command.fields)};
    if (changed) IMAGES.set(reply, value);
    return reply;
  }

  // Whether a write that is sent again is known again: a findAndModify that changed nothing is not.
  static isRemembered(name, reply) { return name !== 'findAndModify' || IMAGES.has(reply); }
  // The answer to a write that was done before: of a findAndModify the whole document, whatever `fields` says.
  static repetition(name, reply) {
    return name === 'findAndModify' ? {...reply, value: IMAGES.get(reply), retriedStmtId: 0} : {...reply, retriedStmtIds: [0]};
  }

  update(command) {
    allowOnly('update', command, ['update', 'updates', 'ordered', ...WRITE, ...ALWAYS]);
    checkWriteConcern(command.writeConcern);
    demand('updates', command.updates, 'array');
    const name = this.#collection(command, 'update');
    let n = 0, nModified = 0;
    const upserted = [], writeErrors = [];
    for (const [index, each] of command.updates.entries()) {
      allowOnly('updates', each, ['q', 'u', 'upsert', 'multi']);
      const pipeline = this.#checkUpdate(each.u);
      const found = this.#matching(name, each.q);
      try {
        for (const before of each.multi === true ? found : found.slice(0, 1)) {
          nModified += this.#change(name, each.q, pipeline, before).changed;
          ++n;
        }
        if (found.length > 0 || each.upsert !== true) continue;
        upserted.push({index, _id: this.#change(name, each.q, pipeline, undefined).after._id});
        ++n;
      } catch (error) {
        if (!(error instanceof Failure) || error.code === NOT_UNDERSTOOD) throw error;
        writeErrors.push({index, code: error.code, errmsg: error.message});
        if (command.ordered !== false) break;
      }
    }
    return {n, nModified, ...(upserted.length > 0 ? {upserted} : {}),
            ...(writeErrors.length > 0 ? {writeErrors} : {})};
  }

  delete(command) {
    allowOnly('delete', command, ['delete', 'deletes', 'ordered', ...WRITE, ...ALWAYS]);
    checkWriteConcern(command.writeConcern);
    demand('deletes', command.deletes, 'array');
    const name = this.#collection(command, 'delete');
    let n = 0;
    for (const each of command.deletes) {
      allowOnly('deletes', each, ['q', 'limit']);
      demand('limit', each.limit, 'number');
      const found = this.#matching(name, each.q);
      for (const document of each.limit === 1 ? found.slice(0, 1) : found) {
        this.#server.databases.get(name).remove(document);
        ++n;
      }
    }
    return {n};
  }

  // A cursor belongs to the session that has opened it.
  #open(ns, documents, batchSize, session) {
    const firstBatch = documents.slice(0, batchSize);
    const rest = documents.slice(batchSize);
    if (rest.length === 0) return {cursor: {firstBatch, id: Long.ZERO, ns}};
    const id = ++this.#lastCursor;
    this.#cursors.set(id, {ns, rest, session});
    return {cursor: {firstBatch, id: Long.fromNumber(id), ns}};
  }

  find(command) {
    allowOnly('find', command, ['find', 'filter', 'projection', 'sort', 'limit', 'batchSize', 'singleBatch', 'readConcern', ...ALWAYS]);
    const ns = this.#collection(command, 'find');
    const stages = [];
    if (command.sort !== undefined) stages.push({$sort: command.sort});
    if (command.limit > 0) stages.push({$limit: command.limit});
    if (command.projection !== undefined) stages.push({$project: command.projection});
    const found = this.#server.language.aggregate(this.#matching(ns, command.filter ?? {}, this.#server.databases.readable(ns)), stages);
    return this.#open(ns, found, command.batchSize ?? FIRST_BATCH, sessionOf(command));
  }

  aggregate(command) {
    allowOnly('aggregate', command, ['aggregate', 'pipeline', 'cursor', 'readConcern', ...ALWAYS]);
    const ns = this.#collection(command, 'aggregate');
    demand('pipeline', command.pipeline, 'array');
    allowOnly('cursor', command.cursor, ['batchSize']);
    const [first, ...others] = command.pipeline;
    if (first !== undefined && '$changeStream' in first) {
      return this.#watch(ns, first.$changeStream, others, sessionOf(command));
    }
    const match = first !== undefined && '$match' in first;
    const found = this.#matching(ns, match ? first.$match : {}, this.#server.databases.readable(ns));
    const documents = this.#server.language.aggregate(found, match ? others : command.pipeline);
    return this.#open(ns, documents, command.cursor.batchSize ?? FIRST_BATCH, sessionOf(command));
  }

  #watch(ns, options, pipeline, session) {
    if (this.#server.options.standalone) {
      throw new Failure(40573, 'The $changeStream stage is only supported on replica sets');
    }
    allowOnly('$changeStream', options, []);
    const id = ++this.#lastCursor;
    const read = this.#server.language.reader(pipeline);
    this.#cursors.set(id, {ns, read, session, next: this.#server.databases.changes.end});
    return {cursor: {firstBatch: [], id: Long.fromNumber(id), ns}};
  }

  #changesOf(cursor) {
    const {changes} = this.#server.databases;
    const events = changes.since(cursor.next).filter(({ns}) => `${ns.db}.${ns.coll}` === cursor.ns);
    cursor.next = changes.end;
    return cursor.read(events);
  }

  async getMore(command) {
    allowOnly('getMore', command, ['getMore', 'collection', 'batchSize', 'maxTimeMS', ...ALWAYS]);
    const id = Number(command.getMore);
    const cursor = this.#cursors.get(id);
    if (cursor === undefined) throw new Failure(43, `cursor id ${id} not found`);
    if (cursor.session !== sessionOf(command)) {
      throw new Failure(50738, `Cannot run getMore on cursor ${id}, which was created in another session`);
    }
    if (cursor.rest !== undefined) {
      const nextBatch = cursor.rest.splice(0, command.batchSize ?? cursor.rest.length);
      const done = cursor.rest.length === 0;
      if (done) this.#cursors.delete(id);
      return {cursor: {nextBatch, id: done ? Long.ZERO : Long.fromNumber(id), ns: cursor.ns}};
    }
    const until = performance.now() + (command.maxTimeMS ?? 1000);
    let nextBatch = this.#changesOf(cursor);
    for (let left; nextBatch.length === 0 && (left = until - performance.now()) > 0;) {
      await this.#server.databases.changes.next(left);
      if (!this.#cursors.has(id)) throw new Failure(237, 'the cursor was killed');
      nextBatch = this.#changesOf(cursor);
    }
    return {cursor: {nextBatch, id: Long.fromNumber(id), ns: cursor.ns}};
  }

  killCursors(command) {
    allowOnly('killCursors', command, ['killCursors', 'cursors', ...ALWAYS]);
    const cursorsKilled = command.cursors.filter((id) => this.#cursors.delete(Number(id)));
    return {cursorsKilled, cursorsNotFound: [], cursorsAlive: [], cursorsUnknown: []};
  }

  createIndexes(command) {
    allowOnly('createIndexes', command, ['createIndexes', 'indexes', ...WRITE, ...ALWAYS]);
    checkWriteConcern(command.writeConcern);
    const collection = this.#server.databases.get(this.#collection(command, 'createIndexes'));
    const numIndexesBefore = collection.indexes.length;
    for (const index of command.indexes) {
      allowOnly('indexes', index, ['key', 'name', 'expireAfterSeconds']);
      collection.createIndex(index);
    }
    return {numIndexesBefore, numIndexesAfter: collection.indexes.length, createdCollectionAutomatically: false};
  }

  listIndexes(command) {
    allowOnly('listIndexes', command, ['listIndexes', 'cursor', ...ALWAYS]);
    const name = this.#collection(command, 'listIndexes');
    const collection = this.#server.databases.find(name);
    if (collection === undefined) throw new Failure(26, `ns does not exist: ${name}`);
    return this.#open(name, collection.indexes, FIRST_BATCH, sessionOf(command));
  }
}

// Finds what is there, and says nothing of the document that an upsert makes.
const isComparison = (condition) => condition !== null && typeof condition === 'object' &&
    Object.keys(condition).length > 0 &&
    Object.keys(condition).every((operator) => ['$gt', '$gte', '$lt', '$lte', '$ne'].includes(operator));

const sessionOf = (command) => command.lsid?.id.toString('hex') ?? '';

const WRITES = ['insert', 'update', 'delete', 'findAndModify'];

module.exports = {Commands, WRITES};

// The collections of the stand-in: documents, which nobody changes in place, indexes, and the log of changes.
'use strict';
const {EJSON, Timestamp} = require('bson');
const {Failure} = require('./failure.cjs');
const {compare} = require('./values.cjs');

const REMEMBERED_CHANGES = 20_000;

const keyOf = (id) => typeof id === 'string' ? `s${id}` : `x${EJSON.stringify({id})}`;
const same = (one, other) => compare(one, other) === 0;

// What a change stream says of an update: the fields of the document itself, changed as a whole.
function difference(before, after) {
  const updatedFields = {};
  for (const [field, value] of Object.entries(after)) {
    if (!(field in before) || !same(before[field], value)) updatedFields[field] = value;
  }
  return {updatedFields, removedFields: Object.keys(before).filter((field) => !(field in after)), truncatedArrays: []};
}

class Changes {
  #events = [];
  #first = 0;  // the number of the oldest that is remembered
  #waiting = new Set();

  get end() { return this.#first + this.#events.length; }

  add(event) {
    const number = this.end;
    this.#events.push({_id: {_data: number.toString(16).padStart(16, '0')},
                       clusterTime: new Timestamp({t: Math.floor(Date.now() / 1000), i: number % 0xffff}), ...event});
    if (this.#events.length >= 2 * REMEMBERED_CHANGES) {
      this.#events.splice(0, REMEMBERED_CHANGES);
      this.#first += REMEMBERED_CHANGES;
    }
    for (const wake of this.#waiting) wake();
  }

  since(number) {
    if (number < this.#first) throw new Failure(286, 'the resume point may no longer be in the oplog');
    return this.#events.slice(number - this.#first);
  }

  // Until there is something new, or the time has passed.
  async next(milliseconds) {
    let wake;
    const changed = new Promise((resolve) => { wake = resolve; });
    this.#waiting.add(wake);
    const timer = setTimeout(wake, milliseconds);
    await changed;
    clearTimeout(timer);
    this.#waiting.delete(wake);
  }
}

class Collection {
  #documents = new Map();

  constructor(name, changes) {
    this.name = name;
    this.indexes = [{v: 2, key: {_id: 1}, name: '_id_'}];
    this.changes = changes;
  }

  copy() {
    const copy = new Collection(this.name, this.changes);
    copy.#documents = new Map(this.#documents);
    return copy;
  }

  get ns() {
    const dot = this.name.indexOf('.');
    return {db: this.name.slice(0, dot), coll: this.name.slice(dot + 1)};
  }

  // Those that may match, by the _id if the filter has one.
  candidates(filter) {
    const id = filter._id;
    const ids = typeof id === 'string' ? [id] : Array.isArray(id?.$in) ? id.$in : undefined;
    if (ids === undefined) return [...this.#documents.values()];
    return [...new Set(ids.map(keyOf))].map((key) => this.#documents.get(key)).filter((each) => each !== undefined);
  }

  insert(document) {
    const key = keyOf(document._id);
    if (this.#documents.has(key)) throw new Failure(11000, `E11000 duplicate key error collection: ${this.name}`);
    this.#documents.set(key, document);
    this.changes.add({operationType: 'insert', ns: this.ns, documentKey: {_id: document._id}, fullDocument: document});
  }

  // Whether that changed anything.
  replace(before, after) {
    if (!same(before._id, after._id)) throw new Failure(66, "the field '_id' is immutable");
    if (same(before, after)) return false;
    this.#documents.set(keyOf(before._id), after);
    this.changes.add({operationType: 'update', ns: this.ns, documentKey: {_id: before._id},
                      updateDescription: difference(before, after)});
    return true;
  }

  remove(document) {
    this.#documents.delete(keyOf(document._id));
    this.changes.add({operationType: 'delete', ns: this.ns, documentKey: {_id: document._id}});
  }

  createIndex(index) {
    const existing = this.indexes.find((each) => same(each.key, index.key));
    if (existing === undefined) {
      this.indexes.push({v: 2, ...index});
      return;
    }
    if (existing.expireAfterSeconds !== index.expireAfterSeconds) {
      throw new Failure(85, `An equivalent index already exists with a different name or options: ${existing.name}`);
    }
  }

  // What a server does once a minute.
  expire() {
    for (const {key, expireAfterSeconds} of this.indexes) {
      if (expireAfterSeconds === undefined) continue;
      const field = Object.keys(key)[0];
      for (const document of this.candidates({})) {
        const date = document[field];
        if (date instanceof Date && date.getTime() + expireAfterSeconds * 1000 <= Date.now()) this.remove(document);
      }
    }
  }
}

class Databases {
  #collections = new Map();
  #frozen;  // undefined: reads see what is there
  changes = new Changes();

  find(name) { return this.#collections.get(name); }
  get(name) {
    if (!this.#collections.has(name)) this.#collections.set(name, new Collection(name, this.changes));
    return this.#collections.get(name);
  }
  // For reads.
  readable(name) { return (this.#frozen ?? this.#collections).get(name); }
  freezeReads() { this.#frozen = new Map([...this.#collections].map(([name, each]) => [name, each.copy()])); }
  expire() { for (const collection of this.#collections.values()) collection.expire(); }
}

module.exports = {Databases};

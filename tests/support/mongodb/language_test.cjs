// Compares what is compiled with mingo: Holdfast's pipelines and filters, over random documents. Prints the first
// difference and fails.
//
//   node language_test.cjs FOLDER_WITH_THE_PIPELINES
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const {EJSON} = require('bson');
const {Mingo} = require('./mingo.cjs');
const {compileFilter} = require('./queries.cjs');
const {compileStage} = require('./stages.cjs');
const {compare} = require('./values.cjs');

const ROUNDS = 60;
const NOW = 1_700_000_000_000;
Date.now = () => NOW;
const STAGES = ['$set', '$unset'];

let seed = 7;
const pick = (count) => { seed = (seed * 48271) % 0x7fffffff; return seed % count; };
const any = (values) => values[pick(values.length)];
const id = () => `id${pick(3)}`;
const time = () => new Date(NOW + (pick(7) - 3) * 1000);
const list = (make) => Array.from({length: pick(4)}, make);
const lease = () => ({lockId: `${id()} owner `, permits: 1 + pick(3), token: 100 + pick(9), granted: time(), expires: time()});
const wait = () => ({id: id(), permits: 1 + pick(3), until: time()});
const hits = (name) => ({ends: (NOW + (pick(7) - 3) * 1000) * 1000, [name]: pick(4)});

function anyDocument() {
  const document = {_id: 'name'};
  if (pick(6) === 0) return document;
  Object.assign(document, {lockId: any([`${id()} owner `, 'released', `released ${id()}`, 'releasedly', 'holdfast', 'a stranger']),
                           expiresAt: time(), acquiredAt: time(), fencingToken: 100 + pick(9)});
  if (document.lockId === 'holdfast') {
    Object.assign(document, {capacity: 1 + pick(4), leases: list(lease), freed: id()});
    if (pick(2) === 0) document.waits = list(wait);
    if (pick(2) === 0) document.window = hits('hits');
    if (pick(2) === 0) document.log = list(() => hits('count'));
  }
  if (pick(9) === 0) document.data = any([1, 'text', null]);
  return document;
}

const anyRequest = () => ({
  now: '$$NOW', id: {$literal: id()}, prefix: {$literal: `${id()} `}, fromPrefix: {$literal: `${id()} `},
  lockId: {$literal: `${id()} me `}, ttl: 1000 * pick(5), permits: 1 + pick(3), capacity: 1 + pick(4), holdsBack: 1000 * pick(2),
  maxWaiting: 2, isSliding: pick(2) === 0, period: 1000 * (1 + pick(3)), slack: pick(2), limit: 1 + pick(5), count: 1 + pick(2),
  longestLog: 3,
});

const folder = process.argv[2];
const read = (name) => JSON.parse(fs.readFileSync(path.join(folder, `${name}.json`)));
const PIPELINES = [['claim', 'grant'], ['transfer', 'grant'], ['renew'], ['release'], ['unwait'], ['hit']]
    .map((names) => ['record', ...names, 'store'].flatMap(read));
const mingo = new Mingo(17);

const outcome = (call) => { try { return call(); } catch (error) { return {failed: true}; } };
const same = (one, other, what) => {
  if (compare(one, other) === 0) return;
  console.error(`${EJSON.stringify(what)}\n is compiled to ${EJSON.stringify(one)}\n and by mingo to ${EJSON.stringify(other)}`);
  process.exit(1);
};

let compared = 0;
for (let round = 0; round < ROUNDS; ++round) {
  for (const pipeline of PIPELINES) {
    let document = anyDocument();
    for (const stage of [{$set: {_holdfast: anyRequest()}}, ...pipeline]) {
      const before = document;
      const made = outcome(() => compileStage(stage)([before])[0]);
      same(made, outcome(() => mingo.stage(stage, STAGES)([before])[0]), {stage, before});
      ++compared;
      if (made.failed) break;
      document = made;
    }
  }
  const filter = any([{_id: {$gte: 'm'}, fencingToken: {$lte: 104}}, {$or: [{lockId: 'released'}, {'window.hits': {$gt: 1}}]},
                      {'leases.token': {$lt: 103}}, {lockId: {$regex: '^released( |$)'}}, {lockId: /^released( |$)/}, {freed: {$exists: true}},
                      {$expr: {$gt: ['$expiresAt', '$$NOW']}}, {data: null}, {fencingToken: {$in: [101, 102]}}]);
  const document = anyDocument();
  same(compileFilter(filter)(document), mingo.matcher(filter)(document), {filter, document});
}
console.log(`compared ${compared} stages`);

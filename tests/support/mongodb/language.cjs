// MongoDB's query, update and aggregation language, by mingo, restricted to what a server of a given
// version knows.
'use strict';
const {Context} = require('mingo/core');
const {Aggregator} = require('mingo/aggregator');
const {Query} = require('mingo/query');
const accumulators = require('mingo/operators/accumulator');
const expressions = require('mingo/operators/expression');
const queries = require('mingo/operators/query');
const stages = require('mingo/operators/pipeline');
const {Failure} = require('./failure.cjs');

// What came after 4.2, by the wire version of the server that first had it.
const SINCE = {
  9: ['$first', '$last', '$isNumber', '$replaceAll', '$replaceOne', '$rand', '$sampleRate', '$function'],
  13: ['$dateAdd', '$dateDiff', '$dateSubtract', '$dateTrunc', '$getField', '$setField', '$unsetField'],
  15: ['$sortArray', '$firstN', '$lastN', '$maxN', '$minN', '$top', '$topN', '$bottom', '$bottomN'],
  99: ['$bitAnd', '$bitNot', '$bitOr', '$bitXor', '$median', '$percentile', '$sigmoid', '$toHashedIndexKey', '$accumulator'],
};
const AS_EXPRESSION = ['$avg', '$max', '$min', '$stdDevPop', '$stdDevSamp', '$sum'];
const OF_UPDATES = ['$addFields', '$project', '$replaceRoot', '$replaceWith', '$set', '$unset'];
const OF_READS = ['$addFields', '$limit', '$match', '$project', '$set', '$sort'];

const pick = (all, names) => Object.fromEntries(names.map((name) => [name, all[name]]));

class Language {
  #updates;
  #reads;

  constructor(wireVersion) {
    const tooNew = Object.entries(SINCE).filter(([version]) => version > wireVersion).flatMap(([, names]) => names);
    const known = Object.fromEntries(Object.entries(expressions).filter(([name]) => !tooNew.includes(name)));
    const common = {expression: known, accumulator: pick(accumulators, AS_EXPRESSION), query: queries};
    this.#updates = Context.init({...common, pipeline: pick(stages, OF_UPDATES)});
    this.#reads = Context.init({...common, pipeline: pick(stages, OF_READS)});
  }

  #run(pipeline, documents, context, known) {
    for (const stage of pipeline) {
      const names = Object.keys(stage);
      if (names.length !== 1) throw new Failure(40323, 'A pipeline stage specification object must contain exactly one field.');
      if (!known.includes(names[0])) throw new Failure(40324, `Unrecognized pipeline stage name: '${names[0]}'`);
    }
    try {
      return new Aggregator(pipeline, {context}).run(documents);
    } catch (error) {
      throw new Failure(168, error.message);
    }
  }

  update(document, pipeline) { return this.#run(pipeline, [document], this.#updates, OF_UPDATES)[0]; }
  aggregate(documents, pipeline) { return this.#run(pipeline, documents, this.#reads, OF_READS); }
  matcher(filter) {
    try {
      const query = new Query(filter, {context: this.#reads});
      return (document) => query.test(document);
    } catch (error) {
      throw new Failure(2, error.message);
    }
  }
}

module.exports = {Language};

// What mingo knows of MongoDB's language, restricted to what a server of a given version knows. Loaded only when
// something is asked that is not compiled: loading it takes longer than most tests.
'use strict';
const {Context} = require('mingo/core');
const {Aggregator} = require('mingo/aggregator');
const {Query} = require('mingo/query');
const accumulators = require('mingo/operators/accumulator');
const expressions = require('mingo/operators/expression');
const queries = require('mingo/operators/query');
const stages = require('mingo/operators/pipeline');
const {copyOf} = require('./wire.cjs');

// What came after 4.2, by the wire version of the server that first had it.
const SINCE = {
  9: ['$first', '$last', '$isNumber', '$replaceAll', '$replaceOne', '$rand', '$sampleRate', '$function'],
  13: ['$dateAdd', '$dateDiff', '$dateSubtract', '$dateTrunc', '$getField', '$setField', '$unsetField'],
  15: ['$sortArray', '$firstN', '$lastN', '$maxN', '$minN', '$top', '$topN', '$bottom', '$bottomN'],
  99: ['$bitAnd', '$bitNot', '$bitOr', '$bitXor', '$median', '$percentile', '$sigmoid', '$toHashedIndexKey', '$accumulator'],
};
const AS_EXPRESSION = ['$avg', '$max', '$min', '$stdDevPop', '$stdDevSamp', '$sum'];

const pick = (all, names) => Object.fromEntries(names.map((name) => [name, all[name]]));

class Mingo {
  #common;

  constructor(wireVersion) {
    const tooNew = Object.entries(SINCE).filter(([version]) => version > wireVersion).flatMap(([, names]) => names);
    const known = Object.fromEntries(Object.entries(expressions).filter(([name]) => !tooNew.includes(name)));
    this.#common = {expression: known, accumulator: pick(accumulators, AS_EXPRESSION), query: queries};
  }

  // It may change what it is given, so that is a copy.
  stage(stage, known) {
    const context = Context.init({...this.#common, pipeline: pick(stages, known)});
    const aggregator = new Aggregator([stage], {context});
    return (documents) => aggregator.run(documents.map(copyOf));
  }

  matcher(filter) {
    const query = new Query(filter, {context: Context.init(this.#common)});
    return (document) => query.test(document);
  }
}

module.exports = {Mingo};

// MongoDB's filters, compiled to functions of a document. Knows the conditions that Holdfast and its tests use;
// `compileFilter` throws `Unknown` for others, which mingo knows.
'use strict';
const {Unknown, compile} = require('./expressions.cjs');
const {compare, isPlain, isTrue, typeOf} = require('./values.cjs');

// All values at a path: an array stands for itself and for each of its elements.
function valuesAt(value, path) {
  if (path.length === 0) return Array.isArray(value) ? [value, ...value] : [value];
  if (Array.isArray(value)) return value.flatMap((each) => valuesAt(each, path));
  const field = typeOf(value) === 'object' && Object.hasOwn(value, path[0]) ? value[path[0]] : undefined;
  return valuesAt(field, path.slice(1));
}

const NUMBERS = ['int', 'long', 'double'];
const isComparable = (one, other) => {
  const type = typeOf(one), otherType = typeOf(other);
  return type === otherType || (NUMBERS.includes(type) && NUMBERS.includes(otherType));
};
const equals = (value, wanted) => compare(value, wanted) === 0 || (wanted === null && value === undefined);
const ordered = (holds) => (wanted) => (values) => values.some((each) => isComparable(each, wanted) && holds(compare(each, wanted)));

const CONDITIONS = {
  $eq: (wanted) => (values) => values.some((each) => equals(each, wanted)),
  $ne: (wanted) => (values) => !values.some((each) => equals(each, wanted)),
  $gt: ordered((found) => found > 0),
  $gte: ordered((found) => found >= 0),
  $lt: ordered((found) => found < 0),
  $lte: ordered((found) => found <= 0),
  $in: (all) => (values) => values.some((each) => all.some((wanted) => equals(each, wanted))),
  $exists: (wanted) => (values) => values.some((each) => each !== undefined) === isTrue(wanted),
  $regex: (pattern) => {
    if (typeof pattern !== 'string') throw new Unknown('$regex');
    const expression = new RegExp(pattern, 'u');
    return (values) => values.some((each) => typeof each === 'string' && expression.test(each));
  },
};

function compileCondition(condition) {
  // A driver sends {"$regex": …} as a value of the type regex.
  if (condition instanceof RegExp) return CONDITIONS.$regex(condition.source);
  const isOperators = condition !== null && typeof condition === 'object' && !Array.isArray(condition) && isPlain(condition) &&
      Object.keys(condition).some((key) => key.startsWith('$'));
  if (!isOperators) return CONDITIONS.$eq(condition);
  const all = Object.entries(condition).map(([operator, operand]) => {
    if (!Object.hasOwn(CONDITIONS, operator)) throw new Unknown(operator);
    return CONDITIONS[operator](operand);
  });
  return (values) => all.every((each) => each(values));
}

function compileField(path, condition) {
  const holds = compileCondition(condition);
  const names = path.split('.');
  return (document) => holds(valuesAt(document, names));
}

const WHOLE = {
  $and: (filters) => { const all = filters.map(compileFilter); return (document) => all.every((each) => each(document)); },
  $or: (filters) => { const all = filters.map(compileFilter); return (document) => all.some((each) => each(document)); },
  $expr: (expression) => { const value = compile(expression); return (document) => isTrue(value(document, {})); },
};

function compileFilter(filter) {
  const all = Object.entries(filter).map(([key, condition]) => {
    if (!key.startsWith('$')) return compileField(key, condition);
    if (!Object.hasOwn(WHOLE, key)) throw new Unknown(key);
    return WHOLE[key](condition);
  });
  return (document) => all.every((each) => each(document));
}

module.exports = {compileFilter};

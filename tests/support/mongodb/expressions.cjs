// MongoDB's aggregation expressions, compiled to functions. A server evaluates the same pipeline again and
// again; to compile it once is many times faster than to interpret it each time.
//
// Knows the operators that Holdfast's pipelines use, all of which 4.2 has. Whoever needs others asks mingo: `compile`
// throws `Unknown` for them.
'use strict';
const {Failure} = require('./failure.cjs');
const {compare, isNothing, isPlain, isTrue, typeOf} = require('./values.cjs');

class Unknown extends Error {}

// A compiled expression is called with the document and with the variables of $let, $filter and their like.
const constant = (value) => () => value;

function fieldOf(value, field) {
  if (Array.isArray(value)) {
    return value.map((each) => fieldOf(each, field)).filter((each) => each !== undefined);
  }
  return value !== null && typeof value === 'object' && isPlain(value) && Object.hasOwn(value, field) ? value[field] : undefined;
}

function follow(start, path) {
  if (path.length === 0) return start;
  if (path.length === 1) return (root, variables) => fieldOf(start(root, variables), path[0]);
  return (root, variables) => path.reduce(fieldOf, start(root, variables));
}

const root = (document) => document;
const SYSTEM = {NOW: () => new Date(Date.now()), ROOT: root, CURRENT: root, REMOVE: constant(undefined)};

function compilePath(text) {
  if (!text.startsWith('$$')) return follow(root, text.slice(1).split('.'));
  const [name, ...path] = text.slice(2).split('.');
  if (Object.hasOwn(SYSTEM, name)) return follow(SYSTEM[name], path);
  return follow((_, variables) => {
    if (!(name in variables)) throw new Failure(17276, `Use of undefined variable: ${name}`);
    return variables[name];
  }, path);
}

function compileObject(specification) {
  const fields = Object.entries(specification).map(([field, each]) => [field, compile(each)]);
  return (document, variables) => {
    const made = {};
    for (const [field, each] of fields) {
      const value = each(document, variables);
      if (value !== undefined) made[field] = value;
    }
    return made;
  };
}

function compile(expression) {
  if (typeof expression === 'string') return expression.startsWith('$') ? compilePath(expression) : constant(expression);
  if (Array.isArray(expression)) {
    const elements = expression.map(compile);
    return (document, variables) => elements.map((each) => each(document, variables) ?? null);
  }
  if (expression === null || typeof expression !== 'object' || !isPlain(expression)) return constant(expression);
  const [operator, ...others] = Object.keys(expression);
  if (operator === undefined || !operator.startsWith('$')) return compileObject(expression);
  if (others.length > 0) throw new Failure(15983, 'an expression must have exactly one operator');
  if (!Object.hasOwn(OPERATORS, operator)) throw new Unknown(operator);
  return OPERATORS[operator](expression[operator], operator);
}

// An operator of so many operands. `apply` is given their values.
const operator = (least, most, apply) => (operands, name) => {
  const all = (Array.isArray(operands) ? operands : [operands]).map(compile);
  if (all.length < least || all.length > most) throw new Failure(16020, `Expression ${name} takes other than ${all.length} arguments`);
  const [first, second] = all;
  if (all.length === 1) return (document, variables) => apply(first(document, variables));
  if (all.length === 2) return (document, variables) => apply(first(document, variables), second(document, variables));
  return (document, variables) => apply(...all.map((each) => each(document, variables)));
};
const ANY = Infinity;

// An operator with named operands.
const named = (fields, needed, make) => (operands, name) => {
  if (operands === null || typeof operands !== 'object' || Array.isArray(operands)) throw new Failure(28646, `${name} takes an object`);
  for (const field of Object.keys(operands)) {
    if (!fields.includes(field)) throw new Failure(28647, `Unrecognized parameter to ${name}: ${field}`);
  }
  for (const field of needed) {
    if (!(field in operands)) throw new Failure(28648, `Missing '${field}' parameter to ${name}`);
  }
  return make(operands);
};

function wrong(code, message) { throw new Failure(code, message); }

// The array, or null where the server takes nothing for an answer.
function arrayOf(value, what) {
  if (isNothing(value)) return null;
  return Array.isArray(value) ? value : wrong(17042, `${what} must be an array, not ${typeOf(value)}`);
}

function numberOf(value, what) {
  return typeof value === 'number' ? value : wrong(14, `${what} only supports numeric types, not ${typeOf(value)}`);
}

const arithmetic = (name, step) => operator(2, 2, (one, other) => isNothing(one) || isNothing(other) ? null
    : step(numberOf(one, name), numberOf(other, name)));

function add(...terms) {
  if (terms.some(isNothing)) return null;
  const isDate = terms.some((each) => each instanceof Date);
  const sum = terms.reduce((all, each) => all + (each instanceof Date ? each.getTime() : numberOf(each, '$add')), 0);
  return isDate ? new Date(sum) : sum;
}

function subtract(one, other) {
  if (isNothing(one) || isNothing(other)) return null;
  if (!(one instanceof Date)) return numberOf(one, '$subtract') - numberOf(other, '$subtract');
  return other instanceof Date ? one.getTime() - other.getTime() : new Date(one.getTime() - numberOf(other, '$subtract'));
}

// One operand that is an array stands for its elements.
const overAll = (apply) => operator(1, ANY, (...values) => apply(values.length === 1 && Array.isArray(values[0]) ? values[0] : values));
const extreme = (sign) => overAll((values) => values.reduce(
    (best, each) => isNothing(each) || (best !== null && compare(each, best) * sign <= 0) ? best : each, null));

const comparison = (holds) => operator(2, 2, (one, other) => holds(compare(one, other)));

// The index of a text in another, in bytes.
function indexOfBytes(text, part) {
  if (isNothing(text)) return null;
  if (typeof text !== 'string' || typeof part !== 'string') wrong(40091, '$indexOfBytes requires strings');
  if (text.startsWith(part)) return 0;
  return Buffer.from(text).indexOf(part);
}

function toLong(value) {
  if (isNothing(value)) return null;
  if (value instanceof Date) return value.getTime();
  if (typeof value === 'boolean') return Number(value);
  return Math.trunc(numberOf(value, '$toLong'));
}

function slice(array, ...numbers) {
  if (arrayOf(array, '$slice') === null || numbers.some(isNothing)) return null;
  const [first, count] = numbers.map((each) => numberOf(each, '$slice'));
  if (count === undefined) return first < 0 ? array.slice(first) : array.slice(0, first);
  if (count <= 0) wrong(28729, 'Third argument to $slice must be positive');
  const begin = first < 0 ? Math.max(0, array.length + first) : first;
  return array.slice(begin, begin + count);
}

function elementAt(array, index) {
  if (arrayOf(array, '$arrayElemAt') === null || isNothing(index)) return null;
  return array.at(numberOf(index, '$arrayElemAt'));
}

// Calls back for each element, which is the variable `name`.
const overEach = (input, name, body, take) => {
  const array = compile(input);
  return (document, variables) => {
    const elements = arrayOf(array(document, variables), 'input');
    if (elements === null) return null;
    const inner = {...variables};
    return take(elements, (each) => {
      inner[name] = each;
      return body(document, inner);
    });
  };
};

const filter = ({input, as = 'this', cond}) => overEach(input, as, compile(cond),
    (elements, keeps) => elements.filter((each) => isTrue(keeps(each))));
const map = ({input, as = 'this', in: body}) => overEach(input, as, compile(body),
    (elements, made) => elements.map((each) => made(each) ?? null));

function reduce({input, initialValue, in: body}) {
  const array = compile(input), first = compile(initialValue), next = compile(body);
  return (document, variables) => {
    const elements = arrayOf(array(document, variables), 'input of $reduce');
    if (elements === null) return null;
    return elements.reduce((value, each) => next(document, {...variables, value, this: each}), first(document, variables));
  };
}

function let_({vars, in: body}) {
  const made = Object.entries(vars).map(([name, each]) => [name, compile(each)]);
  const inside = compile(body);
  return (document, variables) => {
    const inner = {...variables};
    for (const [name, each] of made) inner[name] = each(document, variables);
    return inside(document, inner);
  };
}

function chooseBetween(condition, then, otherwise) {
  return (document, variables) => (isTrue(condition(document, variables)) ? then : otherwise)(document, variables);
}

function cond(operands) {
  const parts = Array.isArray(operands) ? operands : [operands.if, operands.then, operands.else];
  if (parts.length !== 3) throw new Failure(16020, 'Expression $cond takes exactly 3 arguments');
  return chooseBetween(...parts.map(compile));
}

function switch_({branches, default: last}) {
  const nothing = () => wrong(40066, '$switch could not find a matching branch and has no default');
  return branches.reduceRight((rest, branch) => chooseBetween(compile(branch.case), compile(branch.then), rest),
                              last === undefined ? nothing : compile(last));
}

// Evaluates no more operands than it must.
const junction = (join) => (operands) => {
  const all = (Array.isArray(operands) ? operands : [operands]).map(compile);
  return (document, variables) => join(all, (each) => isTrue(each(document, variables)));
};

function mergeObjects(...objects) {
  const list = objects.length === 1 && Array.isArray(objects[0]) ? objects[0] : objects;
  for (const each of list) {
    if (!isNothing(each) && typeOf(each) !== 'object') wrong(40400, `$mergeObjects requires objects, not ${typeOf(each)}`);
  }
  return Object.assign({}, ...list);
}

function objectToArray(value) {
  if (isNothing(value)) return null;
  if (typeOf(value) !== 'object') wrong(40390, `$objectToArray requires a document, not ${typeOf(value)}`);
  return Object.entries(value).map(([k, v]) => ({k, v}));
}

function concatenated(...arrays) {
  return arrays.some((each) => arrayOf(each, '$concatArrays') === null) ? null : [].concat(...arrays);
}

function texts(...parts) {
  for (const each of parts) {
    if (isNothing(each)) return null;
    if (typeof each !== 'string') wrong(16702, `$concat only supports strings, not ${typeOf(each)}`);
  }
  return parts.join('');
}

function range(first, end, step = 1) {
  if (step === 0) wrong(34449, '$range requires a non-zero step value');
  const numbers = [];
  for (let i = first; step > 0 ? i < end : i > end; i += step) numbers.push(i);
  return numbers;
}

function isIn(value, array) {
  if (!Array.isArray(array)) wrong(40081, `$in requires an array as a second argument, found: ${typeOf(array)}`);
  return array.some((each) => compare(each, value) === 0);
}

function indexOfArray(array, value) {
  return arrayOf(array, '$indexOfArray') === null ? null : array.findIndex((each) => compare(each, value) === 0);
}

const OPERATORS = {
  $add: operator(1, ANY, add),
  $and: junction((all, holds) => all.every(holds)),
  $arrayElemAt: operator(2, 2, elementAt),
  $ceil: operator(1, 1, (value) => isNothing(value) ? null : Math.ceil(numberOf(value, '$ceil'))),
  $concat: operator(1, ANY, texts),
  $concatArrays: operator(0, ANY, concatenated),
  $cond: cond,
  $divide: arithmetic('$divide', (one, other) => other === 0 ? wrong(2, "can't $divide by zero") : one / other),
  $eq: comparison((found) => found === 0),
  $filter: named(['input', 'as', 'cond'], ['input', 'cond'], filter),
  $gt: comparison((found) => found > 0),
  $gte: comparison((found) => found >= 0),
  $ifNull: operator(2, ANY, (...values) => values.find((each) => !isNothing(each)) ?? values.at(-1)),
  $in: operator(2, 2, isIn),
  $indexOfArray: operator(2, 2, indexOfArray),
  $indexOfBytes: operator(2, 2, indexOfBytes),
  $let: named(['vars', 'in'], ['vars', 'in'], let_),
  $literal: constant,
  $lt: comparison((found) => found < 0),
  $lte: comparison((found) => found <= 0),
  $map: named(['input', 'as', 'in'], ['input', 'in'], map),
  $max: extreme(1),
  $mergeObjects: operator(1, ANY, mergeObjects),
  $min: extreme(-1),
  $multiply: arithmetic('$multiply', (one, other) => one * other),
  $ne: comparison((found) => found !== 0),
  $not: operator(1, 1, (value) => !isTrue(value)),
  $objectToArray: operator(1, 1, objectToArray),
  $or: junction((all, holds) => all.some(holds)),
  $range: operator(2, 3, range),
  $reduce: named(['input', 'initialValue', 'in'], ['input', 'initialValue', 'in'], reduce),
  $size: operator(1, 1, (value) => Array.isArray(value) ? value.length : wrong(17124, `The argument to $size must be an array, but was of type: ${typeOf(value)}`)),
  $slice: operator(2, 3, slice),
  $subtract: operator(2, 2, subtract),
  $sum: overAll((values) => values.reduce((sum, each) => typeof each === 'number' ? sum + each : sum, 0)),
  $switch: named(['branches', 'default'], ['branches'], switch_),
  $toDate: operator(1, 1, (value) => isNothing(value) ? null : value instanceof Date ? value : new Date(numberOf(value, '$toDate'))),
  $toLong: operator(1, 1, toLong),
  $toString: operator(1, 1, (value) => isNothing(value) ? null : value instanceof Date ? value.toISOString() : String(value)),
  $type: operator(1, 1, typeOf),
};

module.exports = {Unknown, compile};

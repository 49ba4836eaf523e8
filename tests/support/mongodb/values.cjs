// BSON values as a server sees them: their types, their order, and which of them count as true.
// A value that is missing is `undefined`.
'use strict';

const isPlain = (value) => Object.getPrototypeOf(value) === Object.prototype;

function typeOf(value) {
  switch (typeof value) {
    case 'undefined': return 'missing';
    case 'string': return 'string';
    case 'boolean': return 'bool';
    case 'number': return Number.isInteger(value) ? (value === (value | 0) ? 'int' : 'long') : 'double';
    case 'bigint': return 'long';
  }
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof Date) return 'date';
  if (isPlain(value)) return 'object';
  if (value instanceof Uint8Array) return 'binData';
  return TYPES_OF_BSON[value._bsontype] ?? 'object';
}

const TYPES_OF_BSON = {
  Long: 'long', Int32: 'int', Double: 'double', Decimal128: 'decimal', ObjectId: 'objectId', Timestamp: 'timestamp',
  Binary: 'binData', MinKey: 'minKey', MaxKey: 'maxKey', BSONRegExp: 'regex', Code: 'javascript', BSONSymbol: 'symbol',
};

const RANKS = {
  minKey: 0, missing: 1, undefined: 1, null: 2, int: 3, long: 3, double: 3, decimal: 3, string: 4, symbol: 4, object: 5,
  array: 6, binData: 7, objectId: 8, bool: 9, date: 10, timestamp: 11, regex: 12, javascript: 13, maxKey: 14,
};

const order = (one, other) => one < other ? -1 : one > other ? 1 : 0;

function compareLists(one, other, compareAt) {
  const common = Math.min(one.length, other.length);
  for (let i = 0; i < common; ++i) {
    const found = compareAt(i);
    if (found !== 0) return found;
  }
  return order(one.length, other.length);
}

function compareObjects(one, other) {
  const keys = Object.keys(one), others = Object.keys(other);
  return compareLists(keys, others, (i) => {
    const left = one[keys[i]], right = other[others[i]];
    return order(RANKS[typeOf(left)], RANKS[typeOf(right)]) || compareTexts(keys[i], others[i]) || compare(left, right);
  });
}

// By code points, as UTF-8 is ordered.
function compareTexts(one, other) {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
}

// Negative, zero or positive, for values of any types.
function compare(one, other) {
  if (one === other) return 0;
  if (typeof one === 'number' && typeof other === 'number') return order(one, other);
  const type = typeOf(one);
  const rank = order(RANKS[type], RANKS[typeOf(other)]);
  if (rank !== 0) return rank;
  switch (type) {
    case 'missing': case 'null': case 'minKey': case 'maxKey': return 0;
    case 'string': return compareTexts(one, other);
    case 'object': return compareObjects(one, other);
    case 'array': return compareLists(one, other, (i) => compare(one[i], other[i]));
    case 'binData': return order(one.length, other.length) || Buffer.compare(one, other);
    case 'bool': case 'date': case 'int': case 'long': case 'double': return order(Number(one), Number(other));
    default: return compareTexts(String(one), String(other));
  }
}

const isTrue = (value) => value !== undefined && value !== null && value !== false && value !== 0;
const isNothing = (value) => value === undefined || value === null;

module.exports = {compare, isNothing, isPlain, isTrue, typeOf};

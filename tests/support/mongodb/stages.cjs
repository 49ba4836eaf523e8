// The stages of a pipeline, compiled to functions from documents to documents. They never change a document that
// they are given; the one they return may share parts with it.
'use strict';
const {Failure} = require('./failure.cjs');
const {Unknown, compile} = require('./expressions.cjs');
const {compare, isPlain, typeOf} = require('./values.cjs');

const isNested = (value) => value !== null && typeof value === 'object' && !Array.isArray(value) && isPlain(value) &&
    Object.keys(value).length > 0 && !Object.keys(value)[0].startsWith('$');

// The fields that $set sets, as a tree: each is an expression, or a Map of the fields within it.
function treeOf(specification, tree = new Map()) {
  for (const [path, value] of Object.entries(specification)) {
    const names = path.split('.');
    const last = names.pop();
    let place = tree;
    for (const name of names) {
      if (!place.has(name)) place.set(name, new Map());
      place = place.get(name);
      if (!(place instanceof Map)) throw new Failure(40176, `specification contains two conflicting paths: ${path}`);
    }
    if (place.has(last)) throw new Failure(40176, `specification contains two conflicting paths: ${path}`);
    place.set(last, isNested(value) ? treeOf(value) : compile(value));
  }
  return tree;
}

// The value with those fields of the tree; expressions are of the whole document.
function withFields(value, tree, document) {
  if (Array.isArray(value)) return value.map((each) => withFields(each, tree, document));
  const made = typeOf(value) === 'object' ? {...value} : {};
  for (const [name, each] of tree) {
    const field = each instanceof Map ? withFields(made[name], each, document) : each(document, {});
    if (field !== undefined) made[name] = field;
    else if (Object.hasOwn(made, name)) delete made[name];
  }
  return made;
}

function set(specification) {
  const tree = treeOf(specification);
  return (documents) => documents.map((each) => withFields(each, tree, each));
}

function unset(specification) {
  const names = [].concat(specification);
  if (names.some((name) => typeof name !== 'string' || name.includes('.'))) throw new Unknown('$unset');
  return (documents) => documents.map((each) => {
    const made = {...each};
    for (const name of names) delete made[name];
    return made;
  });
}

function replaceWith(expression) {
  const made = compile(expression);
  return (documents) => documents.map((each) => {
    const document = made(each, {});
    if (typeOf(document) !== 'object') throw new Failure(40228, `'newRoot' must evaluate to an object, not ${typeOf(document)}`);
    return document;
  });
}

// Some fields as they are, and new ones; no others.
function project(specification) {
  const kept = new Set(['_id']);
  const made = new Map();
  for (const [name, value] of Object.entries(specification)) {
    if (name.includes('.')) throw new Unknown('$project');
    if (value === 0 || value === false) {
      if (name !== '_id') throw new Unknown('$project');
      kept.delete('_id');
    } else if (typeof value === 'number' || value === true) {
      kept.add(name);
    } else {
      made.set(name, compile(value));
    }
  }
  return (documents) => documents.map((each) => {
    const seen = {};
    for (const name of Object.keys(each)) {
      if (kept.has(name)) seen[name] = each[name];
    }
    return withFields(seen, made, each);
  });
}

function sort(specification) {
  const [[name, direction], ...others] = Object.entries(specification);
  if (others.length > 0 || name.includes('.') || Math.abs(direction) !== 1) throw new Unknown('$sort');
  return (documents) => [...documents].sort((one, other) => compare(one[name], other[name]) * direction);
}

function limit(count) {
  if (!Number.isInteger(count) || count <= 0) throw new Failure(15958, 'the limit must be positive');
  return (documents) => documents.slice(0, count);
}

const STAGES = {
  $addFields: set,
  $limit: limit,
  $project: project,
  $replaceRoot: ({newRoot}) => replaceWith(newRoot),
  $replaceWith: replaceWith,
  $set: set,
  $sort: sort,
  $unset: unset,
};

// Throws `Unknown` for a stage that only mingo knows.
function compileStage(stage) {
  const [name] = Object.keys(stage);
  if (!Object.hasOwn(STAGES, name)) throw new Unknown(name);
  return STAGES[name](stage[name]);
}

module.exports = {Unknown, compileStage};

// What a command fails with, as a server says it.
'use strict';

const NAMES = {
  9: 'FailedToParse', 14: 'TypeMismatch', 20: 'IllegalOperation', 26: 'NamespaceNotFound', 43: 'CursorNotFound',
  59: 'CommandNotFound', 64: 'WriteConcernFailed', 85: 'IndexOptionsConflict', 168: 'InvalidPipelineOperator',
  225: 'TransactionTooOld', 10107: 'NotWritablePrimary', 11000: 'DuplicateKey', 11602: 'InterruptedDueToReplStateChange',
  40324: 'Location40324', 40415: 'Location40415', 40573: 'Location40573',
};

class Failure extends Error {
  constructor(code, message, labels = []) {
    super(message);
    this.code = code;
    this.labels = labels;
  }
  reply() {
    const reply = {ok: 0, errmsg: this.message, code: this.code, codeName: NAMES[this.code] ?? `Location${this.code}`};
    if (this.labels.length > 0) reply.errorLabels = this.labels;
    return reply;
  }
}

// Every field must be known: a typing mistake in a command must not pass.
function allowOnly(what, document, known) {
  if (document === null || typeof document !== 'object' || Array.isArray(document)) {
    throw new Failure(14, `${what} must be a document`);
  }
  for (const field of Object.keys(document)) {
    if (!known.includes(field)) throw new Failure(40415, `BSON field '${what}.${field}' is an unknown field.`);
  }
}

function require_(what, value, type) {
  const actual = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  if (actual !== type) throw new Failure(14, `${what} is a ${actual} and must be a ${type}`);
}

module.exports = {Failure, NAMES, allowOnly, require: require_};

// MongoDB's wire protocol, as far as a driver of our time needs it: OP_MSG with one document, and
// the OP_QUERY in which a driver says hello before it knows who it talks to.
'use strict';
const {deserialize, serialize, Long} = require('bson');

const OP_REPLY = 1, OP_QUERY = 2004, OP_MSG = 2013;
const HEADER = 16;
const LARGEST = 48 * 1024 * 1024;

// bson writes a whole number beyond 32 bits as a double; a server has it as a long.
function withLongs(value) {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value !== (value | 0) ? Long.fromNumber(value) : value;
  }
  if (Array.isArray(value)) return value.map(withLongs);
  if (value !== null && typeof value === 'object' &&
      Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withLongs(each)]));
  }
  return value;
}

const encode = (document) => serialize(withLongs(document), {ignoreUndefined: true});
const decode = (bytes) => deserialize(bytes, {promoteBuffers: true});
const copyOf = (document) => decode(encode(document));

// A document that may not have to be decoded, because its like has been seen before.
class RawDocument {
  #bytes;
  constructor(bytes) { this.#bytes = bytes; }
  key() { return this.#bytes.toString('latin1'); }
  decode() { return decode(this.#bytes); }
}

const ARRAY = 4, DOCUMENT = 3;
const FIXED_SIZES = {1: 8, 6: 0, 7: 12, 8: 1, 9: 8, 10: 0, 16: 4, 17: 8, 18: 8, 19: 16, 127: 0, 255: 0};

function sizeOfValue(type, bytes, at) {
  if (type in FIXED_SIZES) return FIXED_SIZES[type];
  const length = bytes.readInt32LE(at);
  if (type === DOCUMENT || type === ARRAY) return length;
  if (type === 2 || type === 13 || type === 14) return 4 + length;
  if (type === 5) return 5 + length;
  throw new Error(`the BSON type ${type} is not known in a command`);
}

// The elements of a document, with the places of their bytes.
function elementsOf(bytes) {
  const elements = [];
  for (let at = 4; bytes[at] !== 0;) {
    const end = bytes.indexOf(0, at + 1);
    const value = end + 1;
    const next = value + sizeOfValue(bytes[at], bytes, value);
    elements.push({type: bytes[at], name: bytes.toString('utf8', at + 1, end), begin: at, value, end: next});
    at = next;
  }
  return elements;
}

const valuesOf = (bytes) => elementsOf(bytes).map(({value, end}) => bytes.subarray(value, end));

// Decodes a document but for the array in this field, whose elements `take` decodes.
function decodeBut(bytes, field, take) {
  const array = elementsOf(bytes).find(({name, type}) => name === field && type === ARRAY);
  if (array === undefined) return decode(bytes);
  const rest = Buffer.concat([bytes.subarray(0, array.begin), bytes.subarray(array.end)]);
  rest.writeInt32LE(rest.length, 0);
  const document = decode(rest);
  document[field] = valuesOf(bytes.subarray(array.value, array.end)).map(take);
  return document;
}

// The stages of an update by a pipeline stay raw.
function decodeCommand(message) {
  const bytes = message.subarray(0, message.readInt32LE(0));
  const stage = (each) => new RawDocument(each);
  const name = bytes.toString('utf8', 5, bytes.indexOf(0, 5));
  if (name === 'findAndModify') return decodeBut(bytes, 'update', stage);
  if (name === 'update') return decodeBut(bytes, 'updates', (each) => decodeBut(each, 'u', stage));
  return decode(bytes);
}

function parseMessage(message) {
  const requestId = message.readInt32LE(4);
  const opCode = message.readInt32LE(12);
  if (opCode === OP_MSG) {
    const flags = message.readUInt32LE(HEADER);
    if (flags !== 0) throw new Error(`flags ${flags} of OP_MSG are not known`);
    if (message[HEADER + 4] !== 0) throw new Error('only sections with one document are known');
    const body = decodeCommand(message.subarray(HEADER + 5));
    return {requestId, opCode, body};
  }
  if (opCode === OP_QUERY) {
    const end = message.indexOf(0, HEADER + 4);
    const collection = message.toString('utf8', HEADER + 4, end);
    if (!collection.endsWith('.$cmd')) throw new Error('OP_QUERY is for commands only');
    const body = decode(message.subarray(end + 9));
    body.$db = collection.slice(0, -'.$cmd'.length);
    return {requestId, opCode, body};
  }
  throw new Error(`the operation ${opCode} is not known`);
}

// Calls `onMessage` for each whole message of the stream; what it throws ends the connection.
function splitMessages(onMessage) {
  let pending = Buffer.alloc(0);
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    while (pending.length >= HEADER) {
      const size = pending.readInt32LE(0);
      if (size < HEADER || size > LARGEST) throw new Error(`a message of ${size} bytes`);
      if (pending.length < size) return;
      const message = pending.subarray(0, size);
      pending = pending.subarray(size);
      onMessage(parseMessage(message));
    }
  };
}

let lastRequest = 0;

// The document with one more field, of so many bytes.
function withBlob(bytes, size) {
  const head = Buffer.alloc(11);
  head.write('\u0005blob');
  head.writeInt32LE(size, 6);
  const whole = Buffer.concat([bytes.subarray(0, -1), head, Buffer.alloc(size + 1)]);
  whole.writeInt32LE(whole.length, 0);
  return whole;
}

function formatReply({requestId, opCode}, document, blob = 0) {
  const body = blob === 0 ? encode(document) : withBlob(encode(document), blob);
  const extra = opCode === OP_MSG ? 5 : 20;
  const message = Buffer.alloc(HEADER + extra + body.length);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(++lastRequest | 0, 4);
  message.writeInt32LE(requestId, 8);
  message.writeInt32LE(opCode === OP_MSG ? OP_MSG : OP_REPLY, 12);
  if (opCode !== OP_MSG) message.writeInt32LE(1, HEADER + 16);  // one document
  Buffer.from(body).copy(message, HEADER + extra);
  return message;
}

module.exports = {RawDocument, copyOf, decode, encode, formatReply, splitMessages};

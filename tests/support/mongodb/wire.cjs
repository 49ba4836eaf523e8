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

function parseMessage(message) {
  const requestId = message.readInt32LE(4);
  const opCode = message.readInt32LE(12);
  if (opCode === OP_MSG) {
    const flags = message.readUInt32LE(HEADER);
    if (flags !== 0) throw new Error(`flags ${flags} of OP_MSG are not known`);
    if (message[HEADER + 4] !== 0) throw new Error('only sections with one document are known');
    const body = decode(message.subarray(HEADER + 5));
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

function formatReply({requestId, opCode}, document) {
  const body = encode(document);
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

module.exports = {encode, decode, formatReply, splitMessages};

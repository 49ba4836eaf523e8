// MongoDB's fail point `failCommand`, as its own tests use it, and more: with `dropReply` the command is done and its
// connection then closed; `replaceReply` and `extendReply` have other fields for the reply, and `blobInReply` adds so many
// bytes to it.
'use strict';
const {Failure, allowOnly} = require('./failure.cjs');

const RETRYABLE = [6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436];
const DATA = ['failCommands', 'errorCode', 'closeConnection', 'blockConnection', 'blockTimeMS', 'writeConcernError', 'dropReply',
              'replaceReply', 'extendReply', 'blobInReply'];

class Faults {
  #data = null;
  #times = 0;

  configure(command) {
    allowOnly('configureFailPoint', command, ['configureFailPoint', 'mode', 'data', '$db', 'lsid', '$readPreference']);
    if (command.configureFailPoint !== 'failCommand') throw new Failure(9, 'the only fail point is failCommand');
    if (command.mode === 'off') {
      this.#data = null;
      return;
    }
    allowOnly('mode', command.mode, ['times']);
    allowOnly('data', command.data, DATA);
    this.#data = command.data;
    this.#times = command.mode.times;
  }

  // What is to be done to this command; nothing if nothing is.
  take(name, command) {
    if (this.#data === null || this.#times === 0 || !this.#data.failCommands.includes(name)) return {};
    --this.#times;
    const {errorCode} = this.#data;
    const labels = RETRYABLE.includes(errorCode) && command.txnNumber !== undefined ? ['RetryableWriteError'] : [];
    return {
      ...this.#data,
      failure: errorCode === undefined ? undefined
        : new Failure(errorCode, `Failing command via 'failCommand' failpoint`, labels),
    };
  }
}

module.exports = {Faults};

// MongoDB's query, update and aggregation language, restricted to what a server of a given version knows. What
// Holdfast's pipelines use is compiled (stages.cjs, queries.cjs); mingo evaluates everything else.
'use strict';
const {Failure} = require('./failure.cjs');
const {compileFilter} = require('./queries.cjs');
const {Unknown, compileStage} = require('./stages.cjs');
const {RawDocument} = require('./wire.cjs');

const OF_UPDATES = ['$addFields', '$project', '$replaceRoot', '$replaceWith', '$set', '$unset'];
const OF_READS = ['$addFields', '$limit', '$match', '$project', '$set', '$sort'];
const REMEMBERED_STAGES = 1000;

// The same, but what is thrown is the server's own failure.
function withFailures(code, call) {
  try {
    return call();
  } catch (error) {
    throw error instanceof Failure || error instanceof Unknown ? error : new Failure(code, error.message);
  }
}

class Language {
  #wireVersion;
  #mingo;
  #compiled = new Map();  // stages of updates, by their bytes

  constructor(wireVersion) { this.#wireVersion = wireVersion; }

  // Compiles, or else asks mingo.
  #compileOr(code, compile, ask) {
    try {
      return withFailures(code, compile);
    } catch (error) {
      if (!(error instanceof Unknown)) throw error;
    }
    const {Mingo} = require('./mingo.cjs');
    this.#mingo ??= new Mingo(this.#wireVersion);
    return withFailures(code, () => ask(this.#mingo));
  }

  #compile(stage, known) {
    const names = Object.keys(stage);
    if (names.length !== 1) throw new Failure(40323, 'A pipeline stage specification object must contain exactly one field.');
    if (!known.includes(names[0])) throw new Failure(40324, `Unrecognized pipeline stage name: '${names[0]}'`);
    if (names[0] === '$match') {
      const matches = this.matcher(stage.$match);
      return (documents) => documents.filter(matches);
    }
    return this.#compileOr(168, () => compileStage(stage), (mingo) => mingo.stage(stage, known));
  }

  // Compiles stages that come again and again once.
  #updateStage(stage, index) {
    if (!(stage instanceof RawDocument)) throw new Failure(14, 'a stage of a pipeline must be a document');
    if (index === 0) return this.#compile(stage.decode(), OF_UPDATES);  // has the request's own values
    const key = stage.key();
    let compiled = this.#compiled.get(key);
    if (compiled === undefined) {
      if (this.#compiled.size >= REMEMBERED_STAGES) this.#compiled.clear();
      compiled = this.#compile(stage.decode(), OF_UPDATES);
      this.#compiled.set(key, compiled);
    }
    return compiled;
  }

  #run(compiled, documents) {
    return withFailures(168, () => compiled.reduce((found, stage) => stage(found), documents));
  }

  update(document, pipeline) {
    return this.#run(pipeline.map((stage, index) => this.#updateStage(stage, index)), [document])[0];
  }

  // The pipeline of a read as a function of documents.
  reader(pipeline) {
    const compiled = pipeline.map((stage) => this.#compile(stage, OF_READS));
    return (documents) => this.#run(compiled, documents);
  }

  aggregate(documents, pipeline) { return this.reader(pipeline)(documents); }

  matcher(filter) { return this.#compileOr(2, () => compileFilter(filter), (mingo) => mingo.matcher(filter)); }
}

module.exports = {Language};

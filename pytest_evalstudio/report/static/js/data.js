// The run's data, unpacked from the page's blocks when they are needed.

const NOWHERE = 0xffffffff;
const ENTRIES = 1024;
const KEPT_BLOCKS = 12;
const MISSED = 1;
const BROKEN = 2;
const FLIPPED = 4;
const CHANGES = { regressed: 8, fixed: 16, new: 32 };

async function unpacked(id) {
  const element = document.getElementById(`data-${id}`);
  if (!element) return null;
  const packed = fromBase64(element.textContent);
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

function fromBase64(letters) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(letters);
  const text = atob(letters);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Data URLs of the images that the page shows, by their digests. */
function picturesOf(attachments) {
  const pictures = new Map();
  for (const { sha256 } of attachments) {
    const element = document.getElementById(`data-picture-${sha256}`);
    if (element) pictures.set(sha256, `data:${element.type},${element.textContent}`);
  }
  return pictures;
}

async function unpackedText(id) {
  const data = await unpacked(id);
  return data && new TextDecoder().decode(data);
}

async function unpackedJson(id) {
  return JSON.parse(await unpackedText(id));
}

/** A run: what is known at once, and what is fetched from its blocks. */
class Run {
  static async open() {
    const run = new Run();
    run.meta = await unpackedJson("meta");
    run.evaluators = run.meta.evaluators;
    run.models = run.meta.models;
    run.byName = new Intl.Collator("en", { numeric: true });
    run.scored = new Map();
    run.blocks = new Map();
    return run;
  }

  /** Rows and cases; all that a list of test cases needs. */
  async listed() {
    this.listing ??= this.#list();
    return this.listing;
  }

  async #list() {
    const data = await unpacked("rows");
    const count = this.meta.shown;
    this.count = count;
    this.caseOf = new Uint32Array(data, 0, count);
    this.textOf = new Uint32Array(data, 4 * count, count);
    this.contextOf = new Uint32Array(data, 8 * count, count);
    this.modelOf = new Uint16Array(data, 12 * count, count);
    this.verdictOf = new Uint8Array(data, 14 * count, count);
    this.flagsOf = new Uint8Array(data, 15 * count, count);
    const names = await unpackedJson("names");
    this.categories = names.categories;
    this.nodeids = names.nodeids;
    this.cases = [];
    for (let slice = 0; slice < names.slices; slice += 1) {
      for (const [key, file, question, categories, source] of await unpackedJson(`cases-${slice}`)) {
        this.cases.push({ key, file, question, categories, source });
      }
      await breathe();
    }
    return this;
  }

  /** One evaluator's opinions: `states`, and per metric `scores`, NaN for none. */
  scores(evaluator) {
    if (!this.scored.has(evaluator)) this.scored.set(evaluator, this.#scores(evaluator));
    return this.scored.get(evaluator);
  }

  async #scores(evaluator) {
    const data = await unpacked(`scores-${evaluator}`);
    const { shown: count } = this.meta;
    const { metrics } = this.evaluators[evaluator];
    const scores = metrics.map((_, place) => new Float32Array(data, 4 * count * place, count));
    const behind = 4 * count * metrics.length;
    return { scores, limits: new Uint16Array(data, behind, count), states: new Uint8Array(data, behind + 2 * count, count) };
  }

  /** A metric as it is for one row: with the threshold that the case has of its own, if it has one. */
  metricOf(evaluator, metric, opinions, row) {
    const line = this.evaluators[evaluator];
    const own = line.limits[opinions[evaluator].limits[row]]?.[metric] ?? null;
    return own === null ? line.metrics[metric] : { ...line.metrics[metric], threshold: own };
  }

  /** Load what the filter by tools needs. */
  async loadTools() {
    this.toolBits ??= new Uint8Array((await unpacked("tools")) ?? 0);
  }

  /** Bits of the calls of a tool by row; null for a tool that the page does not list. */
  toolColumn(name) {
    const place = this.meta.tools.indexOf(name);
    return place < 0 || !this.toolBits ? null : this.toolBits.subarray(place * this.count, (place + 1) * this.count);
  }

  /** All evaluators' opinions, in their order. */
  async opinions() {
    const found = [];
    for (const place of this.evaluators.keys()) {
      found.push(await this.scores(place));
      await breathe();
    }
    return found;
  }

  /** The texts of a row, with its contexts; null where only the files have them. */
  async texts(row) {
    const entry = await this.#entry(this.textOf[row]);
    if (!entry) return null;
    const contexts = await this.#entry(this.contextOf[row]);
    const answers = entry.answers.map((answer, place) => ({ ...answer, context: answer.context ?? contexts?.[place] ?? null }));
    return { ...entry, answers, contextsElsewhere: this.contextOf[row] !== NOWHERE && !contexts };
  }

  async #entry(place) {
    if (place === NOWHERE) return null;
    const block = await this.block(Math.floor(place / ENTRIES));
    return block?.[place % ENTRIES] ?? null;
  }

  /** A block's entries; the last few are kept unpacked. */
  async block(number) {
    let block = this.blocks.get(number);
    if (block === undefined) {
      const text = await unpackedText(`texts-${number}`);
      block = text === null ? null : JSON.parse(text);
    }
    this.blocks.delete(number);
    this.blocks.set(number, block);
    if (this.blocks.size > KEPT_BLOCKS) this.blocks.delete(this.blocks.keys().next().value);
    return block;
  }

  nodeid(row) {
    const { key, file } = this.cases[this.caseOf[row]];
    return this.nodeids[row] ?? `${this.meta.files[file]}::${key}[${this.models[this.modelOf[row]].name}]`;
  }

  /** The row with a node id, -1 for none. */
  rowOf(nodeid) {
    const exception = Object.keys(this.nodeids).find((row) => wellFormed(this.nodeids[row]) === nodeid);
    if (exception !== undefined) return Number(exception);
    const wanted = new Set();
    this.cases.forEach(({ key, file }, place) => {
      if (nodeid.startsWith(wellFormed(`${this.meta.files[file]}::${key}[`))) wanted.add(place);
    });
    return this.caseOf.findIndex((place, row) => wanted.has(place) && wellFormed(this.nodeid(row)) === nodeid);
  }

  /** Rows of a case under all models, in the order of the run. */
  rowsOf(place) {
    this.byCase ??= this.#byCase();
    return this.byCase[place];
  }

  #byCase() {
    const lists = this.cases.map(() => []);
    for (let row = 0; row < this.count; row += 1) lists[this.caseOf[row]].push(row);
    return lists;
  }

  /** The row of another case of the same file under the same model, -1 for none. */
  siblingOf(row, key) {
    const { file } = this.cases[this.caseOf[row]];
    const place = this.cases.findIndex((line) => line.key === key && line.file === file);
    return this.caseOf.findIndex((number, other) => number === place && this.modelOf[other] === this.modelOf[row]);
  }

  verdict(row) {
    return this.meta.verdicts[this.verdictOf[row]];
  }
}

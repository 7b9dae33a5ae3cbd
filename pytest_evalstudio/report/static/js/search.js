// Words among keys, questions and all texts that the page has. Texts are unpacked block by block; nothing waits for them.

class Search {
  constructor(run) {
    this.run = run;
    this.turn = 0;
  }

  /** Rows with the words, as marks by row; null where there is nothing to look for.
   *
   * `progress` is called with the marks so far and the share of texts that were looked through, 0 to 1. A later
   * search ends an earlier one.
   */
  async find(words, progress) {
    this.turn += 1;
    const { turn, run } = this;
    const wanted = words.trim().toLowerCase();
    if (!wanted) return null;
    const marks = new Uint8Array(run.count);
    await this.#names(wanted, marks);
    const blocks = this.#blocks();
    let done = 0;
    for (const number of blocks.keys()) {
      if (turn !== this.turn) return marks;
      if (done % 4 === 0) progress(marks, done / blocks.size);
      await this.#texts(number, blocks.get(number), wanted, marks);
      await breathe();
      done += 1;
    }
    if (turn === this.turn) progress(marks, 1);
    return marks;
  }

  async #names(wanted, marks) {
    const { run } = this;
    const pace = new Pace();
    const hit = new Uint8Array(run.cases.length);
    for (let place = 0; place < run.cases.length; place += 1) {
      const { key, question } = run.cases[place];
      hit[place] = Number(`${key}\n${question}`.toLowerCase().includes(wanted));
      if (place % 500 === 0) await pace.step();
    }
    for (let row = 0; row < run.count; row += 1) marks[row] = hit[run.caseOf[row]];
  }

  /** Block numbers, with the row of each of their entries. */
  #blocks() {
    if (this.found) return this.found;
    const { run } = this;
    const blocks = new Map();
    for (let row = 0; row < run.count; row += 1) {
      for (const place of [run.textOf[row], run.contextOf[row]]) {
        if (place === NOWHERE) continue;
        const number = Math.floor(place / ENTRIES);
        if (!blocks.has(number)) blocks.set(number, []);
        blocks.get(number)[place % ENTRIES] = row;
      }
    }
    this.found = blocks;
    return blocks;
  }

  async #texts(number, rows, wanted, marks) {
    const text = await unpackedText(`texts-${number}`);
    if (text === null) return;
    const written = JSON.stringify(wanted).slice(1, -1);
    if (!text.toLowerCase().includes(written)) return;
    JSON.parse(text).forEach((entry, place) => {
      if (rows[place] !== undefined && !marks[rows[place]] && holds(entry, wanted)) marks[rows[place]] = 1;
    });
  }
}

const NOT_SEARCHED = new Set(["fragments", "usage", "categories"]);

/** Whether any text within a value has the words. */
function holds(value, wanted) {
  if (typeof value === "string") return value.toLowerCase().includes(wanted);
  if (value === null || typeof value !== "object") return false;
  return Object.entries(value).some(([name, part]) => !NOT_SEARCHED.has(name) && holds(part, wanted));
}

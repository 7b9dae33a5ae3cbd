// The rows in view as a file.

function csvCell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Rows of the run as plain objects: question, expectation, answer, verdict, reason, tags, primary scores. */
async function exported(run, opinions, rows) {
  const lines = [];
  for (const row of rows) {
    const line = run.cases[run.caseOf[row]];
    const texts = await run.texts(row);
    const scores = run.evaluators.map((evaluator, place) => {
      const score = opinions[place].scores[primaryPlace(evaluator)][row];
      return [evaluator.id, Number.isNaN(score) ? null : Number(score.toPrecision(7))];
    });
    lines.push({
      file: run.meta.files[line.file],
      key: line.key,
      model: run.models[run.modelOf[row]].name,
      verdict: run.verdict(row),
      question: wholeOf(texts?.input) ?? line.question,
      expected: wholeOf(texts?.expected_output) ?? null,
      condition: wholeOf(texts?.output_condition) ?? null,
      answer: wholeOf(texts?.answers[0].text) ?? null,
      reason: wholeOf(texts?.reason) ?? null,
      tags: (texts?.categories ?? []).join(", "),
      ...Object.fromEntries(scores),
    });
  }
  return lines;
}

/** A text; of one that the page has cut, its beginning with a mark. */
function wholeOf(text) {
  if (text === undefined || text === null) return undefined;
  const [beginning, leftOut] = parted(text);
  return leftOut ? `${beginning} … (${many(leftOut, "more character")})` : beginning;
}

const MARKDOWN_NAMES = { expected: "Expected", condition: "Condition", answer: "Answer", reason: "Reason", tags: "Tags" };

/** Lines as Markdown that an issue or a chat shows as it is. */
function asMarkdown(lines) {
  return lines
    .map((line) => {
      const parts = Object.entries(MARKDOWN_NAMES).filter(([name]) => line[name]);
      return [`## ${line.verdict}: ${inLine(line.key)} of ${inLine(line.model)}`, fenced(line.question), ...parts.flatMap(([name, title]) => [`**${title}**`, fenced(line[name])])].join("\n\n");
    })
    .join("\n\n");
}

function inLine(text) {
  return String(text).replace(/[\\`*_[\]<>#|~]/g, "\\$&").replace(/\s+/g, " ");
}

/** A text in a fence longer than any within it. */
function fenced(text) {
  const longest = Math.max(2, ...[...String(text).matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** A case as Markdown: question, context, answer, calls, reason and command. */
function caseMarkdown(run, row, texts) {
  const line = run.cases[run.caseOf[row]];
  const answer = texts.answers[0];
  const calls = (answer.calls ?? []).map((call) => `${parted(call.name)[0]}(${callArguments(call)})`);
  const command = pytestCommand(run.nodeid(row));
  const parts = [
    ["Question", wholeOf(texts.input)],
    ["Expected", wholeOf(texts.expected_output)],
    ["Condition", wholeOf(texts.output_condition)],
    ["Expected facts", (texts.expected_facts ?? []).map(wholeOf).join("\n")],
    ["Guidelines", (texts.guidelines ?? []).map(wholeOf).join("\n")],
    ["Context", (answer.context?.chunks ?? []).map((chunk, place) => `${place + 1}. ${answer.context.sources[place] ?? ""}\n${wholeOf(chunk)}`).join("\n\n")],
    ...(answer.turns ?? []).map((turn, place) => [`Turn ${place + 1}`, `${wholeOf(turn.prompt)}\n→ ${wholeOf(turn.text) ?? ""}`]),
    ["Calls", calls.join("\n")],
    ["Answer", wholeOf(answer.text) || (answer.error ? `Error: ${wholeOf(answer.error)}` : "")],
    ["Reason", wholeOf(texts.reason)],
    ["Run again", command],
  ];
  const head = `### ${run.verdict(row)}: ${inLine(line.key)} of ${inLine(run.models[run.modelOf[row]].name)}`;
  return [head, ...parts.filter(([, text]) => text).flatMap(([title, text]) => [`**${title}**`, fenced(text)])].join("\n\n");
}

function callArguments(call) {
  const given = argumentsOf(call);
  return isText(given) ? parted(given)[0] : given.map(([name, value]) => (value === undefined ? "…" : `${parted(name)[0]}=${parted(value)[0]}`)).join(", ");
}

function asCsv(lines) {
  const names = Object.keys(lines[0] ?? {});
  return [names, ...lines.map((line) => names.map((name) => line[name]))].map((cells) => cells.map(csvCell).join(",")).join("\r\n");
}

function download(name, type, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The rows in view as a file.

function csvCell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Rows of the run as plain objects: case, model, verdict, and the primary score of each evaluator. */
function exported(run, opinions, rows) {
  return rows.map((row) => {
    const line = run.cases[run.caseOf[row]];
    const scores = run.evaluators.map((evaluator, place) => {
      const score = opinions[place].scores[primaryPlace(evaluator)][row];
      return [evaluator.id, Number.isNaN(score) ? null : Number(score.toPrecision(7))];
    });
    return {
      file: run.meta.files[line.file],
      key: line.key,
      question: line.question,
      model: run.models[run.modelOf[row]].name,
      verdict: run.verdict(row),
      ...Object.fromEntries(scores),
    };
  });
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

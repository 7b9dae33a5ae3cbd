// The difference of two texts word by word, and the passages of a context that an answer repeats.

const ALIGNED_WORDS = 120; // as worddiff.py has it, like all rules below
const PASSAGE_WORDS = 4;
const TOKENS = /\s+|\p{Nd}+(?:[.,]\p{Nd}+)+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;

/** Both texts as stretches [text, changed]; long texts are compared without the order of their words. */
function changedWords(base, other) {
  const [first, second] = [tokensOf(base), tokensOf(other)];
  const aligned = Math.max(first.words.length, second.words.length) <= ALIGNED_WORDS;
  const [gone, added] = aligned ? alignedMarks(first.words, second.words) : looseMarks(first.words, second.words);
  return [stretchesOf(first, gone), stretchesOf(second, added)];
}

function tokensOf(text) {
  const all = text.match(TOKENS) ?? [];
  const places = [];
  all.forEach((token, place) => {
    if (token.trim()) places.push(place);
  });
  return { all, places, words: places.map((place) => all[place].toLowerCase()) };
}

/** Longest common subsequence; at most ALIGNED_WORDS on each side. */
function alignedMarks(words, others) {
  const wide = others.length + 1;
  const lengths = new Uint16Array((words.length + 1) * wide);
  for (let i = words.length - 1; i >= 0; i -= 1) {
    for (let j = others.length - 1; j >= 0; j -= 1) {
      lengths[i * wide + j] =
        words[i] === others[j]
          ? lengths[(i + 1) * wide + j + 1] + 1
          : Math.max(lengths[(i + 1) * wide + j], lengths[i * wide + j + 1]);
    }
  }
  const gone = new Set(words.keys());
  const added = new Set(others.keys());
  for (let i = 0, j = 0; i < words.length && j < others.length; ) {
    if (words[i] === others[j]) {
      gone.delete(i);
      added.delete(j);
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * wide + j] >= lengths[i * wide + j + 1]) i += 1;
    else j += 1;
  }
  return [gone, added];
}

function looseMarks(words, others) {
  return [missingFrom(words, others), missingFrom(others, words)];
}

function missingFrom(words, others) {
  const left = new Map();
  for (const word of others) left.set(word, (left.get(word) ?? 0) + 1);
  const missing = new Set();
  words.forEach((word, place) => {
    const count = left.get(word) ?? 0;
    if (count) left.set(word, count - 1);
    else missing.add(place);
  });
  return missing;
}

function stretchesOf({ all, places }, marks) {
  const marked = new Set([...marks].map((place) => places[place]));
  const parts = [];
  all.forEach((token, place) => {
    const changed = marked.has(place) || (!token.trim() && marked.has(place - 1) && marked.has(place + 1));
    if (parts.length && parts.at(-1)[1] === changed) parts.at(-1)[0] += token;
    else parts.push([token, changed]);
  });
  return parts;
}

/** Stretches as nodes; `tag` is del for words that are missing elsewhere, ins for words that are new. */
function stretchNodes(stretches, tag) {
  return stretches.map(([text, changed]) => (changed ? el(tag, {}, text) : text));
}

/** A text as stretches [text, used]: used are passages of some words that the answer repeats. */
function usedPassages(text, answer) {
  const grams = new Set();
  const spoken = (answer.toLowerCase().match(TOKENS) ?? []).filter((token) => token.trim());
  for (let i = 0; i + PASSAGE_WORDS <= spoken.length; i += 1) grams.add(spoken.slice(i, i + PASSAGE_WORDS).join("\u0000"));
  const tokens = tokensOf(text);
  const { words } = tokens;
  const used = new Set();
  for (let i = 0; i + PASSAGE_WORDS <= words.length; i += 1) {
    if (!grams.has(words.slice(i, i + PASSAGE_WORDS).join("\u0000"))) continue;
    for (let j = i; j < i + PASSAGE_WORDS; j += 1) used.add(j);
  }
  return stretchesOf(tokens, used);
}

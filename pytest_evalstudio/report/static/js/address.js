// The part of the address after "#": #case=NODEID, #eye=DOMAIN/EVALUATOR/METRIC/MODEL, #cases?FILTERS.

const address = {
  /** What the address asks for: { kind: "case" | "eye" | "cases", … }, or null for an ordinary anchor. */
  read() {
    const text = location.hash.slice(1);
    try {
      if (text.startsWith("case=")) return { kind: "case", nodeid: decodeURIComponent(text.slice(5)) };
      if (text.startsWith("eye=")) return { kind: "eye", path: text.slice(4).split("/").filter(Boolean).map(decodeURIComponent) };
      if (text.startsWith("cases?")) return { kind: "cases", filters: Object.fromEntries(new URLSearchParams(text.slice(6))) };
    } catch {
      return null;
    }
    return null;
  },

  ofCase(nodeid) {
    return `#case=${escaped(nodeid)}`;
  },

  ofEye(path) {
    return `#eye=${path.map(escaped).join("/")}`;
  },

  ofCases(filters) {
    const given = Object.entries(filters).filter(([, value]) => value);
    return given.length ? `#cases?${new URLSearchParams(given)}` : "#cases";
  },

  /** Shows where one is, without a jump and without an entry in the history. */
  show(hash) {
    try {
      history.replaceState(null, "", hash);
    } catch {
      // Some viewers of artifacts forbid it; the page works without.
    }
  },
};

/** As a part of an address; half a surrogate pair, which has no such form, becomes the replacement character. */
function escaped(text) {
  return encodeURIComponent(wellFormed(text));
}

function wellFormed(text) {
  return text.replace(/\p{Cs}/gu, "\ufffd");
}

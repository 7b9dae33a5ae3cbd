// Addresses: #TAB, #TAB?FILTERS, #case=NODEID, #eye=DOMAIN/EVALUATOR/METRIC/MODEL, or the id of an element.

const OLD_TABS = { cases: "matrix", eye: "explore" };

const address = {
  /** Parse a hash: { kind: "tab" | "case" | "eye" | "anchor", … }. */
  parse(hash) {
    const text = hash.replace(/^#/, "");
    try {
      if (text.startsWith("case=")) return { kind: "case", nodeid: decodeURIComponent(text.slice(5)) };
      if (text.startsWith("eye=")) return { kind: "eye", path: text.slice(4).split("/").filter(Boolean).map(decodeURIComponent) };
      const [name, query = ""] = text.split("?", 2);
      const tab = OLD_TABS[name] ?? name;
      if (!tab) return { kind: "tab", tab: "overview", filters: {} };
      if (document.querySelector(`[data-tab="${CSS.escape(tab)}"]`)) {
        return { kind: "tab", tab, filters: Object.fromEntries(new URLSearchParams(query)) };
      }
      return { kind: "anchor", id: decodeURIComponent(text) };
    } catch {
      return { kind: "tab", tab: text.startsWith("eye=") ? "explore" : "overview", filters: {} };
    }
  },

  ofCase(nodeid) {
    return `#case=${escaped(nodeid)}`;
  },

  ofEye(path) {
    return path.length ? `#eye=${path.map(escaped).join("/")}` : "#explore";
  },

  ofTab(tab, filters = {}) {
    const given = Object.entries(filters).filter(([, value]) => value);
    return given.length ? `#${tab}?${new URLSearchParams(given)}` : `#${tab}`;
  },
};

/** As a part of an address; half a surrogate pair, which has no such form, becomes the replacement character. */
function escaped(text) {
  return encodeURIComponent(wellFormed(text));
}

function wellFormed(text) {
  return text.replace(/\p{Cs}/gu, "\ufffd");
}

/** The history of the page: each place has an address, and Back returns to the place before. */
class Router {
  /** `follow` shows a parsed address. */
  constructor(follow) {
    this.follow = follow;
    this.here = location.hash;
    this.scrolls = new Map();
    document.addEventListener("click", (event) => this.#click(event));
    addEventListener("popstate", () => this.#arrive());
    addEventListener("hashchange", () => this.#arrive());
  }

  start() {
    this.follow(address.parse(this.here), { isFirst: true });
  }

  /** Go to an address; `replace` leaves no entry in the history. */
  go(hash, { replace = false, quiet = false } = {}) {
    if (hash === this.here) return;
    this.scrolls.set(this.here, scrollY);
    try {
      if (replace) history.replaceState(history.state, "", hash);
      else history.pushState({ inner: true }, "", hash);
    } catch {
      // Some viewers of artifacts forbid it; the page works without.
    }
    this.here = hash;
    if (!quiet) this.follow(address.parse(hash), {});
  }

  /** Go back to the place before, or to a fallback where the page was opened at this place. */
  back(fallback) {
    if (history.state?.inner) history.back();
    else this.go(fallback);
  }

  /** Follow a link within the page as `go` does, so that the place before it is known. */
  #click(event) {
    const link = event.target.closest?.("a[href^='#']");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const hash = link.getAttribute("href");
    if (address.parse(hash).kind === "anchor") return;
    event.preventDefault();
    this.go(hash);
  }

  #arrive() {
    if (location.hash === this.here) return;
    this.scrolls.set(this.here, scrollY);
    this.here = location.hash;
    this.follow(address.parse(this.here), { scroll: this.scrolls.get(this.here) });
  }
}

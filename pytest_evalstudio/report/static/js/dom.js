// Elements are built, never parsed: no text of a record can become markup.

const SVG = "http://www.w3.org/2000/svg";
const CALM_MS = 8;
// A browser shapes joined emoji as one glyph, in time that grows with the square of their number.
const JOINED = /((?:[^\u200d]{1,4}\u200d){16})/;

/** An element; children are nodes or texts, `on` maps events to listeners, null and false attributes are left out. */
function el(tag, attributes = {}, ...children) {
  return dressed(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
function svg(tag, attributes = {}, ...children) {
  return dressed(document.createElementNS(SVG, tag), attributes, children);
}

function dressed(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, String(value));
    }
  }
  const parts = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.append(...parts.flatMap(breakable));
  return element;
}

/** A text with a place to break it after each long run of joined emoji; anything else as it is. */
function breakable(part) {
  if (typeof part !== "string" || !JOINED.test(part)) return [part];
  return part.split(JOINED).flatMap((text) => (text ? [text, document.createElement("wbr")] : []));
}

/** A text of somebody's, kept from turning the direction of what stands around it. */
function said(text) {
  return el("bdi", {}, String(text));
}

/** Words for those who hear the page instead of seeing it. */
function aside(text) {
  return el("span", { class: "aside" }, text);
}

/** A choice among [value, label] pairs. */
function chooser(label, options, value, change) {
  const select = el(
    "select",
    { on: { change: () => change(select.value) } },
    options.map(([key, text]) => el("option", { value: key, selected: key === value }, text)),
  );
  select.value = value;
  return el("label", { class: "field" }, el("span", {}, label), select);
}

/** Tell those who hear the page. */
function announce(text) {
  document.getElementById("said").textContent = text;
}

/** Let the browser draw and listen before more work is done. */
function breathe() {
  return new Promise((resume) => setTimeout(resume));
}

/** Calls `breathe` when a few milliseconds have gone by since the last time. */
class Pace {
  constructor() {
    this.since = performance.now();
  }

  async step() {
    if (performance.now() - this.since < CALM_MS) return;
    await breathe();
    this.since = performance.now();
  }
}

/** A function that runs once things have been quiet for a while. */
function settled(run, quiet) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), quiet);
  };
}

const UUID_KEY = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A key; of a UUID the first 8 digits, with the whole key as its title. */
function shortKey(key) {
  return UUID_KEY.test(key) ? el("span", { title: key }, key.slice(0, 8)) : said(key);
}

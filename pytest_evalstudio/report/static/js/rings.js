// The eye's drawing: an inner ring, and an outer ring one level finer; what is wrong is grey with a red border and a count.

const EYE = { centre: 74, inner: [80, 184], outer: [190, 226], label: 234 };
const TURN = 2 * Math.PI;
const MOST_LABELS = 64;
const FEW_LABELS = 18;

/** The drawing of a level. `centre` is its middle: { title, note, act }. */
function rings(level, centre) {
  // Wider with more children, but not in proportion: a child with one of its own must still have room for its name.
  const weights = level.children.map(({ children }) => 1 + 0.35 * Math.max(0, children.length - 1));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const outer = level.children.reduce((sum, { children }) => sum + children.length, 0);
  const nodes = [];
  let start = 0;
  level.children.forEach((child, place) => {
    const end = start + (weights[place] / whole) * TURN;
    nodes.push(segment(child, EYE.inner, start, end, "inner"));
    child.children.forEach((grandchild, number) => {
      const width = (end - start) / child.children.length;
      nodes.push(segment(grandchild, EYE.outer, start + number * width, start + (number + 1) * width, "outer", outer));
    });
    start = end;
  });
  const drawing = svg(
    "svg",
    {
      class: "eye-rings",
      viewBox: outer > FEW_LABELS && outer <= MOST_LABELS ? "-352 -345 704 690" : "-352 -280 704 560",
      role: "group",
      "aria-label": `${level.title}. Arrow keys move, Enter opens, Escape goes back.`,
    },
    svg("g", { class: "segments", on: { keydown: (event) => roam(event, drawing) } }, nodes),
    middle(centre),
  );
  drawing.querySelector("[data-stop]")?.setAttribute("tabindex", "0");
  return drawing;
}

function middle({ title, note, act, hover }) {
  const words = act ? `${title}. Back to ${note}` : title;
  const parts = [svg("circle", { r: EYE.centre })];
  twoLines(title, 15).forEach((line, place, all) =>
    parts.push(
      svg(
        "text",
        { class: "centre-title", y: 18 * (place - (all.length - 1) / 2) + (act ? 0 : 5), "text-anchor": "middle" },
        line,
      ),
    ),
  );
  if (act) parts.push(svg("text", { class: "centre-note", y: 48, "text-anchor": "middle" }, `↩ ${shortened(note, 16)}`));
  const events = {
    mouseenter: () => hover(true),
    mouseleave: () => hover(false),
    focus: () => hover(true),
    blur: () => hover(false),
  };
  if (!act) return svg("g", { class: "centre", on: events }, svg("title", {}, words), parts);
  const press = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  };
  return svg(
    "g",
    { class: "centre back", role: "button", tabindex: "0", on: { ...events, click: act, keydown: press } },
    svg("title", {}, words),
    svg("g", { "aria-hidden": "true" }, parts),
  );
}

function segment(child, [near, far], start, end, ring, among = 0) {
  const middleAngle = (start + end) / 2;
  const wrong = child.count > 0 || child.missed;
  const level = wrong ? `problem ${child.worst}` : "fine";
  const parts = [svg("path", { class: "body", d: sector(near, far, start, end) })];
  if (child.fill !== undefined) {
    parts.push(svg("path", { class: "fill", d: sector(near, near + child.fill * (far - near), start, end) }));
  }
  parts.push(
    ring === "inner" ? innerLabel(child, near, far, start, end) : among <= MOST_LABELS && outerLabel(child, middleAngle, among),
  );
  const radius = ring === "inner" ? near + 15 : (near + far) / 2;
  if (wrong && (end - start) * radius > 11) parts.push(badge(child, radius, middleAngle, (end - start) * radius < 23));
  return stop(spoken(child), child.act, ...[svg("g", { class: `segment ${ring} ${level}` }, parts.flat().filter(Boolean))]);
}

/** A child in words. */
function spoken(child) {
  const value = child.value ? ` ${child.value}` : "";
  const label = child.name ? `${child.name} ${child.label}` : child.label;
  if (child.count > 0) return `${label}${value}: ${many(child.count, "problem")}, the worst ${child.worst}`;
  return `${label}${value}: ${child.missed ? "misses its threshold" : "fine"}`;
}

function badge(child, radius, angle, narrow) {
  const [x, y] = at(radius, angle);
  const count = child.count > 99 ? "99+" : child.count || "!";
  return svg(
    "g",
    { class: `badge ${child.worst}` },
    narrow ? null : svg("circle", { cx: x, cy: y, r: 10.5 }),
    svg("text", { class: narrow || child.count > 99 ? "narrow" : "", x, y: y + 4, "text-anchor": "middle" }, count),
  );
}

function innerLabel(child, near, far, start, end) {
  const angle = (start + end) / 2;
  const wide = end - start > 0.95;
  const radius = wide ? (near + far) / 2 + 15 : far - 8;
  const room = (end - start) * ((near + far) / 2);
  if (room < 13) return null;
  const [x, y] = at(radius, angle);
  if (wide) {
    const texts = [...twoLines(child.label, 12), ...(child.value ? [child.value] : [])];
    return texts.map((line, place) =>
      svg("text", { class: "label", x, y: y + 15 * (place - (texts.length - 1) / 2) + 4, "text-anchor": "middle" }, line),
    );
  }
  const texts =
    child.value && room > 30
      ? [shortened(child.label, 9), child.value]
      : room > 30
        ? twoLines(child.label, 9)
        : [shortened(child.label, 9)];
  const left = angle > Math.PI;
  const degrees = (angle * 180) / Math.PI - 90 + (left ? 180 : 0);
  return svg(
    "g",
    { transform: `translate(${x} ${y}) rotate(${degrees.toFixed(2)})` },
    texts.map((line, place) =>
      svg(
        "text",
        { class: "label small", y: 13 * (place - (texts.length - 1) / 2) + 4, "text-anchor": left ? "start" : "end" },
        line,
      ),
    ),
  );
}

function outerLabel(child, angle, among) {
  const [x, y] = at(EYE.label, angle);
  const left = angle > Math.PI;
  if (among <= FEW_LABELS) {
    const upright = Math.abs(x) < 40;
    const texts = upright ? [shortened(child.label, 26)] : twoLines(child.label, 15);
    const drop = 4 + (7 * y) / EYE.label + 7.5 * (texts.length - 1) * (y / EYE.label - 1);
    return texts.map((line, place) =>
      svg(
        "text",
        { class: "label outside", x, y: y + drop + 15 * place, "text-anchor": upright ? "middle" : left ? "end" : "start" },
        line,
      ),
    );
  }
  const degrees = (angle * 180) / Math.PI - 90 + (left ? 180 : 0);
  return svg(
    "text",
    {
      class: "label outside small",
      transform: `translate(${x} ${y}) rotate(${degrees.toFixed(2)})`,
      y: 4,
      "text-anchor": left ? "end" : "start",
    },
    shortened(child.label, 15),
  );
}

/** A text in at most two lines, cut after a space or hyphen. */
function twoLines(text, chars) {
  if (text.length <= chars) return [text];
  const cut = Math.max(text.lastIndexOf(" ", chars), text.lastIndexOf("-", chars - 1), text.lastIndexOf("_", chars - 1)) + 1;
  if (cut <= 1) return [shortened(text, chars)];
  return [text.slice(0, cut).trimEnd(), shortened(text.slice(cut), chars)];
}

/** The point at a radius and an angle, clockwise from the top. */
function at(radius, angle) {
  return [Number((radius * Math.sin(angle)).toFixed(2)), Number((-radius * Math.cos(angle)).toFixed(2))];
}

function sector(near, far, start, end) {
  const space = Math.min(0.008, (end - start) / 8);
  const whole = end - start > TURN - 0.001;
  const [a, b] = whole ? [start, end - 0.0001] : [start + space, end - space];
  const large = b - a > Math.PI ? 1 : 0;
  const [p, q, r, s] = [at(far, a), at(far, b), at(near, b), at(near, a)];
  return `M${p}A${far} ${far} 0 ${large} 1 ${q}L${r}A${near} ${near} 0 ${large} 0 ${s}Z`;
}

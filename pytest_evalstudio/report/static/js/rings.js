// The eye's drawing: an inner ring, and an outer ring one level finer; what misses its threshold has a red border and a count.

const EYE = { centre: 74, inner: [80, 184], outer: [190, 226], label: 234 };
const TURN = 2 * Math.PI;
const MOST_LABELS = 40;
const BESIDE_PX = 34;
const LINE_PX = 15;
const OUTER_CHARS = 20;
const LABEL_PX = 14;
let pen;

/** The drawing of a level. `centre` is its middle: { title, note, act, hover }; a compact one has no outer labels. */
function rings(level, centre, compact = false) {
  // Wider with more children, but not in proportion: a child with one of its own must still have room for its name.
  const weights = level.children.map(({ children }) => 1 + 0.35 * Math.max(0, children.length - 1));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const nodes = [];
  const labels = [];
  let start = 0;
  level.children.forEach((child, place) => {
    const end = start + (weights[place] / whole) * TURN;
    nodes.push(segment(child, EYE.inner, start, end, "inner"));
    child.children.forEach((grandchild, number) => {
      const width = (end - start) / child.children.length;
      const from = start + number * width;
      nodes.push(segment(grandchild, EYE.outer, from, from + width, "outer"));
      labels.push({ text: grandchild.label, state: grandchild.state, angle: from + width / 2 });
    });
    start = end;
  });
  const drawing = svg(
    "svg",
    {
      class: compact ? "eye-rings compact" : "eye-rings",
      viewBox: compact ? "-232 -232 464 464" : "-400 -262 800 524",
      role: "group",
      "aria-label": `${level.title}. Arrow keys move, Enter opens${compact ? "" : ", Escape goes back"}.`,
    },
    svg("g", { class: "segments", on: { keydown: (event) => roam(event, drawing) } }, nodes),
    compact || labels.length > MOST_LABELS ? null : svg("g", { class: "outer-labels", "aria-hidden": "true" }, outerLabels(labels)),
    middle(centre),
  );
  drawing.querySelector("[data-stop]")?.setAttribute("tabindex", "0");
  return drawing;
}

function middle({ title, note, act, hover }) {
  const words = act ? `${title}. Back to ${note}` : title;
  const parts = [svg("circle", { r: EYE.centre })];
  wrapped(title, 13, 3).forEach((line, place, all) =>
    parts.push(
      svg(
        "text",
        { class: "centre-title", y: 18 * (place - (all.length - 1) / 2) + (act ? 0 : 5), "text-anchor": "middle" },
        line,
      ),
    ),
  );
  if (act) parts.push(svg("text", { class: "centre-note", y: 48, "text-anchor": "middle" }, `↩ ${middleCut(note, 16)}`));
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

function segment(child, [near, far], start, end, ring) {
  const parts = [svg("path", { class: "body", d: sector(near, far, start, end) })];
  if (child.fill !== undefined) {
    parts.push(svg("path", { class: "fill", d: sector(near, near + child.fill * (far - near), start, end) }));
  }
  if (ring === "inner") parts.push(innerLabel(child, near, far, start, end));
  const [radius, angle] = badgePlace(ring, near, far, start, end);
  if ((child.state === "misses" || child.state === "partial") && (end - start) * radius > 11) parts.push(badge(child, radius, angle, (end - start) * radius < 23));
  return stop(spoken(child), child.act, svg("g", { class: `segment ${ring} ${child.state}` }, parts.flat().filter(Boolean)));
}

/** Radius and angle of a badge: beside the middle of an inner segment where its name is, which lies across at the sides. */
function badgePlace(ring, near, far, start, end) {
  const middle = (start + end) / 2;
  if (ring !== "inner") return [(near + far) / 2, middle];
  const sideways = 1 - Math.abs(Math.cos(middle));
  const radius = near + 15 + sideways * 18;
  const down = Math.sign(Math.sin(middle));
  return [radius, middle + down * Math.min((sideways * BESIDE_PX) / radius, (end - start) / 3)];
}

/** A child in words. */
function spoken(child) {
  const value = child.value ? ` ${child.value}` : "";
  const label = child.name ? `${child.name} ${child.label}` : (child.full ?? child.label);
  return `${label}${value}: ${stateWords(child).replace(/^[✓✗] /, "")}`;
}

function badge(child, radius, angle, narrow) {
  const [x, y] = at(radius, angle);
  const isShare = child.state === "partial";
  const count = isShare ? shareText(child.failing / child.answers) : child.count > 99 ? "99+" : child.count;
  return svg(
    "g",
    { class: "badge" },
    narrow ? null : svg("circle", { cx: x, cy: y, r: isShare ? 13 : 10.5 }),
    svg("text", { class: narrow || isShare || child.count > 99 ? "narrow" : "", x, y: y + 4, "text-anchor": "middle" }, count),
  );
}

/** The name of a segment, upright, in as many lines as there is room for; nothing in a narrow one. */
function innerLabel(child, near, far, start, end) {
  const angle = (start + end) / 2;
  const across = Math.abs(Math.cos(angle));
  const radius = (near + far) / 2 + 8 * across; // at the sides a name has the depth of the ring alone
  const arc = (end - start) * radius;
  const [wide, tall] = [arc * across + (far - near) * (1 - across), arc * (1 - across) + (far - near) * across];
  const chars = Math.floor(Math.min(far - near, wide) / 7);
  const most = Math.min(3, Math.floor(tall / LINE_PX));
  if (chars < 4 || most < 1 || arc < 20) return null;
  const lines = [...wrapped(child.label, chars, child.value && most > 1 ? most - 1 : most), ...(child.value && most > 1 ? [child.value] : [])];
  const [x, y] = at(radius, angle);
  const room = Math.min(far - near, wide) - 6;
  return lines.map((line, place) => {
    const lineY = y + LINE_PX * (place - (lines.length - 1) / 2) + 4;
    return svg("text", { class: "label", x, y: lineY, "text-anchor": "middle", ...squeezed(line, room) }, line);
  });
}

/** The attributes that fit a line into the room for it, none where it is not wider. */
function squeezed(line, room) {
  pen ??= document.createElement("canvas").getContext("2d");
  pen.font = `600 ${LABEL_PX}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(line).width > room ? { textLength: room, lengthAdjust: "spacingAndGlyphs" } : {};
}

/** Labels beside the ring, upright, moved apart where they would meet. */
function outerLabels(labels) {
  return [false, true].flatMap((left) => {
    const side = labels
      .filter(({ angle }) => angle > Math.PI === left)
      .map((label) => ({ ...label, y: at(EYE.label, label.angle)[1] }))
      .sort((a, b) => a.y - b.y);
    for (let i = 1; i < side.length; i += 1) side[i].y = Math.max(side[i].y, side[i - 1].y + LINE_PX);
    const over = Math.max(0, (side.at(-1)?.y ?? 0) - 250);
    for (let i = side.length - 1; i >= 0; i -= 1) {
      side[i].y = Math.min(side[i].y, 250 - (side.length - 1 - i) * LINE_PX, side[i].y - (i === side.length - 1 ? over : 0));
    }
    return side.map(({ text, state, y, angle }) => {
      const x = Math.max(Math.abs(at(EYE.label, angle)[0]), Math.sqrt(Math.max(0, EYE.label ** 2 - y ** 2)), 12) * (left ? -1 : 1);
      return svg(
        "text",
        { class: `outside ${state}`, x, y: y + 4, "text-anchor": left ? "end" : "start" },
        `${middleCut(text, OUTER_CHARS)}${state === "misses" ? " ✗" : ""}`,
      );
    });
  });
}

/** A text in some lines, cut at words; what does not fit is cut in the middle. */
function wrapped(text, chars, lines) {
  const parts = [];
  let left = text;
  while (left && parts.length < lines - 1 && left.length > chars) {
    const cut = Math.max(left.lastIndexOf(" ", chars), left.lastIndexOf("-", chars - 1), left.lastIndexOf("_", chars - 1)) + 1;
    if (cut <= 1) break;
    parts.push(left.slice(0, cut).trimEnd());
    left = left.slice(cut);
  }
  return [...parts, middleCut(left, chars)];
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

// Numbers for people, and where they lie on a metric's scale.

/** Four significant digits, and commas between thousands, as in the tables. */
function shown(value) {
  if (value === null || value === undefined || Number.isNaN(Number(value))) return "–";
  const number = Number(value);
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (Math.abs(number) >= 1000) return counted(Math.round(number)).replace("-", "−");
  return String(Number(number.toPrecision(4))).replace("-", "−");
}

/** A count with commas between thousands. */
function counted(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A share as a whole percentage; only all is 100, only none is 0. */
function shareText(share) {
  const percent = Math.round(100 * share);
  return `${share <= 0 ? 0 : share >= 1 ? 100 : Math.min(99, Math.max(1, percent))}\u202f%`;
}

/** A count with its noun. */
function many(count, one, more = `${one}s`) {
  return `${counted(count)} ${count === 1 ? one : more}`;
}

/** Whether a score meets the metric's threshold; scores come as 32-bit floats. */
function meets(metric, score) {
  const limit = Math.fround(Number(metric.threshold));
  return metric.better === "higher" ? Math.fround(score) >= limit : Math.fround(score) <= limit;
}

function limited(metric) {
  return metric.judged && Number.isFinite(Number(metric.threshold));
}

/** Two decimals, or three digits. */
function shownShort(value) {
  const number = Number(value);
  if (!Number.isFinite(number)) return shown(number);
  return Math.abs(number) < 10 ? String(Number(number.toFixed(2))).replace("-", "−") : String(Number(number.toPrecision(3)));
}

/** Distance of a value to the threshold: -1 for the worst one, 0 at the threshold, 1 for the best one.
 *
 * A function of the value; null for a metric without a threshold.
 */
function distanceOf(metric) {
  if (!limited(metric)) return null;
  const threshold = Number(metric.threshold);
  const higher = metric.better === "higher";
  const [low, high] = metric.range.map(Number);
  const wayTo = (end) => (Number.isFinite(end) ? Math.abs(end - threshold) : Math.abs(threshold));
  const [above, below] = [wayTo(higher ? high : low), wayTo(higher ? low : high)];
  return (value) => {
    const gap = higher ? value - threshold : threshold - value;
    const way = gap >= 0 ? above : below;
    if (!way) return gap >= 0 ? 1 : -1;
    return Math.max(-1, Math.min(1, gap / way));
  };
}

/** A step of the scale of colours, 0 to 6; 3 for a score without a threshold. */
function heatStep(metric, value) {
  const measure = distanceOf(metric);
  if (!measure || value === null || !Number.isFinite(Number(value))) return 3;
  const share = measure(Number(value));
  const depth = Math.max(1, Math.ceil(3 * Math.abs(share)));
  return meets(metric, value) ? 3 + depth : 3 - depth;
}

/** The place of an evaluator's primary metric. */
function primaryPlace(evaluator) {
  return Math.max(
    0,
    evaluator.metrics.findIndex(({ primary }) => primary),
  );
}

/** From 0, the metric's worst value, to 1, its best; null where its range has no such ends. */
function goodness(metric, value) {
  const [low, high] = metric.range.map(Number);
  const best = metric.better === "higher" ? high : low;
  let worst = metric.better === "higher" ? low : high;
  if (!Number.isFinite(worst)) worst = 2 * Number(metric.threshold) - best;
  if (value === null || !Number.isFinite(Number(value)) || !Number.isFinite(best) || !Number.isFinite(worst) || best === worst)
    return null;
  return Math.min(1, Math.max(0, (value - worst) / (best - worst)));
}

/** The ends of an axis for a metric's scores: its range where it has ends, else those of the scores. */
function extent(metric, values) {
  let [low, high] = metric.range.map(Number);
  const finite = values.filter(Number.isFinite);
  if (limited(metric)) finite.push(Number(metric.threshold));
  if (!Number.isFinite(low)) low = finite.reduce((least, value) => Math.min(least, value), finite.length ? finite[0] : 0);
  if (!Number.isFinite(high)) high = finite.reduce((most, value) => Math.max(most, value), low);
  return high > low ? [low, high] : [low, low + 1];
}

function ruled(metric) {
  return limited(metric) ? `${metric.better === "higher" ? "≥" : "≤"} ${shown(metric.threshold)}` : "no threshold";
}

// Small charts as SVG, each as wide as it is told, and with a text for those who do not see it.

import {s, duration, printable, clock} from './dom.js';

function frame(width, height, label, ...children) {
  return s('svg', {width, height, class: 'chart', role: 'img', 'aria-label': label}, ...children);
}

function text(x, y, content, anchor = 'start') {
  return s('text', {x, y, 'text-anchor': anchor}, content);
}

// A line over time. `points` are [time in ms, value].
export function lineChart(points, {label, width, unit = '', step = false}) {
  const height = 120;
  if (points.length < 2) return frame(width, height, `${label}: not enough data yet`, text(width / 2, height / 2, 'not enough data yet', 'middle'));
  const from = points[0][0];
  const to = points[points.length - 1][0];
  const most = Math.max(1, ...points.map(([, value]) => value));
  const x = (time) => 4 + ((time - from) / Math.max(1, to - from)) * (width - 8);
  const y = (value) => height - 20 - (value / most) * (height - 38);
  let path = '';
  points.forEach(([time, value], i) => {
    if (i === 0) path = `M${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
    else path += (step ? ` H${x(time).toFixed(1)} V` : ` L${x(time).toFixed(1)} `) + y(value).toFixed(1);
  });
  const last = points[points.length - 1][1];
  return frame(width, height, `${label}: ${last}${unit} now, at most ${most}${unit}, since ${clock(from)}`,
    s('path', {d: `${path} V${height - 20} H${x(from)} Z`, class: 'area'}), s('path', {d: path, class: 'line'}),
    s('line', {x1: 4, x2: width - 4, y1: height - 20, y2: height - 20, class: 'axis'}),
    text(4, height - 5, clock(from)), text(width - 4, height - 5, clock(to), 'end'), text(4, 12, `${most}${unit}`));
}

// How many of some durations (ms) fall into which range: each bar is twice the one before.
export function histogram(values, {label, width}) {
  const height = 130;
  if (values.length === 0) return frame(width, height, `${label}: none yet`, text(width / 2, height / 2, 'none yet', 'middle'));
  const bounds = [10, 30, 100, 300, 1000, 3000, 10000, 30000, 60000, 300000, 1800000, Infinity];
  const counts = bounds.map((bound, i) => values.filter((value) => value <= bound && value > (i ? bounds[i - 1] : -1)).length);
  const most = Math.max(...counts);
  const wide = (width - 8) / bounds.length;
  const bars = counts.map((count, i) => {
    const tall = (count / most) * (height - 48);
    const range = bounds[i] === Infinity ? `> ${duration(bounds[i - 1])}` : `≤ ${duration(bounds[i])}`;
    return s('g', {}, s('rect', {x: 4 + i * wide + 3, y: height - 24 - tall, width: wide - 6, height: tall, class: 'bar-of', rx: 2}, s('title', {}, `${range}: ${count}`)),
      count ? text(4 + (i + 0.5) * wide, height - 28 - tall, count, 'middle') : null, width > 640 || i % 2 ? text(4 + (i + 0.5) * wide, height - 8, range, 'middle') : null);
  });
  const sorted = [...values].sort((a, b) => a - b);
  return frame(width, height, `${label}: ${values.length}, median ${duration(sorted[Math.floor(sorted.length / 2)])}, longest ${duration(sorted[sorted.length - 1])}`, ...bars);
}

// Who held a name when: a bar for each hold, [{owner, from, until, end, token}], times in ms.
export function timeline(holds, now, width) {
  const height = 74;
  if (holds.length === 0) return frame(width, height, 'No holds were seen yet', text(width / 2, height / 2, 'no holds were seen yet', 'middle'));
  const from = Math.max(Math.min(...holds.map((hold) => hold.from)), now - 3600000);
  const x = (time) => 4 + ((Math.max(time, from) - from) / Math.max(1, now - from)) * (width - 8);
  const owners = [...new Set(holds.map((hold) => hold.owner))];
  const bars = holds.filter((hold) => hold.until >= from).map((hold) => {
    const left = x(hold.from);
    const wide = Math.max(1.5, x(hold.until) - left);
    const shade = `owner-${owners.indexOf(hold.owner) % 6}`;
    const title = `${printable(hold.owner)}: ${clock(hold.from)}, ${duration(hold.until - hold.from)}, ${hold.end} (token ${hold.token})`;
    return s('g', {}, s('rect', {x: left, y: 14, width: wide, height: 34, class: `hold ${shade} ${hold.end}`, rx: 1.5}, s('title', {}, title)),
      hold.end === 'expired' || hold.end === 'stolen' ? s('path', {d: `M${left + wide - 4} 6 h8 l-4 7 Z`, class: `sign ${hold.end}`}) : null);
  });
  return frame(width, height, `Timeline of ${holds.length} holds since ${clock(from)}; the table below has them all`, ...bars,
    s('line', {x1: 4, x2: width - 4, y1: 54, y2: 54, class: 'axis'}), text(4, 69, clock(from)), text(width - 4, 69, 'now', 'end'));
}

// How many waited at each time of the last hour, out of [{from, until}] in ms.
export function contention(waits, now, width) {
  const from = now - 3600000;
  const changes = waits.flatMap((wait) => (wait.until < from ? [] : [[Math.max(wait.from, from), 1], [wait.until, -1]])).sort((a, b) => a[0] - b[0]);
  let level = 0;
  const points = [[from, 0], ...changes.map(([time, change]) => [time, (level += change)]), [now, 0]];
  points[points.length - 1][1] = waits.filter((wait) => wait.until >= now).length;
  return lineChart(points, {label: 'Waiters over the last hour', width, step: true});
}

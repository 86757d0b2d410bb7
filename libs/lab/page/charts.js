// Draws a comparison as `reprise lab run --json` prints it: showReport(data). Text from scenarios is only ever set as text.
let model, strategies, services, step, specs = [], charts = [];
// Solid lines are strategies and dashed lines are limits. Earlier strategies are drawn wider and below later ones,
// and markers are staggered, so that equal curves stay visible without colours, too.
const marks = ["circle", "triangle", "rect", "rectRot", "cross", "star", "crossRot", "circle"];
// One or two strategies: the first is the one that is looked at.
const color = i => `--c${strategies.length <= 2 ? [3, 0][i] : i % 8}`;
const width = i => Math.max(2, 4.75 - i * 2.75 / Math.max(1, strategies.length - 1));

function swatch(i) {
  const shapes = {
    circle: '<circle cx="15" cy="6" r="4"/>', triangle: '<path d="M15 1.5l5 9h-10z"/>', rect: '<path d="M11 2h8v8h-8z"/>',
    rectRot: '<path d="M15 .5l5 5.5-5 5.5-5-5.5z"/>', cross: '<path d="M15 1v10M10 6h10" fill="none"/>',
    star: '<path d="M15 1v10M10 6h10M11.5 2.5l7 7M18.5 2.5l-7 7" fill="none"/>',
    crossRot: '<path d="M11.5 2.5l7 7M18.5 2.5l-7 7" fill="none"/>',
  };
  return `<svg viewBox="0 0 30 12" aria-hidden="true" stroke="var(${color(i)})" fill="var(${color(i)})" stroke-width="2">` +
    `<path d="M0 6h30" stroke-width="${width(i)}"/>${shapes[marks[i % 8]]}</svg>`;
}

function verdict(each) {
  if (!each.is_complete) return "stopped early";
  if (each.recovery === "recovered") return each.recovery_s < 0.1 ? "recovers at once" : `recovers in ${seconds(each.recovery_s)}`;
  if (each.recovery === "never") return "does not recover";
  if (each.recovery === "not_healthy_before") return "unhealthy from the start";
  if (each.finished_s > 0) return `done after ${seconds(each.finished_s)}`;
  return each.latency.p99_s === null ? `${(each.success_share * 100).toFixed(1)} % succeed` : `99 % within ${seconds(each.latency.p99_s)}`;
}

function showCards() {
  document.getElementById("cards").replaceChildren();
  strategies.forEach((each, i) => {
    const card = element("li"), last = each.services[each.services.length - 1];
    card.innerHTML = swatch(i);
    card.append(element("span", "name", each.name));
    const figure = element("span", "figure", verdict(each));
    figure.style.color = `var(${color(i)})`;
    card.append(figure, element("span", "note",
      `${(each.success_share * 100).toFixed(1)} % of requests succeed; worst second ${last.worst_amplification.toFixed(1)} attempts per request`),
      element("span", "note", each.settings));
    document.getElementById("cards").append(card);
  });
}

const troubleBands = {
  id: "troubleBands",
  beforeDatasetsDraw(chart) {
    const { ctx, chartArea: area, scales: { x } } = chart;
    ctx.save();
    for (const trouble of model.troubles) {
      const left = x.getPixelForValue(trouble.start_s), right = x.getPixelForValue(trouble.end_s);
      ctx.fillStyle = css("--trouble");
      ctx.fillRect(left, area.top, Math.max(2, right - left), area.bottom - area.top);
      ctx.fillStyle = css("--soft");
      ctx.font = "600 12px system-ui, sans-serif";
      ctx.textAlign = "center";
      ctx.fillText(trouble.kind.replace("_", " "), (left + right) / 2, area.top - 5);
    }
    ctx.restore();
  },
};

const limitLine = {
  id: "limitLine",
  beforeDatasetsDraw(chart, _, line) {
    if (line.value === undefined) return;
    const { ctx, chartArea: area, scales: { y } } = chart, height = y.getPixelForValue(line.value);
    if (height < area.top) return;
    ctx.save();
    ctx.strokeStyle = css("--ink");
    ctx.lineWidth = 1.25;
    ctx.setLineDash([6, 5]);
    ctx.beginPath();
    ctx.moveTo(area.left, height);
    ctx.lineTo(area.right, height);
    ctx.stroke();
    ctx.restore();
  },
};

// Counts are drawn in the middle of their step, levels at its end (spec.at).
function makeChart(canvas, spec) {
  const every = Math.max(8, Math.round(model.length_s / spec.step / 9));
  const datasets = spec.strategies.map(i => {
    const points = spec.values(strategies[i]).map((y, n) => ({ x: (n + spec.at) * spec.step, y }));
    const offset = Math.round(every * (i + 1) / (strategies.length + 1));
    return {
      label: strategies[i].name, data: points, borderColor: css(color(i)), backgroundColor: css(color(i)),
      borderWidth: width(i), order: strategies.length - i, tension: 0, pointStyle: marks[i % 8], pointHitRadius: 8,
      pointBorderWidth: 2, pointHoverRadius: 5, pointRadius: points.map((_, n) => n % every === offset ? 4 : 0),
    };
  });
  const options = chartOptions({ ...spec, length: model.length_s, time: "virtual time (s)" });
  options.plugins.limitLine = spec.line || {};
  return new Chart(canvas, { type: "line", data: { datasets }, plugins: [troubleBands, limitLine], options });
}

function makeSpecs() {
  const all = strategies.map((_, i) => i);
  const perSecond = (service, series) => each => each.services[service].series[series].map(n => n / step);
  specs = [];
  services.forEach((service, s) => {
    const capacity = service.capacity_per_second;
    specs.push({ wide: s === 0, title: `Load on ${service.name}`, hint: "Attempts that arrive per second.",
      strategies: all, unit: "attempts per second", short: "attempts/s", values: perSecond(s, "attempts"), at: .5, step,
      top: capacity ? capacity * 1.2 : undefined,
      line: capacity ? { value: capacity, label: `capacity, ${count.format(capacity)}/s` } : undefined });
  });
  specs.push({ wide: true, title: "Useful work", hint: "Answers per second that reach a client that is still waiting.",
    strategies: all, unit: "useful answers per second", short: "answers/s", values: perSecond(0, "useful"), at: .5, step,
    top: model.requests_per_second ? model.requests_per_second * 1.25 : undefined,
    line: model.requests_per_second ? { value: model.requests_per_second, label: `requests, ${count.format(model.requests_per_second)}/s` } : undefined });
  specs.push({ title: "Latency: 99 % of requests", hint: "No line: more than 1 % of the requests that ended in that second failed.",
    strategies: all, unit: "answered within", short: "", scale: "logarithmic", values: each => each.latency_by_second.p99_s, at: .5, step: 1,
    line: model.attempt_timeout_s ? { value: model.attempt_timeout_s, label: `timeout of an attempt, ${seconds(model.attempt_timeout_s)}` } : undefined });
  services.forEach((service, s) => {
    const capacity = service.capacity_per_second;
    if (!capacity) return;
    specs.push({ title: `Queue of ${service.name}`, hint: "The time it takes to work it off. If clients do not wait that long, answers come too late.",
      strategies: all, unit: "seconds of work", short: "s", values: each => each.services[s].series.waiting.map(n => n / capacity), at: 1, step,
      top: s === 0 && model.attempt_timeout_s ? model.attempt_timeout_s * 1.3 : undefined,
      line: s === 0 && model.attempt_timeout_s ? { value: model.attempt_timeout_s, label: `clients wait ${seconds(model.attempt_timeout_s)}` } : undefined });
  });
  const budgeted = all.filter(i => strategies[i].services[0].series.bucket_share);
  if (budgeted.length > 0) {
    specs.push({ title: "Retry budgets", hint: "Level of the clients' buckets together. An empty bucket allows no more retries.",
      strategies: budgeted, unit: "share of full buckets", short: "% full", percent: true, top: 100, at: 1, step,
      values: each => each.services[0].series.bucket_share.map(share => share * 100) });
  }
}

function showFrames() {
  document.getElementById("charts").replaceChildren();
  specs.forEach(spec => {
    const figure = element("figure", spec.wide ? "wide" : "half"), legend = element("ul", "legend");
    spec.strategies.forEach(i => {
      const item = element("li");
      item.innerHTML = swatch(i);
      item.append(strategies[i].name);
      legend.append(item);
    });
    if (spec.line) {
      const item = element("li");
      item.innerHTML = '<svg viewBox="0 0 30 12" aria-hidden="true"><path d="M0 6h30" stroke="var(--ink)" stroke-width="1.25" stroke-dasharray="6 5"/></svg>';
      item.append(spec.line.label);
      legend.append(item);
    }
    const box = element("div", "canvas");
    spec.canvas = element("canvas");
    spec.canvas.setAttribute("role", "img");
    spec.canvas.setAttribute("aria-label", `${spec.title}, over time; figures in the table below`);
    box.append(spec.canvas);
    figure.append(element("h2", "", spec.title), element("p", "hint", spec.hint), legend, box);
    document.getElementById("charts").append(figure);
  });
  // A chart that would be alone in its row takes the whole row.
  [...document.querySelectorAll("figure.half")].reduce((run, figure, n, list) => {
    const next = figure.nextElementSibling;
    const isLast = !next || next.classList.contains("wide");
    if (run % 2 === 0 && isLast) figure.className = "wide";
    return isLast ? 0 : run + 1;
  }, 0);
}

function draw() {
  charts.forEach(chart => chart.destroy());
  charts = specs.map(spec => makeChart(spec.canvas, spec));
}

function showReport(data) {
  ({ model, strategies, step_s: step } = data);
  services = model.services;
  showCards();
  makeSpecs();
  showFrames();
  draw();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

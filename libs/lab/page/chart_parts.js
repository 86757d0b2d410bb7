"use strict";
// Shared by the charts of all pages. Text from elsewhere is only ever set as text.
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const count = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const seconds = s => s < 1 ? `${count.format(Math.round(s * 1e4) / 10)} ms` : `${count.format(s)} s`;
const element = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

// Ticks at 1 and 3 times the powers of ten.
function decades(min, max) {
  const ticks = [];
  for (let power = 1e-6; power <= max; power *= 10) {
    [power, 3 * power].forEach(value => { if (value >= min * .999 && value <= max * 1.001) ticks.push({ value }); });
  }
  return ticks;
}

// Options of a chart over time. `spec`: length and name of the time axis, unit of the values and its short form, scale
// ("linear" by default), top, percent, stacked, start of the time axis.
function chartOptions(spec) {
  const axis = text => ({ display: true, text, color: css("--soft") });
  const ticks = { color: css("--soft") }, grid = { color: css("--line"), borderColor: css("--line") };
  const unit = value => spec.scale === "logarithmic" ? seconds(value) : count.format(value);
  return {
    responsive: true, maintainAspectRatio: false, animation: false, parsing: false, layout: { padding: { top: 18 } },
    interaction: { mode: "index", intersect: false }, spanGaps: false,
    scales: {
      x: { type: "linear", min: spec.start || 0, max: spec.length, title: axis(spec.time), ticks: { ...ticks, includeBounds: false }, grid },
      y: { type: spec.scale || "linear", beginAtZero: true, stacked: !!spec.stacked, suggestedMax: spec.top, title: axis(spec.unit), grid,
        ticks: { ...ticks, maxTicksLimit: 7, callback: value => spec.percent ? `${value} %` : unit(value) },
        afterBuildTicks: scale => { if (spec.scale === "logarithmic") scale.ticks = decades(scale.min, scale.max); },
        afterFit: scale => { scale.width = 74; } },
    },
    plugins: {
      legend: { display: false },
      tooltip: { filter: item => !spec.stacked || item.parsed.y > 0, callbacks: {
        title: items => items.length > 0 ? `${count.format(items[0].parsed.x)} s` : "",
        label: item => ` ${item.dataset.label}: ${unit(item.parsed.y)} ${spec.short}`,
      } },
    },
  };
}

// Sections of the time axis as bands of two shades, with their names if there is room.
const sectionBands = sections => ({
  id: "sectionBands",
  beforeDatasetsDraw(chart) {
    const { ctx, chartArea: area, scales: { x } } = chart;
    ctx.save();
    ctx.font = "600 12px system-ui, sans-serif";
    ctx.textAlign = "center";
    sections.forEach((section, i) => {
      const left = x.getPixelForValue(section.start_s), right = x.getPixelForValue(section.end_s);
      if (i % 2 === 1) {
        ctx.fillStyle = css("--trouble");
        ctx.fillRect(left, area.top, right - left, area.bottom - area.top);
      }
      const name = ctx.measureText(section.name).width < right - left - 4 ? section.name : String(i + 1);
      ctx.fillStyle = css("--soft");
      ctx.fillText(name, (left + right) / 2, area.top - 5);
    });
    ctx.restore();
  },
});

// Lines with a number at moments of the time axis.
const momentLines = moments => ({
  id: "momentLines",
  afterDatasetsDraw(chart) {
    const { ctx, chartArea: area, scales: { x } } = chart;
    ctx.save();
    ctx.font = "600 11px system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.strokeStyle = ctx.fillStyle = css("--soft");
    ctx.setLineDash([3, 4]);
    moments().filter(each => each.x >= x.min && each.x <= x.max).forEach(each => {
      const left = x.getPixelForValue(each.x);
      ctx.beginPath();
      ctx.moveTo(left, area.top);
      ctx.lineTo(left, area.bottom);
      ctx.stroke();
      ctx.fillText(each.label, left, area.top - 5);
    });
    ctx.restore();
  },
});

// Series as lines, or as areas on top of each other: [{name, color, points: [{x, y}]}].
const lineDatasets = (series, isStacked) => series.map((each, i) => ({
  label: each.name, data: each.points, borderColor: css(each.color), backgroundColor: css(each.color), borderWidth: isStacked ? 0 : 2,
  pointRadius: 0, pointHitRadius: 8, tension: 0, fill: isStacked ? (i === 0 ? "origin" : "-1") : false,
}));

// A figure with a title, a hint, a legend and an empty canvas.
function makeFigure(into, { title, hint, series, wide }) {
  const figure = element("figure", wide ? "wide" : "half"), legend = element("ul", "legend"), box = element("div", "canvas");
  const canvas = element("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title}, over time; figures in the table below`);
  box.append(canvas);
  figure.append(element("h2", "", title), element("p", "hint", hint), legend, box);
  into.append(figure);
  const showLegend = shown => legend.replaceChildren(...shown.map(each => {
    const item = element("li"), key = element("span", "key");
    key.style.background = `var(${each.color})`;
    item.append(key, each.name);
    return item;
  }));
  showLegend(series);
  return { canvas, showLegend };
}

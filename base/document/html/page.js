// Replaces the picture of each chart by one of Chart.js that can be pointed at and walked through by keyboard.
// Everything that is shown stands in the page already: this formats no number and fetches nothing.
"use strict";
(() => {
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const line = (kind, index) => {
    switch (kind) {
      case "expected": return { borderColor: color("--faint"), borderDash: [7, 4] };
      case "ring": return { borderColor: color("--c6"), borderDash: [2, 3] };
      case "nvls": return { borderColor: color("--c5"), borderDash: [2, 3] };
      case "tree": return { borderColor: color("--c7"), borderDash: [2, 3] };
      default: return { borderColor: color("--c" + index % 8), borderDash: [] };
    }
  };

  const datasets = (chart) => {
    let index = 0;
    const all = chart.series.map((series) => {
      const measured = series.kind === "measured";
      return {
        label: series.name, data: series.points, ...line(series.kind, measured ? index++ : 0), fill: false,
        borderWidth: measured ? 2 : 1.5, pointRadius: measured ? 3 : 0, pointHoverRadius: 5, order: measured ? 0 : 1,
        get pointBackgroundColor() { return this.borderColor; }, get backgroundColor() { return this.borderColor; },
      };
    });
    for (const reference of chart.references) {
      all.push({ label: reference.name, order: 2, borderColor: color("--faint"), borderDash: [1, 3], borderWidth: 1.5,
        pointRadius: 0, data: [chart.x.min, chart.x.max].map((x) => ({ x, y: reference.y, text: reference.name })) });
    }
    for (const band of chart.bands) {
      const side = (at) => band.edges.map((edge) => ({ x: edge[0], y: edge[at], text: band.name }));
      const shared = { order: 3, borderWidth: 0, pointRadius: 0, pointHitRadius: 0, isBand: true };
      all.push({ ...shared, label: "", data: side(1), fill: false });
      all.push({ ...shared, label: band.name, data: side(2), fill: "-1", backgroundColor: color("--band") });
    }
    return all;
  };

  // The 95 % intervals, as bars through the points.
  const intervals = {
    id: "intervals",
    afterDatasetsDraw(chart) {
      const { ctx, scales: { x, y } } = chart;
      ctx.save();
      ctx.lineWidth = 1.5;
      chart.data.datasets.forEach((set, index) => {
        if (!chart.isDatasetVisible(index)) return;
        ctx.strokeStyle = set.borderColor;
        for (const point of set.data) {
          if (!point.interval) continue;
          const at = x.getPixelForValue(point.x);
          const [bottom, top] = point.interval.map((value) => y.getPixelForValue(value));
          if (!(bottom - top >= 3)) continue;
          ctx.beginPath();
          for (const end of [top, bottom]) { ctx.moveTo(at - 4, end); ctx.lineTo(at + 4, end); }
          ctx.moveTo(at, top);
          ctx.lineTo(at, bottom);
          ctx.stroke();
        }
      });
      ctx.restore();
    },
  };

  const axis = (description) => {
    const names = new Map(description.ticks);
    return {
      type: description.log ? "logarithmic" : "linear", min: description.min, max: description.max,
      title: { display: true, text: description.title, color: color("--faint") }, grid: { color: color("--grid") },
      afterBuildTicks: (scale) => { scale.ticks = description.ticks.map(([value]) => ({ value })); },
      ticks: { color: color("--text"), maxRotation: 0, autoSkip: true, callback: (value) => names.get(value) ?? "" },
    };
  };

  // In the legend a line is a line, dashed as it is drawn, and a band a box.
  const signs = (live) => Chart.defaults.plugins.legend.labels.generateLabels(live).map((item) => {
    const set = live.data.datasets[item.datasetIndex];
    return { ...item, pointStyle: set.isBand ? "rect" : "line", lineDash: set.borderDash ?? [], lineWidth: set.isBand ? 0 : 2 };
  });

  const options = (chart, scale) => ({
    responsive: true, maintainAspectRatio: false, animation: false,
    interaction: { mode: "nearest", axis: "xy", intersect: false },
    scales: { x: axis(chart.x), y: axis(chart.y[scale]) },
    plugins: {
      legend: { labels: { color: color("--text"), usePointStyle: true, pointStyleWidth: 28, filter: (item) => item.text !== "", generateLabels: signs } },
      tooltip: { filter: (item) => !item.dataset.isBand, callbacks: { title: (items) => items.map((item) => item.dataset.label), label: (item) => item.raw.text } },
    },
  });

  const element = (name, attributes, text) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  };

  // Left and right: the next point; up and down: the next line; Home, End; Escape leaves.
  const walk = (live, reading) => {
    let at = null;
    const lines = () => live.data.datasets.map((set, index) => index)
      .filter((index) => live.isDatasetVisible(index) && !live.data.datasets[index].isBand && live.data.datasets[index].data.length > 0);
    return (event) => {
      const shown = lines();
      if (shown.length === 0) return;
      if (at && !shown.includes(at.set)) at = null;
      const last = (set) => live.data.datasets[set].data.length - 1;
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -Infinity], End: [0, Infinity] }[event.key];
      if (event.key === "Escape") at = null;
      else if (!step) return;
      else if (!at) at = { set: shown[0], point: 0 };
      else {
        const set = shown[(shown.indexOf(at.set) + step[0] + shown.length) % shown.length];
        at = { set, point: Math.min(Math.max(at.point + step[1], 0), last(set)) };
      }
      event.preventDefault();
      const active = at ? [{ datasetIndex: at.set, index: at.point }] : [];
      live.setActiveElements(active);
      live.tooltip.setActiveElements(active, { x: 0, y: 0 });
      live.update("none");
      const set = at && live.data.datasets[at.set];
      reading.textContent = set ? set.label + ", " + set.data[at.point].text : "";
    };
  };

  const enliven = (figure, number) => {
    const chart = JSON.parse(figure.dataset.chart);
    const drawing = figure.querySelector(".drawing");
    const hint = "keys-" + number;
    const canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": chart.title, "aria-describedby": hint });
    const room = element("div", { class: "canvas" });
    const tools = element("div", { class: "tools" });
    const scale = element("button", { type: "button", "aria-pressed": String(chart.y[0].log) }, "Logarithmic y axis");
    const reading = element("p", { class: "reading", role: "status" });
    tools.append(scale, element("p", { id: hint }, "Point at it, or arrow keys: points and lines."), reading);
    room.append(canvas);
    drawing.append(room);
    drawing.after(tools);
    figure.classList.add("live");
    let chosen = 0;
    const live = new Chart(canvas, { type: "line", data: { datasets: datasets(chart) }, options: options(chart, chosen), plugins: [intervals] });
    const redraw = () => {
      live.data.datasets = datasets(chart);
      live.options = options(chart, chosen);
      live.update("none");
    };
    scale.addEventListener("click", () => {
      chosen = 1 - chosen;
      scale.setAttribute("aria-pressed", String(chart.y[chosen].log));
      redraw();
    });
    canvas.addEventListener("keydown", walk(live, reading));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  };

  document.querySelectorAll("figure[data-chart]").forEach(enliven);

  // On paper everything is open.
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details:not([open])")) { each.open = true; closed.push(each); }
  });
  addEventListener("afterprint", () => { for (const each of closed.splice(0)) each.open = false; });
})();

(() => {
  "use strict";

  // Chart.js' own animations and legend are off: people compare curves, and fourteen series need more room.
  Chart.defaults.animation = false;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;

  const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
  const pointStyles = {measured: "circle", emulated: "triangle", simulated: "circle", published: "star", ideal: false};
  const darkScheme = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;

  const isDark = () => darkScheme.matches && !root.classList.contains("printing");
  const colourOf = series => (isDark() ? series.dark : series.light);
  const cssColour = name => getComputedStyle(root).getPropertyValue(name).trim();
  const faded = (colour, alpha) => colour + Math.round(alpha * 255).toString(16).padStart(2, "0");

  function figure(value, percent) {
    if (percent) return (value * 100).toFixed(1) + " %";
    return Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
  }

  function wrapped(text, width = 52) {
    const lines = [];
    let line = "";
    for (const word of text.split(" ")) {
      if (line && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else {
        line = line ? line + " " + word : word;
      }
    }
    return line ? lines.concat(line) : lines;
  }

  // Intervals, which Chart.js cannot draw: a light band for models, whiskers for observations.
  const intervals = {
    id: "intervals",
    beforeDatasetsDraw(chart) {
      const {ctx, chartArea: area} = chart;
      ctx.save();
      ctx.beginPath();
      ctx.rect(area.left, area.top, area.width, area.height);
      ctx.clip();
      chart.data.datasets.forEach((dataset, i) => {
        if (!chart.isDatasetVisible(i)) return;
        const points = dataset.data.filter(p => p.low !== null || p.high !== null);
        if (points.length) (dataset.series.band ? drawBand : drawWhiskers)(chart, points, dataset.borderColor);
      });
      ctx.restore();
    },
  };

  const xPixel = (chart, p) => chart.scales.x.getPixelForValue(p.x);
  const lowPixel = (chart, p) => chart.scales.y.getPixelForValue(p.low ?? p.y);
  const highPixel = (chart, p) => chart.scales.y.getPixelForValue(p.high ?? p.y);

  function drawBand(chart, points, colour) {
    const ctx = chart.ctx;
    ctx.beginPath();
    for (const p of points) ctx.lineTo(xPixel(chart, p), highPixel(chart, p));
    for (const p of [...points].reverse()) ctx.lineTo(xPixel(chart, p), lowPixel(chart, p));
    ctx.closePath();
    ctx.globalAlpha = 0.12;
    ctx.fillStyle = colour;
    ctx.fill();
    ctx.globalAlpha = 1;
  }

  function drawWhiskers(chart, points, colour) {
    const ctx = chart.ctx;
    ctx.beginPath();
    for (const p of points) {
      const x = xPixel(chart, p);
      for (const y of [lowPixel(chart, p), highPixel(chart, p)]) {
        ctx.moveTo(x - 4, y);
        ctx.lineTo(x + 4, y);
      }
      ctx.moveTo(x, lowPixel(chart, p));
      ctx.lineTo(x, highPixel(chart, p));
    }
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1.5;
    ctx.stroke();
  }

  // `focus` is the series under the pointer in the legend, or none: the others step back.
  function paint(dataset, focus) {
    const {series} = dataset;
    const colour = focus && focus !== series ? faded(colourOf(series), 0.18) : colourOf(series);
    dataset.borderColor = dataset.pointBorderColor = colour;
    dataset.pointBackgroundColor = dataset.backgroundColor = colour;
  }

  function datasetOf(series) {
    const ideal = series.mark === "ideal";
    const size = innerWidth < 520 ? 0.75 : 1;
    const dataset = {
      series,
      label: series.label,
      data: series.points,
      hidden: !series.shown,
      showLine: series.line,
      borderDash: ideal ? [4, 4] : dashes[series.dash],
      borderWidth: ideal ? 1.25 : 2,
      pointStyle: pointStyles[series.mark],
      clip: 8,  // a mark on the edge stays whole
      pointRadius: ideal ? 0 : series.small ? 2 : size * (series.mark === "published" ? 6 : 5),
      pointHoverRadius: ideal ? 0 : 7,
      pointHitRadius: ideal ? 0 : 6,
      pointBorderWidth: series.mark === "published" ? 2 : 1,
      order: ideal ? 2 : series.line ? 1 : 0,
    };
    paint(dataset);
    return dataset;
  }

  function powersOfTwo(axis) {
    const first = Math.ceil(Math.log2(axis.min) - 1e-9), last = Math.floor(Math.log2(axis.max) + 1e-9);
    const room = Math.max(2, Math.floor(axis.width / 38));
    const step = Math.max(1, Math.ceil((last - first + 1) / room));
    axis.ticks = [];
    for (let power = first; power <= last; power += step) axis.ticks.push({value: 2 ** power});
  }

  function xAxis(spec) {
    const axis = {title: {display: true, text: spec.xTitle}, grid: {}, ticks: {autoSkip: !spec.log2, maxRotation: 0}};
    if (!spec.log2) return {...axis, type: "linear"};
    const places = spec.series.flatMap(series => series.points.map(p => p.x));
    const [least, most] = places.length ? [Math.min(...places), Math.max(...places)] : [1, 128];
    axis.ticks.callback = value => String(value);
    return {...axis, type: "logarithmic", min: least / 1.1, max: most * 1.1, afterBuildTicks: powersOfTwo};
  }

  function yAxis(spec) {
    const percent = {callback: value => Math.round(value * 1000) / 10 + " %"};
    // Chart.js looks at y alone; intervals are to fit too.
    const points = spec.series.filter(series => series.shown).flatMap(series => series.points);
    return {
      type: spec.yLog10 ? "logarithmic" : "linear",
      title: {display: true, text: spec.yTitle},
      min: spec.yMin ?? undefined,
      max: spec.yMax ?? undefined,
      suggestedMin: points.length ? Math.min(...points.map(p => p.low ?? p.y)) : 0,
      suggestedMax: points.length ? Math.max(...points.map(p => p.high ?? p.y)) : 1,
      grid: {},
      ticks: spec.percent ? percent : {},
    };
  }

  function tooltipOf(spec) {
    const label = item => {
      const p = item.raw;
      const span = p.low !== null && p.high !== null ?
        ` (${figure(p.low, spec.percent)} to ${figure(p.high, spec.percent)})` : "";
      return figure(p.y, spec.percent) + span;
    };
    return {
      displayColors: false,
      // Where many curves meet (one GPU, 100 %), one is enough.
      filter: (item, index) => index === 0,
      callbacks: {
        title: items => items.length ? wrapped(items[0].dataset.label) : [],
        label: item => [`${spec.xTitle}: ${figure(item.raw.x, false)}`, `${spec.yTitle}: ${label(item)}`],
        footer: items => items.length ?
          [items[0].dataset.series.mark, ...wrapped(items[0].raw.note)] : [],
      },
      footerFont: {weight: "normal"},
    };
  }

  function colourAxes(chart) {
    const grid = cssColour("--line"), text = cssColour("--quiet");
    for (const axis of Object.values(chart.options.scales)) {
      axis.grid.color = axis.grid.borderColor = grid;
      axis.ticks.color = axis.title.color = text;
    }
  }

  function draw(element) {
    const spec = JSON.parse(element.querySelector("script").textContent);
    const chart = new Chart(element.querySelector("canvas"), {
      type: "line",
      data: {datasets: spec.series.map(datasetOf)},
      options: {
        responsive: true,
        maintainAspectRatio: false,
        parsing: false,
        interaction: {mode: "nearest", intersect: false},
        scales: {x: xAxis(spec), y: yAxis(spec)},
        plugins: {legend: {display: false}, tooltip: tooltipOf(spec)},
      },
      plugins: [intervals],
    });
    recolour(chart);
    fillLegend(element.querySelector(".legend"), chart, spec);
    return chart;
  }

  function recolour(chart) {
    chart.data.datasets.forEach(dataset => paint(dataset));
    colourAxes(chart);
    chart.update("none");
  }

  // Marks of the legend, drawn as in the chart.
  function swatch(series) {
    const shapes = {
      measured: '<circle cx="16" cy="7" r="4.5"/>',
      emulated: '<path d="M16 2 21 11H11z"/>',
      simulated: '<circle cx="16" cy="7" r="2"/>',
      published: '<path d="M16 2v10M11 7h10M12.5 3.5l7 7M19.5 3.5l-7 7" stroke-width="1.6"/>',
      ideal: "",
    };
    const dash = series.mark === "ideal" ? "4 4" : dashes[series.dash].join(" ");
    const line = series.line ? `<path d="M0 7H32" stroke-width="2" stroke-dasharray="${dash}"/>` : "";
    const colours = series.light ? `class="coloured" style="--light: ${series.light}; --dark: ${series.dark}"` : "";
    return `<svg width="32" height="14" aria-hidden="true" fill="currentColor" stroke="currentColor" ${colours}>` +
      line + shapes[series.mark] + "</svg>";
  }

  function fillLegend(list, chart, spec) {
    spec.series.forEach((series, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.innerHTML = swatch(series);
      button.append(Object.assign(document.createElement("span"), {textContent: series.label}));
      button.setAttribute("aria-pressed", series.shown);
      button.addEventListener("click", () => {
        chart.setDatasetVisibility(i, !chart.isDatasetVisible(i));
        button.setAttribute("aria-pressed", chart.isDatasetVisible(i));
        chart.update("none");
      });
      const focus = target => {
        chart.data.datasets.forEach(dataset => paint(dataset, target));
        chart.update("none");
      };
      button.addEventListener("pointerenter", () => focus(chart.isDatasetVisible(i) ? series : undefined));
      button.addEventListener("pointerleave", () => focus(undefined));
      list.append(document.createElement("li"));
      list.lastChild.append(button);
    });
    addKey(list, spec);
  }

  function addKey(list, spec) {
    const key = document.createElement("li");
    key.className = "key";
    for (const mark of ["measured", "emulated", "simulated", "published"]) {
      if (!spec.series.some(series => series.mark === mark)) continue;
      const entry = document.createElement("span");
      entry.innerHTML = swatch({mark, dash: 0, line: mark === "simulated"});
      entry.append(mark);
      key.append(entry);
    }
    if (key.children.length) list.append(key);
  }

  // A hidden canvas has no size, so that a chart is drawn when it is first seen.
  const charts = new Map();
  function show(element) {
    if (!charts.has(element)) charts.set(element, draw(element));
    else charts.get(element).resize();
  }

  function makeTabs(list) {
    const tabs = [...list.querySelectorAll("[role=tab]")];
    const panelOf = tab => document.getElementById(tab.getAttribute("aria-controls"));
    const select = chosen => {
      for (const tab of tabs) {
        tab.setAttribute("aria-selected", tab === chosen);
        tab.tabIndex = tab === chosen ? 0 : -1;
        panelOf(tab).classList.toggle("unselected", tab !== chosen);
      }
      show(panelOf(chosen));
    };
    tabs.forEach((tab, i) => {
      panelOf(tab).setAttribute("role", "tabpanel");
      panelOf(tab).setAttribute("aria-labelledby", tab.id);
      tab.addEventListener("click", () => select(tab));
      tab.addEventListener("keydown", event => {
        const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
        if (!step) return;
        const next = tabs[(i + step + tabs.length) % tabs.length];
        select(next);
        next.focus();
      });
    });
    list.hidden = false;
    select(tabs[0]);
  }

  const figures = [...document.querySelectorAll("figure.chart")];
  const recolourAll = () => charts.forEach(recolour);
  root.classList.add("scripted");
  document.querySelectorAll("[role=tablist]").forEach(makeTabs);
  figures.filter(element => !element.classList.contains("unselected")).forEach(show);
  darkScheme.addEventListener("change", recolourAll);
  // Paper has no tabs: every chart of a group is printed.
  addEventListener("beforeprint", () => {
    root.classList.add("printing");
    figures.forEach(show);
    recolourAll();
  });
  addEventListener("afterprint", () => {
    root.classList.remove("printing");
    recolourAll();
  });
})();

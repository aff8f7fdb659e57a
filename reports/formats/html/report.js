(() => {
  "use strict";

  const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
  const pointStyles = {measured: "circle", emulated: "triangle", simulated: "circle", published: "star", ideal: false};
  const darkScheme = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;

  const isDark = () => darkScheme.matches && !root.classList.contains("printing");
  const colourOf = series => (isDark() ? series.dark : series.light);
  const cssColour = name => getComputedStyle(root).getPropertyValue(name).trim();
  const faded = (colour, alpha) => colour + Math.round(alpha * 255).toString(16).padStart(2, "0");
  const make = (name, properties = {}) => Object.assign(document.createElement(name), properties);
  const distinct = list => [...new Set(list)];

  function figure(value, percent) {
    if (percent) return (value * 100).toFixed(1) + " %";
    return Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
  }

  const day = 86400;
  const dateText = (seconds, length) => new Date(seconds * 1000).toISOString().slice(0, length).replace("T", " ");

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

  // Charts. What Chart.js does not draw is done by plug-ins: intervals, reference lines and labels.

  const xPixel = (chart, p) => chart.scales.x.getPixelForValue(p.x);
  const yPixel = (chart, p) => chart.scales.y.getPixelForValue(p.y);
  const lowPixel = (chart, p) => chart.scales.y.getPixelForValue(p.low ?? p.y);
  const highPixel = (chart, p) => chart.scales.y.getPixelForValue(p.high ?? p.y);

  function drawBand(chart, points, colour) {
    const ctx = chart.ctx;
    ctx.beginPath();
    for (const p of points) ctx.lineTo(xPixel(chart, p), highPixel(chart, p));
    for (const p of [...points].reverse()) ctx.lineTo(xPixel(chart, p), lowPixel(chart, p));
    ctx.closePath();
    ctx.globalAlpha = 0.16;
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

  const visible = chart => chart.data.datasets.filter((dataset, i) => chart.isDatasetVisible(i));

  // One band at a time, since several on top of each other show nothing: that of what the reader points at, else of the
  // first line.
  function bandOf(chart) {
    const bands = visible(chart).map(dataset => dataset.series).filter(series => series.band);
    return bands.find(series => series.group === chart.data.focus) ?? bands[0];
  }

  const intervals = {
    id: "intervals",
    beforeDatasetsDraw(chart) {
      const {ctx, chartArea: area} = chart, band = bandOf(chart);
      ctx.save();
      ctx.beginPath();
      ctx.rect(area.left, area.top, area.width, area.height);
      ctx.clip();
      for (const dataset of visible(chart)) {
        const points = dataset.data.filter(p => p.low !== null || p.high !== null);
        if (!points.length) continue;
        if (!dataset.series.band) drawWhiskers(chart, points, dataset.borderColor);
        else if (dataset.series === band) drawBand(chart, points, dataset.borderColor);
      }
      ctx.restore();
    },
  };

  const referenceLines = {
    id: "referenceLines",
    beforeDatasetsDraw(chart) {
      const {ctx, chartArea: area, scales} = chart;
      chart.data.taken = [];
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = cssColour("--quiet");
      ctx.setLineDash([4, 4]);
      for (const line of chart.data.spec.lines) {
        const at = scales[line.vertical ? "x" : "y"].getPixelForValue(line.at);
        const [from, to] = line.vertical ? [area.left, area.right] : [area.top, area.bottom];
        if (!(at >= from && at <= to)) continue;
        ctx.beginPath();
        if (line.vertical) ctx.rect(at, area.top, 0, area.height);
        else ctx.rect(area.left, at, area.width, 0);
        ctx.stroke();
        const width = labelWidth(line.label), y = line.vertical ? area.top + 8 : at < area.top + 14 ? at + 8 : at - 7;
        const x = !line.vertical ? area.left + 4 : at + width > chart.width ? at - width : at + 4;
        chart.data.taken.push({x, y, width});
        write(chart, line.label, x, y);
      }
      ctx.restore();
    },
  };

  // With a rim of the background's colour, so that lines below do not strike it out.
  function write(chart, text, x, y) {
    const ctx = chart.ctx;
    ctx.save();
    ctx.font = `11px ${Chart.defaults.font.family}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.setLineDash([]);
    ctx.lineWidth = 3;
    ctx.lineJoin = "round";
    ctx.strokeStyle = root.classList.contains("printing") ? "#fff" : cssColour("--paper");
    ctx.strokeText(text, x, y);
    ctx.fillText(text, x, y);
    ctx.restore();
  }

  const isNarrow = () => innerWidth < 520 && !root.classList.contains("printing");
  const labelWidth = text => Math.min(190, 6 + 6.2 * text.length);

  const labels = {
    id: "labels",
    afterDatasetsDraw(chart) {
      const {taken} = chart.data;
      const isFree = ({x, y, width}) =>
        taken.every(box => x > box.x + box.width || x + width < box.x || Math.abs(y - box.y) > 12);
      const place = (text, box) => {
        taken.push(box);
        write(chart, text, box.x, box.y);
      };
      if (chart.data.spec.endLabels) labelEnds(chart, isFree, place);
      for (const dataset of visible(chart)) {
        chart.ctx.fillStyle = dataset.borderColor;
        for (const p of dataset.data) {
          if (!p.label) continue;
          // A label of an observation stands before its whiskers, where a step leaves room.
          const width = labelWidth(p.label), x = xPixel(chart, p);
          const before = p.low !== null || x + width > chart.width;
          const box = {x: before ? x - width - 3 : x + 7, y: highPixel(chart, p) - 9, width};
          if (isFree(box)) place(p.label, box);
        }
      }
    },
  };

  // Beside the right ends of the lines, as near to each as there is room; on a narrow screen within the chart.
  function labelEnds(chart, isFree, place) {
    const {top, bottom, left} = chart.chartArea;
    const ends = visible(chart).filter(dataset => dataset.series.line && dataset.data.length)
      .map(dataset => ({dataset, end: dataset.data.reduce((a, b) => (b.x > a.x ? b : a))}))
      .sort((a, b) => b.end.y - a.end.y);
    for (const {dataset, end} of ends) {
      const width = labelWidth(dataset.label), x = xPixel(chart, end);
      const right = isNarrow() && x - width > left;
      const box = {x: right ? x - width - 2 : x + 8, y: yPixel(chart, end) - (isNarrow() ? 9 : 0), width};
      const free = [0, 13, -13, 26, -26, 39, -39, 52, -52].map(shift => ({...box, y: box.y + shift}))
        .find(one => one.y >= top && one.y <= bottom && isFree(one));
      chart.ctx.fillStyle = dataset.borderColor;
      if (free) place(dataset.label, free);
    }
  }

  function paint({datasets, focus}) {
    for (const dataset of datasets) {
      const {series} = dataset, colour = colourOf(series);
      const back = focus && focus !== series.group && series.mark !== "ideal";
      dataset.borderColor = dataset.pointBorderColor = back ? faded(colour, 0.2) : colour;
      dataset.pointBackgroundColor = dataset.backgroundColor = dataset.borderColor;
    }
  }

  function datasetOf(series, small) {
    const ideal = series.mark === "ideal";
    const size = series.points.length > 40 ? 0.4 : small || innerWidth < 520 ? 0.75 : 1;
    return {
      series,
      label: series.label,
      data: series.points,
      hidden: !series.visible,
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
  }

  function powersOfTwo(axis) {
    const first = Math.ceil(Math.log2(axis.min) - 1e-9), last = Math.floor(Math.log2(axis.max) + 1e-9);
    const room = Math.max(2, Math.floor(axis.width / 38));
    const step = Math.max(1, Math.ceil((last - first + 1) / room));
    axis.ticks = [];
    for (let power = first; power <= last; power += step) axis.ticks.push({value: 2 ** power});
  }

  function dates(axis) {
    const room = Math.max(2, Math.floor(axis.width / 90)), span = axis.max - axis.min;
    const step = [1 / 24, 1 / 4, 1, 2, 7, 14, 30, 91, 182, 365, 3650].find(days => span / (days * day) <= room) * day ||
      span / room;
    axis.ticks = [];
    for (let at = Math.ceil(axis.min / step) * step; at <= axis.max; at += step)
      axis.ticks.push({value: at, label: dateText(at, step < day ? 16 : 10)});
  }

  function xAxis(spec) {
    const axis = {title: {display: true, text: spec.xTitle}, grid: {}, ticks: {autoSkip: !spec.log2, maxRotation: 0}};
    const places = spec.series.flatMap(series => series.points.map(p => p.x))
      .concat(spec.lines.filter(line => line.vertical).map(line => line.at));
    const [least, most] = places.length ? [Math.min(...places), Math.max(...places)] : [1, 128];
    if (spec.dates) {
      const margin = (most - least) * 0.03 || day;
      axis.ticks = {autoSkip: false, maxRotation: 0, callback: (value, i, ticks) => ticks[i].label};
      return {...axis, type: "linear", min: least - margin, max: most + margin, afterBuildTicks: dates};
    }
    if (!spec.log2) return {...axis, type: "linear"};
    axis.ticks.callback = value => String(Number(value.toPrecision(3)));
    return {...axis, type: "logarithmic", min: least / 1.1, max: most * 1.1, afterBuildTicks: powersOfTwo};
  }

  function yAxis(spec, title) {
    const percent = {callback: value => Math.round(value * 1000) / 10 + " %", includeBounds: false};
    // Chart.js looks at y alone; intervals and lines are to fit too.
    const points = spec.series.filter(series => series.visible).flatMap(series => series.points);
    const highest = points.map(p => p.high ?? p.y).concat(spec.lines.filter(line => !line.vertical).map(line => line.at));
    return {
      type: spec.yLog10 ? "logarithmic" : "linear",
      title: {display: title, text: spec.yTitle},
      min: spec.yMin ?? undefined,
      max: spec.yMax ?? undefined,
      grace: points.some(p => p.label) && !spec.yLog10 ? "6%" : 0,  // room for labels above the highest point
      suggestedMin: points.length ? Math.min(...points.map(p => p.low ?? p.y)) : 0,
      suggestedMax: highest.length ? Math.max(...highest) : 1,
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
    const place = p => (spec.dates ? dateText(p.x, 16) : `${spec.xTitle}: ${figure(p.x, false)}`);
    return {
      displayColors: false,
      // Where many curves meet (one GPU, 100 %), one is enough.
      filter: (item, index) => index === 0,
      callbacks: {
        title: items => items.length ? wrapped(items[0].dataset.label) : [],
        label: item => [place(item.raw), `${spec.yTitle}: ${label(item)}`],
        footer: items => items.length ?
          [items[0].dataset.series.mark, ...wrapped(items[0].raw.note)] : [],
      },
      footerFont: {weight: "normal"},
    };
  }

  function recolour(chart) {
    const grid = cssColour("--line"), text = cssColour("--quiet");
    for (const axis of Object.values(chart.options.scales)) {
      axis.grid.color = axis.grid.borderColor = grid;
      axis.ticks.color = axis.title.color = text;
    }
    paint(chart.data);
    chart.update();
  }

  function makeChart(canvas, spec, series, small) {
    const part = {...spec, series};
    const ends = spec.endLabels && !isNarrow() ? Math.max(...series.map(one => labelWidth(one.label))) : 0;
    const data = {spec, datasets: series.map(one => datasetOf(one, small))};
    paint(data);
    const chart = new Chart(canvas, {
      type: "line",
      data,
      options: {
        responsive: true,
        maintainAspectRatio: false,
        animation: false,
        parsing: false,
        layout: {padding: {right: ends}},
        interaction: {mode: "nearest", intersect: false},
        onHover: (event, items) => focusOn(chart, items.length ? chart.data.datasets[items[0].datasetIndex].series.group : null),
        scales: {x: xAxis(small ? {...part, series: spec.series} : part), y: yAxis(part, !small)},
        plugins: {legend: {display: false}, tooltip: tooltipOf(spec)},
      },
      plugins: [intervals, referenceLines, labels],
    });
    recolour(chart);
    return chart;
  }

  function focusOn(chart, group) {
    const known = group && visible(chart).some(({series}) => series.group === group) ? group : null;
    if ((chart.data.focus ?? null) === known) return;
    chart.data.focus = known;
    paint(chart.data);
    chart.update();
  }

  // The pictures of one figure: one, or a panel for each family of series.
  class Figure {
    constructor(element) {
      this.spec = JSON.parse(element.querySelector("script").textContent);
      for (const series of this.spec.series) {
        series.visible = series.shown;
        series.points = series.points.map(([x, y, low = null, high = null, note = null, label = ""]) =>
          ({x, y, low, high, note: note === null ? "" : series.notes[note], label}));
      }
      const plot = element.querySelector(".plot");
      this.name = plot.getAttribute("aria-label");
      this.filters = make("div", {className: "filters"});
      this.grid = make("div", {className: "panels"});
      plot.append(this.filters, this.grid);
      this.panels = new Map();
      const families = this.spec.panels ? this.distinctOf("family") : [""];
      for (const family of families) this.addPanel(family, families.length > 1);
      this.addFilter(this.spec.panels ? "group" : "label", true);
      if (families.length > 1) this.addFilter("family", false);
      this.addKey();
      this.update();
    }

    get drawn() {
      return this.spec.series.filter(series => series.mark !== "ideal");
    }

    distinctOf(key) {
      return distinct(this.drawn.map(series => series[key]).filter(name => name));
    }

    addPanel(family, small) {
      const panel = make("div", {className: "panel"}), box = make("div", {className: "canvas"});
      const canvas = make("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", family ? `${family}. ${this.name}` : this.name);
      if (family && this.spec.panels) panel.append(make("p", {className: "panel-title", textContent: family}));
      box.append(canvas);
      panel.append(box);
      this.grid.append(panel);
      const series = this.spec.series.filter(one => !family || !one.family || one.family === family);
      this.panels.set(family, {panel, canvas, series, small});
    }

    // Draws what is seen for the first time, and hides panels of which nothing is shown.
    update() {
      let shown = 0;
      for (const entry of this.panels.values()) {
        const seen = this.panels.size === 1 || entry.series.some(one => one.visible && one.mark !== "ideal");
        entry.panel.hidden = !seen;
        if (!seen) continue;
        ++shown;
        entry.chart ??= makeChart(entry.canvas, this.spec, entry.series, entry.small);
        entry.series.forEach((one, i) => entry.chart.setDatasetVisibility(i, one.visible));
        entry.chart.update();
      }
      this.grid.classList.toggle("several", shown > 1);
      this.resize();
    }

    get charts() {
      return [...this.panels.values()].map(entry => entry.chart).filter(chart => chart);
    }

    resize() {
      for (const chart of this.charts) chart.resize();
    }

    // Buttons that show and hide all series of a name. What is hidden at first waits behind a button of its own.
    addFilter(key, coloured) {
      const names = this.distinctOf(key);
      if (names.length < 2) return;
      const other = key === "family" ? "group" : "family";
      const list = make("ul", {className: "chips"}), rest = [];
      list.setAttribute("aria-label", key === "family" ? "Networks; press to show or hide" : "Series; press to show or hide");
      const buttons = new Map();
      for (const name of names) {
        const series = this.drawn.filter(one => one[key] === name);
        const button = make("button", {type: "button"});
        if (coloured) button.innerHTML = swatch(series.find(one => one.shown) ?? series[0]);
        button.append(make("span", {textContent: name}));
        button.addEventListener("click", () => {
          const on = !series.some(one => one.visible);
          const seen = new Set(this.drawn.filter(one => one.visible).map(one => one[other]));
          // Only what fits the other filter, unless that would show nothing.
          const fitting = series.filter(one => !this.spec.panels || seen.has(one[other]));
          for (const one of on && fitting.length ? fitting : series) one.visible = on;
          this.update();
          this.press();
        });
        if (coloured) {
          const focus = group => this.charts.forEach(chart => focusOn(chart, group));
          button.addEventListener("pointerenter", () => focus(series[0].group));
          button.addEventListener("pointerleave", () => focus(null));
        }
        const item = make("li");
        item.append(button);
        list.append(item);
        buttons.set(button, series);
        if (!series.some(one => one.shown)) rest.push(item);
      }
      if (rest.length > 1) this.foldAway(list, rest);
      (this.pressed ??= []).push(buttons);
      this.press();
      this.filters.append(list);
    }

    press() {
      for (const buttons of this.pressed)
        buttons.forEach((series, button) => button.setAttribute("aria-pressed", series.some(one => one.visible)));
    }

    foldAway(list, rest) {
      for (const item of rest) item.hidden = true;
      const item = make("li");
      const more = make("button", {type: "button", className: "more", textContent: `${rest.length} more`});
      more.addEventListener("click", () => {
        for (const one of rest) one.hidden = false;
        item.remove();
        rest[0].firstChild.focus();
      });
      item.append(more);
      list.append(item);
    }

    addKey() {
      const marks = ["measured", "emulated", "simulated", "published"]
        .filter(mark => this.drawn.some(series => series.mark === mark));
      if (marks.length < 2) return;
      const key = make("p", {className: "key"});
      for (const mark of marks) {
        const entry = make("span", {innerHTML: swatch({mark, dash: 0, line: mark === "simulated"})});
        entry.append(mark);
        key.append(entry);
      }
      this.filters.append(key);
    }
  }

  // Marks of the legend, drawn as in the chart.
  function swatch(series) {
    const shapes = {
      measured: '<circle cx="12" cy="7" r="4.5"/>',
      emulated: '<path d="M12 2 17 11H7z"/>',
      simulated: '<circle cx="12" cy="7" r="2"/>',
      published: '<path d="M12 2v10M7 7h10M8.5 3.5l7 7M15.5 3.5l-7 7" stroke-width="1.6"/>',
      ideal: "",
    };
    const dash = dashes[series.dash].join(" ");
    const line = series.line ? `<path d="M0 7H24" stroke-width="2" stroke-dasharray="${dash}"/>` : "";
    const colours = series.light ? `class="coloured" style="--light: ${series.light}; --dark: ${series.dark}"` : "";
    return `<svg width="24" height="14" aria-hidden="true" fill="currentColor" stroke="currentColor" ${colours}>` +
      line + shapes[series.mark] + "</svg>";
  }

  // A hidden canvas has no size, so that a chart is drawn when it is first seen.
  const drawn = new Map();
  function show(element) {
    if (!drawn.has(element)) drawn.set(element, new Figure(element));
    else drawn.get(element).resize();
  }
  const allCharts = () => [...drawn.values()].flatMap(one => one.charts);

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

  // Tables. A cell counts with its first number, in the unit behind it.

  const units = {us: 1e-6, ms: 1e-3, min: 60, h: 3600, d: 86400, k: 1e3, M: 1e6, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3};
  function valueOf(text) {
    const [, number, unit] = text.match(/^\D{0,2}?([-+]?\d[\d.]*(?:e[-+]?\d+)?)\s*([a-zA-Z]*)/) ?? [];
    return number === undefined ? null : Number(number) * (units[unit] ?? 1);
  }

  // Cells without a value stay at the end.
  function compare(a, b, numeric, sign) {
    const [x, y] = numeric ? [valueOf(a), valueOf(b)] : [a, b];
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (numeric ? x - y : x.localeCompare(y, "en", {numeric: true}));
  }

  function sort(table, column, heading) {
    const numeric = heading.classList.contains("number");
    const before = heading.getAttribute("aria-sort");
    const next = before === null ? (numeric ? "descending" : "ascending") : before === "ascending" ? "descending" : "ascending";
    table.querySelectorAll("th[aria-sort]").forEach(other => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", next);
    for (const body of table.tBodies) {
      const rows = [...body.rows].filter(row => !row.classList.contains("group"));
      const text = row => row.cells[column].textContent;
      rows.sort((a, b) => compare(text(a), text(b), numeric, next === "ascending" ? 1 : -1));
      body.append(...rows);
    }
  }

  function makeSortable(table) {
    if (table.classList.contains("map") || table.rows.length < 3) return;
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = make("button", {type: "button", title: "sort", textContent: heading.textContent});
      button.addEventListener("click", () => sort(table, column, heading));
      heading.replaceChildren(button);
    });
  }

  root.classList.add("scripted");
  document.querySelectorAll("table").forEach(makeSortable);
  const figures = [...document.querySelectorAll("figure.chart")];
  if (!figures.length) return;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  document.querySelectorAll("[role=tablist]").forEach(makeTabs);
  figures.filter(element => !element.classList.contains("unselected")).forEach(show);
  document.addEventListener("pointerout", event => {
    if (event.target instanceof HTMLCanvasElement) allCharts().forEach(chart => focusOn(chart, null));
  });
  const recolourAll = () => allCharts().forEach(recolour);
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

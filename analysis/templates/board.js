"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const tables = [...document.querySelectorAll("table.board")];
  const bodies = [...document.querySelectorAll("table.board > tbody")];
  const HEADERS = [...tables[0]?.querySelectorAll("thead th") ?? []].map((th) => th.textContent);
  const LARGE_FIRST = new Set(["headline", "all", "gain", "same", "different", "published", "auc", "best", "year", "params"]);
  for (const body of bodies) body.sortKeys = JSON.parse(body.dataset.keys);

  // -- elements: text is always set as text, so a model's name can't be markup
  const SVG = document.getElementById("ns").namespaceURI;
  const make = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "path", "line", "rect", "text", "circle", "title", "g"].includes(tag);
    const node = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const signed = (x) => (x === null ? "–" : x.toFixed(3).replace("-", "−"));

  // -- sorting: rows without a value stay last, whichever way; equal rows keep their order
  const compare = (key, sign) => (a, b) => {
    const [x, y] = [a.sortKeys[key], b.sortKeys[key]];
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (typeof x === "string" ? x.localeCompare(y) : x - y);
  };
  const sort = (table, key, direction) => {
    const rows = [...table.tBodies].sort(compare(key, direction === "ascending" ? 1 : -1));
    const parts = document.createDocumentFragment();
    parts.append(...rows);
    table.append(parts);
    for (const th of table.tHead.rows[0].cells) {
      if (th.dataset.key === key) th.setAttribute("aria-sort", direction);
      else th.removeAttribute("aria-sort");
    }
  };
  for (const table of tables) {
    table.tHead.addEventListener("click", (event) => {
      const th = event.target.closest("th");
      if (!th) return;
      const now = th.getAttribute("aria-sort");
      const first = LARGE_FIRST.has(th.dataset.key) ? "descending" : "ascending";
      const other = { ascending: "descending", descending: "ascending" };
      sort(table, th.dataset.key, now ? other[now] : first);
    });
  }
  document.getElementById("sortby").addEventListener("change", (event) => {
    const key = event.target.value;
    for (const table of tables) sort(table, key, LARGE_FIRST.has(key) ? "descending" : "ascending");
  });

  // -- filtering: ranks stay those of the whole table
  const fields = ["find", "family", "objective", "readout"].map((id) => document.getElementById(id) ?? { value: "", addEventListener() {} });
  const filter = () => {
    const [find, family, objective, readout] = fields.map((field) => field.value);
    const words = find.toLowerCase();
    let shown = 0;
    for (const body of bodies) {
      const name = body.querySelector(".open").textContent.toLowerCase();
      const fits = name.includes(words) && (!family || body.dataset.family === family)
        && (!objective || body.dataset.objective === objective) && (!readout || body.dataset.readout === readout);
      body.hidden = !fits;
      shown += fits;
    }
    for (const section of document.querySelectorAll("main > section:has(table.board)")) {
      section.hidden = !section.querySelector("tbody:not([hidden])");
    }
    const all = shown === bodies.length;
    document.getElementById("count").textContent = all ? `${shown} rows` : `${shown} of ${bodies.length} rows; ranks are those of the whole table`;
  };
  for (const field of fields) field.addEventListener("input", filter);
  filter();

  // -- a row opens to its layers, examples and provenance
  const drawCurve = (entry) => {
    // a point is [layer, representation, r, low, high]
    const points = entry.layers.filter((point) => point[2] !== null);
    const layers = [...new Set(points.map((p) => p[0]))].sort((a, b) => a - b || String(a).localeCompare(b));
    const [W, H, L, R, T, B] = [420, 190, 40, 10, 12, 34];
    const values = points.flatMap((p) => [p[2], p[3] ?? p[2], p[4] ?? p[2]]).concat(entry.ceiling.filter((v) => v !== null), [0]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const x = (p) => L + ((W - L - R) * (layers.indexOf(p[0]) + 0.5)) / layers.length;
    const y = (v) => T + ((H - T - B) * (high - v)) / (high - low || 1);
    const name = (p) => `layer ${p[0] || "only"} ${p[1]}`.trim();
    const label = `Headline r by layer: ${points.map((p) => `${name(p)} ${signed(p[2])}`).join(", ")}`;
    const svg = make("svg", { class: "curve", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label });
    const [c0, c1] = entry.ceiling;
    if (c0 !== null && c1 !== null) {
      svg.append(make("rect", { x: L, width: W - L - R, y: y(Math.max(c0, c1)), height: Math.abs(y(c0) - y(c1)), fill: "var(--band)" }));
      svg.append(make("text", { x: W - R - 4, y: y(Math.max(c0, c1)) + 11, "text-anchor": "end" }, "ceiling"));
    }
    for (const v of [low, 0, high].filter((v, k, all) => all.indexOf(v) === k && (v === 0 || Math.abs(y(v) - y(0)) > 9))) {
      svg.append(make("text", { x: L - 5, y: y(v) + 3, "text-anchor": "end" }, v.toFixed(2).replace("-", "−")));
    }
    svg.append(make("line", { x1: L, x2: W - R, y1: y(0), y2: y(0), stroke: "var(--soft)", "stroke-width": 1 }));
    for (const representation of new Set(points.map((p) => p[1]))) {
      const own = representation === entry.representation;
      const line = points.filter((p) => p[1] === representation).sort((p, q) => layers.indexOf(p[0]) - layers.indexOf(q[0]));
      svg.append(make("path", { d: line.map((p, k) => `${k ? "L" : "M"}${x(p)} ${y(p[2])}`).join(""), fill: "none", stroke: "var(--link)", "stroke-width": 1.5, "stroke-dasharray": own ? "none" : "4 3" }));
      for (const p of line) {
        if (p[3] !== null && p[4] !== null) svg.append(make("line", { x1: x(p), x2: x(p), y1: y(p[3]), y2: y(p[4]), stroke: "var(--link)", "stroke-width": 1, opacity: 0.6 }));
        svg.append(make("circle", { cx: x(p), cy: y(p[2]), r: 3, stroke: "var(--link)", fill: own ? "var(--link)" : "var(--paper)" }, make("title", {}, `${name(p)}: ${signed(p[2])}`)));
      }
    }
    const step = Math.ceil(layers.length / 16);
    layers.forEach((layer, k) => {
      if (k % step === 0) svg.append(make("text", { x: x([layer]), y: H - B + 14, "text-anchor": "middle" }, String(layer)));
    });
    const others = new Set(points.map((p) => p[1])).size > 1 ? "; filled: this row's representation" : "";
    svg.append(make("text", { x: (L + W - R) / 2, y: H - 4, "text-anchor": "middle" }, layers.length > 1 ? `layer${others}` : "the one layer that was evaluated"));
    return svg;
  };
  const meter = (name, percent) => [make("span", {}, name), make("i", { style: `--p:${percent}%`, role: "img", "aria-label": `harder than ${percent} % of trials` })];
  const card = ([id, percent]) => {
    const trial = data.trials[id];
    const picture = trial.image ? make("img", { src: trial.image, alt: `display ${id}, ${trial.condition}`, loading: "lazy" }) : make("div", { class: "blank" }, "no photograph here");
    return make("li", {}, picture, make("div", {}, `${trial.condition}, people ${trial.rt_ms} ms`),
      make("div", { class: "meter" }, ...meter("model", percent), ...meter("people", trial.people)));
  };
  const facts = (pairs) => make("dl", {}, ...pairs.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
  const fill = (body) => {
    const entry = data.entries[body.id];
    const cells = [...body.rows[0].cells].map((cell, k) => [HEADERS[k], cell]).filter(([, cell]) => !/c-(rank|model)/.test(cell.className));
    const values = cells.map(([name, cell]) => [name, (cell.querySelector(".num")?.textContent ?? cell.textContent) + (cell.querySelector(".ci-text") ? ` (${cell.querySelector(".ci-text").textContent})` : "")]);
    const left = make("div", {}, make("h3", {}, "By layer"));
    left.append(entry.layers.some((p) => p[2] !== null) ? drawCurve(entry) : make("p", {}, "no headline value in any layer"));
    left.append(make("p", {}, entry.adds), make("h3", {}, "Its values"), facts([["n", entry.n], ["Share", `${entry.share} attainable`], ...values]));
    const right = make("div", {});
    if (entry.examples) {
      for (const [side, title] of [["hard", "Hardest for it"], ["easy", "Easiest for it"]]) {
        right.append(make("h3", {}, title), make("ul", { class: "cards" }, ...entry.examples[side].map(card)));
      }
      right.append(make("p", {}, "Bars: share of trials that are no harder, for the model and for people's reaction time."));
    } else right.append(make("p", {}, "No example trials: its readouts, or the benchmark, were not given to 'objecthood leaderboard'."));
    right.append(make("h3", {}, "Where it comes from"), facts(Object.entries(entry.facts)));
    body.querySelector(".more > td").append(make("div", { class: "panel" }, left, right));
  };
  for (const table of tables) {
    table.addEventListener("click", (event) => {
      const row = event.target.closest("tbody > tr:first-child");
      if (!row || String(getSelection())) return;
      const body = row.parentElement;
      const more = body.querySelector(".more");
      if (!more.querySelector(".panel")) fill(body);
      more.hidden = !more.hidden;
      body.querySelector(".open").setAttribute("aria-expanded", String(!more.hidden));
    });
  }
})();

// The report of hermes lint. Everything that a client or an agent said is data here: it
// comes from JSON and becomes text, never markup or code.
"use strict";

const byId = (id) => document.getElementById(id);
const list = byId("list"), space = byId("space"), rowsBox = byId("rows");
const height = 26; // of a line, in pixels, as in the style sheet
const laneCount = 8; // later sessions share the last lane
const shownFindings = 20; // of each rule, until the user asks for all
const severities = ["error", "warn", "info"];
const words = { error: "error", warn: "warning", info: "remark" };

// What the page is about.
const captures = [...document.querySelectorAll("script.capture")].map((e) => JSON.parse(e.textContent));
let capture, rows, findings; // of the capture that is shown

// What the user sees of it.
let closed; // by row: its group is folded
let visible = []; // numbers of rows, and -1-f for finding f
let selected = 0; // a position in visible
let filter = null; // null shows the tree

function el(name, className, text) {
  const e = document.createElement(name);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

function plural(n, word) {
  return n.toLocaleString("en") + " " + word + (n === 1 ? "" : "s");
}

function duration(ms) {
  if (ms < 1) return ms.toFixed(2) + " ms";
  if (ms < 1000) return Math.round(ms) + " ms";
  if (ms < 100000) return (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + " s";
  return Math.floor(ms / 60000) + " min " + Math.round((ms % 60000) / 1000) + " s";
}

function since(ms) {
  return ms < 0 ? "" : (ms / 1000).toFixed(3);
}

// prepare works out what the data does not say: the findings of each row, and what each
// group holds.
function prepare(c) {
  if (c.findings) return;
  c.findings = [];
  c.rows.unshift(null); // rows count from 1
  const byNumber = new Map(), byLine = new Map();
  for (let r = 1; r < c.rows.length; r++) {
    const row = c.rows[r];
    row.findings = [];
    row.inside = 0;
    row.found = { error: 0, warn: 0, info: 0 };
    row.depth = row.p ? c.rows[row.p].depth + 1 : 0;
    if (row.n) byNumber.set(row.n, r);
    if (row.l) byLine.set(row.l, r);
  }
  for (const rule of c.rules) {
    for (const f of rule.findings) {
      f.index = c.findings.length;
      f.of = rule;
      f.row = (f.message ? byNumber.get(f.message) : byLine.get(f.line)) || 0;
      c.findings.push(f);
      if (f.row) c.rows[f.row].findings.push(f);
    }
  }
  c.byNumber = byNumber;
  c.turns = c.sessions.slice(0, laneCount).map(() => []); // of the lanes
  c.lives = c.turns.map(() => ({ first: Infinity, last: 0 }));
  for (let r = 1; r < c.rows.length; r++) {
    const row = c.rows[r];
    for (let p = row.p; p; p = c.rows[p].p) {
      c.rows[p].inside++;
      c.rows[p].last = r;
      for (const f of row.findings) c.rows[p].found[f.severity]++;
    }
    const lane = Math.min(row.s || 0, laneCount) - 1;
    if (lane >= 0) {
      c.lives[lane].first = Math.min(c.lives[lane].first, r);
      c.lives[lane].last = r;
    }
  }
  for (let r = 1; r < c.rows.length; r++) {
    const row = c.rows[r];
    if (row.g === "turn" && row.s) c.turns[Math.min(row.s, laneCount) - 1].push([r, row.last || r]);
  }
}

// show switches to a capture.
function show(index) {
  capture = captures[index];
  prepare(capture);
  rows = capture.rows;
  findings = capture.findings;
  byId("capture").value = String(index);
  document.title = capture.name + " · hermes lint";
  closed = new Uint8Array(rows.length);
  const small = rows.length <= 300; // turns of a short conversation are open
  for (let r = 1; r < rows.length; r++) if (rows[r].g && !(small && rows[r].g === "turn")) closed[r] = 1;
  summarize();
  choices();
  drawLanes();
  listFindings();
  resetFilter();
  filter = null;
  selected = 0;
  rebuild();
  showTab(findings.length ? "findings" : "message");
  showMessage(visible[0]);
}

function summarize() {
  const box = byId("summary");
  box.replaceChildren();
  const c = capture;
  const add = (kind, text) => box.append(el("span", "badge " + kind, text));
  add("plain", plural(c.messages, "message"));
  for (const [kind, n] of [["error", c.errors], ["warn", c.warnings], ["info", c.infos]]) {
    if (n) add(kind, plural(n, words[kind]));
  }
  if (!c.errors && !c.warnings && !c.infos) add("plain", "no findings");
  add("plain", "rules: " + c.passed + " passed, " + c.failed + " failed, " + c.unexercised + " not exercised");
  if (c.accepted) add("plain", plural(c.accepted, "finding") + " accepted");
  if (c.skipped) add("plain", plural(c.skipped, "line") + " left out: nothing says who sent them");
  if (c.dropped) add("warn", "only the first " + plural(c.rows.length - 1, "line") + " are shown, " + c.dropped.toLocaleString("en") + " more were judged");
  if (c.unversioned) add("plain", "the version of the protocol is not known");
}

function options(select, all, values) {
  select.replaceChildren(new Option(all, ""));
  for (const [value, text] of values) select.append(new Option(text, value));
  select.hidden = values.length === 0;
}

function choices() {
  options(byId("session"), "All sessions", capture.sessions.map((s, i) => [String(i + 1), "Session " + (i + 1) + " · " + s.id]));
  const methods = new Map();
  for (let r = 1; r < rows.length; r++) {
    const name = nameOf(rows[r]);
    methods.set(name, (methods.get(name) || 0) + 1);
  }
  options(byId("method"), "All methods", [...methods].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([m, n]) => [m, m + " (" + n + ")"]));
  options(byId("rule"), "All rules", capture.rules.map((r) => [r.id, r.id + " (" + r.count + ")"]));
}

const kinds = { text: "not a message", stderr: "standard error", end: "end", begin: "beginning", http: "HTTP", batch: "batch", malformed: "malformed message" };

// nameOf is what a row is called: a method, an update or a kind.
function nameOf(row) {
  return row.u || row.m || kinds[row.k] || "answer to an unknown request";
}

// The lanes.

const edge = 26, laneWidth = 24;

function laneX(s) {
  return edge + laneWidth * Math.min(s, laneCount) + 6;
}

function lanesUsed() {
  return Math.min(capture.sessions.length, laneCount);
}

function diagramWidth() {
  return edge * 2 + 12 + laneWidth * (lanesUsed() + 1);
}

function colour(s) {
  return "var(--s" + ((Math.min(s, laneCount) - 1) % 8) + ")";
}

function drawLanes() {
  const box = byId("lanes");
  box.replaceChildren();
  const narrow = matchMedia("(max-width: 900px)").matches;
  const left = narrow ? 58 : 136;
  const lane = (x, text, tip) => {
    const e = el("span", "lane", text);
    e.style.left = left + x + "px";
    if (tip) e.title = tip;
    box.append(e);
    return e;
  };
  lane(edge, "client");
  for (let s = 1; s <= lanesUsed(); s++) {
    const more = s === laneCount && capture.sessions.length > laneCount;
    const e = lane(laneX(s), more ? s + "+" : String(s), more ? "the other sessions" : "session " + capture.sessions[s - 1].id);
    e.style.color = colour(s);
    e.style.fontWeight = "700";
  }
  lane(diagramWidth() - edge, "agent");
}

// inTurn reports whether the last turn that began in a lane lasts at a row.
function inTurn(s, r) {
  const turns = capture.turns[s - 1]; // by their first rows
  let low = 0, high = turns.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (turns[mid][0] <= r) low = mid + 1;
    else high = mid;
  }
  return low > 0 && turns[low - 1][1] >= r;
}

function drawDiagram(r, arrow) {
  const box = el("div", "diagram"), width = diagramWidth();
  box.style.width = width + "px";
  const at = (className, x, paint) => {
    const e = el("i", className);
    e.style.left = x + "px";
    if (paint) e.style.background = paint;
    box.append(e);
    return e;
  };
  at("post", edge);
  at("post", width - edge);
  for (let s = 1; s <= lanesUsed(); s++) {
    const { first, last } = capture.lives[s - 1];
    if (r < first || r > last) continue;
    at("life", laneX(s), colour(s));
    if (inTurn(s, r)) at("turn", laneX(s), colour(s));
  }
  const row = rows[r];
  if (arrow && (row.d === "client" || row.d === "agent") && !["stderr", "end", "begin"].includes(row.k)) {
    at("arrow " + row.d + (row.k === "answer" ? " answer" : ""), edge + 2).style.width = width - 2 * edge - 4 + "px";
  }
  if (arrow && row.s) at("dot", laneX(row.s), colour(row.s));
  return box;
}

// The list. Only the lines on the screen are in the document.

function rebuild(keep) {
  visible = [];
  if (filter) {
    for (let r = 1; r < rows.length; r++) {
      if (!filter(rows[r])) continue;
      visible.push(r);
      for (const f of rows[r].findings) if (!rule.value || f.rule === rule.value) visible.push(-1 - f.index);
    }
  } else {
    const hidden = new Uint8Array(rows.length);
    for (let r = 1; r < rows.length; r++) {
      const p = rows[r].p;
      if (p && (hidden[p] || closed[p])) {
        hidden[r] = 1;
        continue;
      }
      visible.push(r);
      for (const f of rows[r].findings) visible.push(-1 - f.index);
    }
  }
  if (keep !== undefined) selected = Math.max(0, position(keep));
  selected = Math.min(selected, Math.max(0, visible.length - 1));
  space.style.height = visible.length * height + "px";
  let shown = 0;
  for (const v of visible) if (v > 0) shown++;
  byId("count").textContent = filter ? shown.toLocaleString("en") + " of " + plural(rows.length - 1, "line") : plural(rows.length - 1, "line");
  byId("fold").textContent = closed.includes(1) ? "Open all" : "Close all";
  draw();
}

// position finds what was shown, or what folds it.
function position(v) {
  for (let at = v; ; ) {
    const found = visible.indexOf(at);
    if (found >= 0) return found;
    const r = at < 0 ? findings[-1 - at].row : rows[at].p;
    if (!r) return -1;
    at = r;
  }
}

function draw() {
  const from = Math.max(0, Math.floor(list.scrollTop / height) - 6);
  const to = Math.min(visible.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + 6);
  const lines = [];
  for (let i = from; i < to; i++) lines.push(line(i));
  if (visible.length === 0) lines.push(el("div", "empty", filter ? "Nothing matches the filter." : "The capture is empty."));
  rowsBox.style.transform = "translateY(" + from * height + "px)";
  rowsBox.replaceChildren(...lines);
  if (visible.length) list.setAttribute("aria-activedescendant", "line" + selected);
  else list.removeAttribute("aria-activedescendant");
}

let drawing = false;
list.addEventListener("scroll", () => {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    draw();
  });
});

// line is one line of the list.
function line(i) {
  const v = visible[i];
  const e = v < 0 ? findingLine(findings[-1 - v]) : messageLine(v);
  e.id = "line" + i;
  e.dataset.at = i;
  e.setAttribute("role", "treeitem");
  e.setAttribute("aria-selected", i === selected);
  if (i === selected) e.classList.add("selected");
  return e;
}

function messageLine(r) {
  const row = rows[r];
  const e = el("div", "row " + row.k + (row.k === "notification" ? " quiet" : ""));
  const now = visible[selected];
  if (now > 0 && row.a && row.a === now) e.classList.add("joined");
  e.append(el("span", "cell-n", row.n ? String(row.n) : ""), el("span", "cell-t", since(row.t)), drawDiagram(r, true));
  const label = el("span", "label");
  const depth = filter ? 0 : row.depth;
  label.style.paddingLeft = 8 + depth * 18 + "px";
  e.setAttribute("aria-level", depth + 1);
  if (row.g && !filter) {
    const twist = el("span", "twist", closed[r] ? "▸" : "▾");
    twist.dataset.twist = r;
    label.append(twist);
    e.setAttribute("aria-expanded", !closed[r]);
  }
  const name = el("span", "name" + (row.e || row.k === "text" || row.k === "malformed" ? " bad" : ""), (row.k === "answer" ? "↩ " : "") + nameOf(row));
  label.append(name);
  if (row.b) label.append(el("span", row.k === "answer" && row.e ? "brief bad" : "brief", row.b));
  else if (!row.m && row.x) label.append(el("span", "brief mono", row.x.slice(0, 200)));
  label.title = row.b || "";
  e.append(label);
  if (row.g && closed[r] && !filter) {
    for (const s of severities) if (row.found[s]) e.append(el("span", "badge " + s, plural(row.found[s], words[s])));
  }
  if (row.g && !filter) e.append(el("span", "badge plain", row.g === "turn" ? "turn, " + plural(row.inside, "message") : "+" + row.inside));
  if (row.k === "request" && !row.a) e.append(el("span", "badge plain", "no answer"));
  e.append(el("span", "wait", row.w ? duration(row.w) : ""));
  return e;
}

function findingLine(f) {
  const e = el("div", "row finding " + f.severity);
  e.append(el("span", "cell-n"), el("span", "cell-t"), drawDiagram(f.row, false));
  const label = el("span", "label");
  label.style.paddingLeft = 8 + (filter ? 0 : (rows[f.row].depth + 1) * 18) + "px";
  label.append(el("span", "id", words[f.severity] + " " + f.rule), el("span", "brief", f.text));
  label.title = f.text;
  e.append(label);
  return e;
}

function select(i, quiet) {
  if (!visible.length) return;
  selected = Math.max(0, Math.min(i, visible.length - 1));
  const top = selected * height;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + height > list.scrollTop + list.clientHeight) list.scrollTop = top + height - list.clientHeight;
  draw();
  showMessage(visible[selected]);
  if (!quiet) showTab("message");
}

function fold(r, shut) {
  if (!rows[r].g || filter) return;
  closed[r] = shut ? 1 : 0;
  rebuild(visible[selected]);
}

// jump selects a row or a finding, wherever it is hidden.
function jump(v) {
  const r = v < 0 ? findings[-1 - v].row : v;
  if (!r) return;
  if (filter && !visible.includes(v)) {
    resetFilter();
    filter = null;
  }
  for (let p = rows[r].p; p; p = rows[p].p) closed[p] = 0;
  rebuild(v);
  list.scrollTop = Math.max(0, selected * height - list.clientHeight / 2);
  select(selected);
}

// Links: #m12 is message 12, #l7 line 7, #f3 finding 3, with the number of the capture in
// front unless it is the first: #2-m12.
function hash(text) {
  const index = captures.indexOf(capture);
  return "#" + (index ? index + 1 + "-" : "") + text;
}

function rowHash(r) {
  return hash(rows[r].n ? "m" + rows[r].n : "l" + rows[r].l);
}

function follow(text) {
  const m = /^#(?:(\d+)-)?([mlf])(\d+)$/.exec(text);
  if (!m) return;
  const index = m[1] ? Number(m[1]) - 1 : 0, n = Number(m[3]);
  if (!captures[index]) return;
  if (captures[index] !== capture) show(index);
  if (m[2] === "f" && findings[n]) jump(-1 - n);
  else if (m[2] === "m" && capture.byNumber.has(n)) jump(capture.byNumber.get(n));
  else if (m[2] === "l") jump(rows.findIndex((row) => row && !row.n && row.l === n));
}

function link(target, text) {
  const a = el("a", "", text);
  a.href = target;
  return a;
}

document.addEventListener("click", (event) => {
  const a = event.target.closest("a");
  const target = a && a.getAttribute("href");
  if (!target || !target.startsWith("#")) return;
  event.preventDefault();
  if (location.hash === target) follow(target);
  else location.hash = target; // and hashchange follows it
  list.focus({ preventScroll: true });
});
addEventListener("hashchange", () => follow(location.hash));

// The panel.

function showTab(name) {
  for (const n of ["findings", "message"]) {
    byId(n).hidden = n !== name;
    byId("tab-" + n).setAttribute("aria-selected", n === name);
  }
}
byId("tab-findings").addEventListener("click", () => showTab("findings"));
byId("tab-message").addEventListener("click", () => showTab("message"));

function outside(url, text) {
  const a = el("a", "", text);
  if (url.startsWith("https://")) a.href = url;
  a.target = "_blank";
  a.rel = "noreferrer noopener";
  return a;
}

function where(f) {
  const parts = [f.by];
  if (f.message) parts.push("message " + f.message);
  else if (f.line) parts.push("line " + f.line);
  return parts.join(", ");
}

function listFindings() {
  byId("tab-findings").textContent = "Findings (" + (capture.errors + capture.warnings + capture.infos).toLocaleString("en") + ")";
  const panel = byId("findings");
  panel.replaceChildren();
  if (!capture.rules.length) panel.append(el("p", "dim", "Nothing was found."));
  for (const rule of capture.rules) {
    const box = el("section", "rule " + rule.severity);
    const head = el("h3");
    head.append(el("span", "id", rule.id), el("span", "", " " + rule.summary), el("span", "dim", rule.count > 1 ? " " + plural(rule.count, "time") : ""));
    const why = el("p", "dim", rule.why + " ");
    if (rule.page) why.append(outside(rule.page, "Specification"));
    const items = el("ol");
    const add = (from, to) => {
      for (const f of rule.findings.slice(from, to)) {
        const li = el("li");
        li.append(f.row ? link(hash("f" + f.index), where(f)) : el("span", "dim", where(f)), el("span", "", ": " + f.text));
        items.append(li);
      }
    };
    add(0, shownFindings);
    box.append(head, why, items);
    if (rule.findings.length > shownFindings) {
      const more = el("button", "", "Show " + (rule.findings.length - shownFindings) + " more");
      more.addEventListener("click", () => {
        add(shownFindings);
        more.remove();
      });
      box.append(more);
    }
    if (rule.count > rule.findings.length) box.append(el("p", "dim", plural(rule.count - rule.findings.length, "more finding") + " of this rule were only counted."));
    panel.append(box);
  }
}

function facts(pairs) {
  const dl = el("dl");
  for (const [name, value] of pairs) {
    if (value === "" || value === undefined || value === null) continue;
    const dd = el("dd");
    dd.append(value);
    dl.append(el("dt", "", name), dd);
  }
  return dl;
}

function showMessage(v) {
  const panel = byId("message");
  panel.replaceChildren();
  panel.scrollTop = 0;
  if (!v) return;
  const finding = v < 0 ? findings[-1 - v] : null;
  const r = finding ? finding.row : v;
  const row = rows[r];
  panel.append(el("h2", "", (row.n ? "Message " + row.n + ": " : "") + nameOf(row)));
  const ways = { client: "client → agent", agent: "agent → client" };
  const peer = row.a && link(rowHash(row.a), "message " + rows[row.a].n);
  const answered = row.k === "request" ? "answer" : "request";
  let when = "";
  if (row.t >= 0) when = since(row.t) + " s after the first message";
  const marks = new Map();
  const ordered = finding ? [finding, ...row.findings.filter((f) => f !== finding)] : row.findings;
  for (const f of ordered) {
    if (f.pointer) marks.set(f.pointer, f.rule);
    panel.append(findingBox(f));
  }
  panel.append(facts([
    ["kind", (kinds[row.k] || row.k) + (row.u ? ", " + row.m : "")],
    ["direction", ways[row.d]],
    ["line", row.l ? String(row.l) : ""],
    ["time", when],
    ["id", row.i],
    ["session", row.s ? row.s + " · " + capture.sessions[row.s - 1].id : ""],
    ["folder", row.s && capture.sessions[row.s - 1].cwd],
    [answered, peer || (row.k === "request" ? "none in the capture" : "")],
    [row.g === "turn" ? "turn" : "duration", row.w ? duration(row.w) : ""],
  ]));
  if (row.x) {
    const pre = el("pre");
    if (row.k === "text" || row.k === "stderr") pre.textContent = row.x;
    else pretty(pre, row.x, marks);
    panel.append(pre);
  }
  if (row.c) panel.append(el("p", "dim", plural(row.c, "byte") + " were left out."));
}

function findingBox(f) {
  const box = el("section", "rule " + f.severity);
  const head = el("h3");
  head.append(el("span", "id", words[f.severity] + " " + f.rule), el("span", "", " " + f.of.summary));
  box.append(head, el("p", "", f.text));
  const also = el("span");
  for (const n of f.also || []) {
    const r = capture.byNumber.get(n);
    also.append(r ? link(hash("m" + n), "message " + n) : "message " + n, " ");
  }
  const value = f.quote ? el("code", "", f.quote) : "";
  const page = f.page ? outside(f.page, f.page) : "";
  box.append(facts([["by", f.by], ["at", f.pointer && el("code", "", f.pointer)], ["value", value], ["see", f.also && f.also.length ? also : ""], ["why", f.of.why], ["page", page]]));
  return box;
}

// pretty writes JSON over several lines and marks the values at some pointers. The text
// may end anywhere, and need not be JSON.
function pretty(to, text, marks) {
  const stack = []; // of {list, index, name, mark}
  let target = to, at = 0;
  const write = (className, s) => target.append(className ? el("span", className, s) : s);
  const indent = () => write("", "\n" + "  ".repeat(Math.min(stack.length, 40)));
  const pointer = () => stack.map((s) => "/" + (s.list ? s.index : s.name)).join("");
  const enter = () => {
    if (!marks.size || !marks.has(pointer())) return null;
    const mark = el("mark");
    mark.title = marks.get(pointer());
    const outer = target;
    target.append(mark);
    target = mark;
    return outer;
  };
  const leave = (outer) => {
    if (outer) target = outer;
  };
  const token = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s"{}[\],:]+|\s+/gy;
  let name = false; // the next string is a name
  let m;
  token.lastIndex = 0;
  while ((m = token.exec(text))) {
    const t = m[0], top = stack[stack.length - 1];
    at = token.lastIndex;
    if (/^\s/.test(t)) continue;
    if (t === "{" || t === "[") {
      const outer = enter();
      write("", t);
      const rest = /^\s*[}\]]/.test(text.slice(at, at + 20));
      stack.push({ list: t === "[", index: 0, name: "", outer, blank: rest });
      name = t === "{";
      if (!rest) indent();
    } else if (t === "}" || t === "]") {
      if (top) stack.pop();
      if (top && !top.blank) indent();
      write("", t);
      if (top) leave(top.outer);
      name = false;
    } else if (t === ",") {
      write("", t);
      if (top && top.list) top.index++;
      name = Boolean(top && !top.list);
      indent();
    } else if (t === ":") {
      write("", ": ");
      name = false;
    } else if (name && top && t[0] === '"') {
      top.name = plainName(t);
      write("key", t);
    } else {
      const outer = enter();
      write(t[0] === '"' ? "string" : "number", t);
      leave(outer);
    }
  }
}

// plainName is a member's name as in a JSON pointer.
function plainName(t) {
  let name = t.slice(1, -1);
  try {
    name = JSON.parse(t);
  } catch {
    // as it is written
  }
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

// The filter.

const search = byId("search"), session = byId("session"), method = byId("method"), direction = byId("direction"), rule = byId("rule"), only = byId("only");

function resetFilter() {
  search.value = session.value = method.value = direction.value = rule.value = "";
  only.checked = false;
}

function matcher() {
  const text = search.value.toLowerCase(), s = Number(session.value);
  if (!text && !s && !method.value && !direction.value && !rule.value && !only.checked) return null;
  const [m, d, id, found] = [method.value, direction.value, rule.value, only.checked];
  return (row) => {
    if (s && row.s !== s) return false;
    if (m && nameOf(row) !== m) return false;
    if (d && row.d !== d) return false;
    if (found && !row.findings.length) return false;
    if (id && !row.findings.some((f) => f.rule === id)) return false;
    if (!text) return true;
    if (row.lower === undefined) row.lower = [nameOf(row), row.m, row.b, row.x].join("\n").toLowerCase();
    return row.lower.includes(text) || row.findings.some((f) => (f.rule + " " + f.text).toLowerCase().includes(text));
  };
}

function applyFilter() {
  const now = visible[selected];
  filter = matcher();
  rebuild(now);
  if (!filter) {
    list.scrollTop = Math.max(0, selected * height - list.clientHeight / 2);
    draw();
  }
  showMessage(visible[selected]);
}

let typing = 0;
search.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(applyFilter, rows.length > 5000 ? 200 : 30);
});
for (const e of [session, method, direction, rule, only]) e.addEventListener("change", applyFilter);
byId("filter").addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typing);
  applyFilter();
  list.focus();
});
function clearFilter() {
  resetFilter();
  applyFilter();
}
byId("clear").addEventListener("click", clearFilter);

// Mouse and keys.

rowsBox.addEventListener("click", (event) => {
  const e = event.target.closest(".row");
  if (!e) return;
  const twist = event.target.closest("[data-twist]");
  select(Number(e.dataset.at));
  if (twist) fold(Number(twist.dataset.twist), !closed[twist.dataset.twist]);
});
rowsBox.addEventListener("dblclick", (event) => {
  const e = event.target.closest(".row");
  const v = e && visible[Number(e.dataset.at)];
  if (v > 0 && !event.target.closest("[data-twist]")) fold(v, !closed[v]);
});

function foldAll() {
  const shut = closed.includes(1) ? 0 : 1;
  for (let r = 1; r < rows.length; r++) if (rows[r].g) closed[r] = shut;
  const now = visible[selected];
  if (filter) return;
  rebuild(now);
  select(selected, true);
}
byId("fold").addEventListener("click", foldAll);

function nextFinding(step) {
  const now = visible[selected];
  const here = now < 0 ? findings[-1 - now].row : now;
  const order = findings.filter((f) => f.row).sort((a, b) => a.row - b.row || a.index - b.index);
  if (!order.length) return;
  let i;
  if (now < 0) i = order.indexOf(findings[-1 - now]) + step;
  else {
    i = order.findIndex((f) => f.row >= here);
    if (i < 0) i = order.length;
    if (step < 0) i--;
  }
  jump(-1 - order[(i + order.length) % order.length].index);
}

function otherHalf() {
  const v = visible[selected];
  if (v > 0 && rows[v].a) jump(rows[v].a);
}

function moveKeys(key) {
  const v = visible[selected], page = Math.max(1, Math.floor(list.clientHeight / height) - 1);
  switch (key) {
    case "ArrowDown": case "j": return select(selected + 1);
    case "ArrowUp": case "k": return select(selected - 1);
    case "PageDown": return select(selected + page);
    case "PageUp": return select(selected - page);
    case "Home": return select(0);
    case "End": return select(visible.length - 1);
    case "ArrowRight": case "l":
      if (v > 0 && rows[v].g && closed[v]) fold(v, false);
      return;
    case "ArrowLeft": case "h":
      if (v > 0 && rows[v].g && !closed[v] && !filter) fold(v, true);
      else if (!filter && (v < 0 || rows[v].p)) jump(v < 0 ? findings[-1 - v].row : rows[v].p);
      return;
    case "Enter": case " ":
      if (v > 0 && rows[v].g) fold(v, !closed[v]);
      return;
    default: return false;
  }
}

function anyKeys(key) {
  switch (key) {
    case "/": search.focus(); search.select(); return;
    case "n": return nextFinding(1);
    case "N": return nextFinding(-1);
    case "r": return otherHalf();
    case "e": return foldAll();
    case "f": only.checked = !only.checked; return applyFilter();
    case "?": return byId("help").showModal();
    case "Escape": return clearFilter();
    default: return false;
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const typingNow = event.target.matches("input[type=search], select");
  if (typingNow && event.key !== "Escape") return;
  if (typingNow) {
    clearFilter();
    list.focus();
    event.preventDefault();
    return;
  }
  if (event.target === list || event.target === document.body) {
    if (moveKeys(event.key) !== false) return event.preventDefault();
  }
  if (anyKeys(event.key) !== false) event.preventDefault();
});
byId("keys").addEventListener("click", () => byId("help").showModal());
byId("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
addEventListener("resize", () => {
  drawLanes();
  draw();
});

const chooser = byId("capture");
captures.forEach((c, i) => chooser.append(new Option(c.name, String(i))));
chooser.disabled = captures.length < 2;
chooser.classList.toggle("alone", captures.length < 2);
chooser.addEventListener("change", () => show(Number(chooser.value)));
if (captures.length) {
  show(0);
  follow(location.hash);
}
list.focus({ preventScroll: true });

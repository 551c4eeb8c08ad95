// node compare.mjs SDK-FOLDER FILE...
// Decodes each mutant with the validators of the TypeScript SDK and prints the
// classes of cases in which it decides, or encodes, differently from Go.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const [sdk, ...files] = process.argv.slice(2);
const modules = {
  v1: "dist/v1/schema/zod.gen.js",
  unstable: "dist/v1/unstable/schema/zod.gen.js",
  v2: "dist/v2/schema/zod.gen.js",
  "v2/unstable": "dist/v2/unstable/schema/zod.gen.js",
};
const zod = {};
for (const [edition, file] of Object.entries(modules)) {
  zod[edition] = await import(pathToFileURL(path.join(sdk, file)));
}

// plain is a value as JSON would carry it: members that are undefined are
// absent, big integers numbers.
function plain(v) {
  if (typeof v === "bigint") return Number(v);
  if (Array.isArray(v)) return v.map(plain);
  if (v === null || typeof v !== "object") return v;
  return Object.fromEntries(Object.entries(v).filter(([, x]) => x !== undefined).map(([k, x]) => [k, plain(x)]));
}

const isObject = (v) => v !== null && typeof v === "object" && !Array.isArray(v);

// isDefault says that a value is what its absence means as well.
function isDefault(v, name) {
  if (isObject(v)) return Object.entries(v).every(([k, x]) => isDefault(x, k));
  return v === null || v === false || (Array.isArray(v) && v.length === 0) || (name === "type" && v === "object");
}

// difference says how two values first differ, without the names of places
// where they do not matter. kind is the mutation.
function difference(ts, go, kind, name) {
  if (Array.isArray(ts) && Array.isArray(go)) {
    if (ts.length !== go.length) return `${name} has ${ts.length > go.length ? "fewer" : "more"} elements in Go (${kind})`;
    for (let i = 0; i < ts.length; i++) {
      const d = difference(ts[i], go[i], kind, name);
      if (d) return d;
    }
    return null;
  }
  if (isObject(ts) && isObject(go)) {
    for (const k of new Set([...Object.keys(ts), ...Object.keys(go)])) {
      if (!(k in go)) {
        if (ts[k] === null) return "TypeScript writes null, Go leaves the member out";
        return isDefault(ts[k], k) ? "TypeScript writes the default, Go leaves the member out" : `only TypeScript writes ${k} (${kind})`;
      }
      if (!(k in ts)) {
        const added = /^x[_-]/.test(k) || /^[A-Z]/.test(k) || kind === "member more";
        return added ? "only Go keeps a member that is not declared" : `only Go writes ${k} (${kind})`;
      }
      const d = difference(ts[k], go[k], kind, k);
      if (d) return d;
    }
    return null;
  }
  if (Object.is(ts, go) || (ts === 0 && go === 0)) return null;
  return kind === "half a character" ? "half a character: TypeScript keeps it, Go writes U+FFFD" : `another value of ${name} (${kind})`;
}

const count = { total: 0, same: 0, noParser: 0 };
const classes = new Map();
function note(name, m, why) {
  const c = classes.get(name) ?? { n: 0, definitions: new Set(), example: "" };
  c.n++;
  c.definitions.add(m.Definition);
  c.example ||= `${m.Edition} ${m.Definition} ${m.text.slice(0, 200)}\n      ${why}`;
  classes.set(name, c);
}

for (const file of files) {
  for await (const line of readline.createInterface({ input: fs.createReadStream(file) })) {
    const m = JSON.parse(line);
    m.text = Buffer.from(m.Text, "base64").toString("utf8");
    const parser = zod[m.Edition]["z" + m.Definition];
    if (!parser) {
      count.noParser++;
      continue;
    }
    count.total++;
    const value = JSON.parse(m.text);
    const ts = parser.safeParse(value);
    const accepted = m.Out !== null;
    if (ts.success && !accepted) {
      note(`only Go refuses: ${m.Failure.replace(/^[^ ]*: /, "").replace(/"[^"]*"/g, "…").replace(/at byte \d+/, "")}`, m, m.Failure);
    } else if (!ts.success && accepted) {
      const issue = ts.error.issues[0];
      note(`only TypeScript refuses: ${issue.code}${issue.format ? " " + issue.format : ""}${issue.expected ? " " + issue.expected : ""} (${m.Kind})`, m, JSON.stringify(issue).slice(0, 300));
    } else if (accepted) {
      const d = difference(plain(ts.data), JSON.parse(Buffer.from(m.Out, "base64").toString("utf8")), m.Kind, "the value");
      if (d) note(`both accept: ${d}`, m, Buffer.from(m.Out, "base64").toString("utf8").slice(0, 300));
      else count.same++;
    } else {
      count.same++;
    }
  }
}
console.log(`${count.total} mutants, ${count.same} alike, ${count.noParser} without a validator in TypeScript`);
for (const [name, c] of [...classes].sort((a, b) => b[1].n - a[1].n)) {
  const names = [...c.definitions];
  console.log(`${String(c.n).padStart(6)}  ${name}\n    in ${names.length} definitions: ${names.slice(0, 6).join(", ")}\n    ${c.example}`);
}

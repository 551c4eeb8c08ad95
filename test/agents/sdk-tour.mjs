// A client on the official TypeScript SDK that drives an agent of ours.
// Usage: node sdk-tour.mjs NODE_MODULES WORKSPACE COMMAND [ARGS...]
//
// Prints what it saw as one line of JSON. PROMPTS is a JSON array of three prompts: for a
// turn that uses everything, for one that is cancelled, and for one after that. Without it
// they are for the demo agent.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [modules, workspace, command, ...args] = process.argv.slice(2);
const acp = await import(
  pathToFileURL(path.resolve(modules, "@agentclientprotocol/sdk/dist/v1/stable/acp.js")).href
);
const { agent: toAgent, client: toClient } = acp.methods;

const [tour, long, again] = JSON.parse(
  process.env.PROMPTS ?? '["show me around", "/slow 1000", "/say still here"]',
);
const seen = { updates: {}, text: "", asked: 0, reads: 0, writes: 0, commands: [] };
const terminals = new Map();
let onText = () => {};

function startTerminal({ command, args = [], cwd }) {
  const terminal = { output: "", exit: null };
  terminal.process = spawn(command, args, { cwd });
  for (const stream of [terminal.process.stdout, terminal.process.stderr]) {
    stream.on("data", (data) => (terminal.output += data));
  }
  terminal.ended = new Promise((resolve) =>
    terminal.process.on("close", (exitCode, signal) => {
      terminal.exit = { exitCode, signal };
      resolve(terminal.exit);
    }),
  );
  const terminalId = `terminal-${terminals.size}`;
  terminals.set(terminalId, terminal);
  seen.commands.push([command, ...args].join(" "));
  return { terminalId };
}

const app = acp
  .client({ name: "sdk-tour" })
  .onNotification(toClient.session.update, ({ params: { update } }) => {
    seen.updates[update.sessionUpdate] = (seen.updates[update.sessionUpdate] ?? 0) + 1;
    if (update.sessionUpdate === "agent_message_chunk") {
      seen.text += update.content.text;
      onText();
    }
  })
  .onRequest(toClient.session.requestPermission, ({ params: { options } }) => {
    seen.asked++;
    const { optionId } = options.find((option) => option.kind === "allow_once");
    return { outcome: { outcome: "selected", optionId } };
  })
  .onRequest(toClient.fs.readTextFile, ({ params }) => {
    seen.reads++;
    if (!fs.existsSync(params.path)) throw acp.RequestError.resourceNotFound(params.path);
    return { content: fs.readFileSync(params.path, "utf8") };
  })
  .onRequest(toClient.fs.writeTextFile, ({ params }) => {
    seen.writes++;
    fs.writeFileSync(params.path, params.content);
    return {};
  })
  .onRequest(toClient.terminal.create, ({ params }) => startTerminal(params))
  .onRequest(toClient.terminal.output, ({ params }) => {
    const { output, exit } = terminals.get(params.terminalId);
    return { output, truncated: false, ...(exit && { exitStatus: exit }) };
  })
  .onRequest(toClient.terminal.waitForExit, ({ params }) => terminals.get(params.terminalId).ended)
  .onRequest(toClient.terminal.kill, ({ params }) => {
    terminals.get(params.terminalId).process.kill();
    return {};
  })
  .onRequest(toClient.terminal.release, ({ params }) => {
    terminals.delete(params.terminalId);
    return {};
  });

const child = spawn(command, args, { cwd: workspace, stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((resolve) => child.on("close", resolve));
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const { agent } = app.connect(stream);

const init = await agent.request(toAgent.initialize, {
  protocolVersion: acp.PROTOCOL_VERSION,
  clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
});
seen.version = init.protocolVersion;
const { sessionId } = await agent.request(toAgent.session.new, { cwd: workspace, mcpServers: [] });
const prompt = (text) =>
  agent.request(toAgent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });

seen.tour = (await prompt(tour)).stopReason;

const counting = new Promise((resolve) => (onText = resolve));
const slow = prompt(long);
await counting;
await agent.notify(toAgent.session.cancel, { sessionId });
seen.cancelled = (await slow).stopReason;

seen.text = "";
seen.again = (await prompt(again)).stopReason;
seen.failure = await prompt("/fail").catch((error) => error.code);
seen.unknown = await agent.request("_nobody/knows", {}).catch((error) => error.code);

child.stdin.end();
seen.exit = await ended;
process.stdout.write(JSON.stringify(seen) + "\n", () => process.exit(0));

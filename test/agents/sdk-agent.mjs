// An agent on the official TypeScript SDK, for the end-to-end tests.
// Usage: node sdk-agent.mjs NODE_MODULES
//
// Each line of a prompt is a step:
//   SAY text | THINK text | PLAN | READ path | WRITE path text | RUN command args... | SLOW n
// WRITE and RUN ask for permission first; a rejection ends the step.
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const acp = await import(
  pathToFileURL(path.resolve(process.argv[2], "@agentclientprotocol/sdk/dist/v1/stable/acp.js")).href
);

const methods = acp.methods;
const sessions = new Map();
let calls = 0;

const agent = acp
  .agent({ name: "sdk-agent" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "sdk-agent", version: "1.0.0" },
    agentCapabilities: { loadSession: false },
    authMethods: [{ id: "token", name: "Token" }],
  }))
  .onRequest(methods.agent.authenticate, ({ params: { methodId } }) => {
    if (methodId !== "token") throw acp.RequestError.invalidParams({ methodId });
    return {};
  })
  .onRequest(methods.agent.session.new, ({ params: { cwd } }) => {
    const sessionId = `sdk-${sessions.size + 1}`;
    sessions.set(sessionId, { cwd, abort: null });
    return { sessionId };
  })
  .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) => {
    sessions.get(sessionId)?.abort?.abort();
  })
  .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const session = sessions.get(sessionId);
    if (!session) throw acp.RequestError.resourceNotFound(sessionId);
    session.abort = new AbortController();
    const turn = new Turn(client, sessionId, () => session.abort.signal.aborted);
    const script = prompt.map((block) => block.text ?? "").join("\n");
    for (const line of script.split("\n")) {
      const [, word, rest] = line.match(/^(\w+) ?(.*)$/) ?? [];
      if (word) await turn.step(word, rest);
      if (turn.stopped()) return { stopReason: "cancelled" };
    }
    return { stopReason: "end_turn" };
  });

class Turn {
  constructor(client, sessionId, stopped) {
    Object.assign(this, { client, sessionId, stopped });
  }

  update(update) {
    return this.client.notify(methods.client.session.update, { sessionId: this.sessionId, update });
  }

  request(method, params) {
    return this.client.request(method, { sessionId: this.sessionId, ...params });
  }

  say(text, kind = "agent_message_chunk") {
    return this.update({ sessionUpdate: kind, content: { type: "text", text } });
  }

  async step(word, rest) {
    const [first, ...others] = rest.split(" ");
    switch (word) {
      case "SAY":
        return this.say(rest);
      case "THINK":
        return this.say(rest, "agent_thought_chunk");
      case "PLAN":
        return this.update({
          sessionUpdate: "plan",
          entries: [{ content: "look", priority: "high", status: "in_progress" }],
        });
      case "READ": {
        const { content } = await this.request(methods.client.fs.readTextFile, { path: first });
        return this.say(`read: ${content}`);
      }
      case "WRITE":
        return this.tool(`Write ${first}`, "edit", async () => {
          await this.request(methods.client.fs.writeTextFile, { path: first, content: others.join(" ").replaceAll("\\n", "\n") + "\n" });
        });
      case "RUN":
        return this.tool(`Run ${rest}`, "execute", async () => {
          const { terminal } = methods.client;
          const id = await this.request(terminal.create, { command: first, args: others });
          const { exitCode } = await this.request(terminal.waitForExit, id);
          const { output } = await this.request(terminal.output, id);
          await this.request(terminal.release, id);
          await this.say(`exit ${exitCode}: ${output}`);
        });
      case "SLOW":
        for (let i = 1; i <= Number(rest) && !this.stopped(); i++) {
          await this.say(`tick ${i}\n`);
          await sleep(100);
        }
    }
  }

  async tool(title, kind, run) {
    const toolCallId = `call-${++calls}`;
    await this.update({ sessionUpdate: "tool_call", toolCallId, title, kind, status: "pending" });
    const { outcome } = await this.request(methods.client.session.requestPermission, {
      toolCall: { toolCallId, title, kind },
      options: [
        { optionId: "yes", name: "Allow", kind: "allow_once" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    });
    const allowed = outcome.outcome === "selected" && outcome.optionId === "yes";
    if (allowed) await run();
    await this.update({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: allowed ? "completed" : "failed",
    });
  }
}

const stream = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
agent.connect(stream);

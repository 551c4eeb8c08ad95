// The agent of sdk-agent.mjs behind the remote transports of the official
// TypeScript SDK: streamable HTTP and WebSocket on one path.
// Usage: node sdk-serve.mjs NODE_MODULES
//
// Prints {"http": URL, "ws": URL} and serves until standard input ends. Sessions
// outlive connections, so that session/load and session/resume work; a prompt
// "DROP" cuts all connections, "SAY text" says it in pieces, "READ path" reads a
// file of the client, "WAIT" says so and waits for a cancel.
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const modules = path.resolve(process.argv[2]);
const sdk = (file) => import(pathToFileURL(path.join(modules, "@agentclientprotocol/sdk/dist", file)).href);
const acp = await sdk("v1/stable/acp.js");
const { AcpServer } = await sdk("transports/server.js");
const { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } = await sdk("transports/node-adapter.js");
const { WebSocketServer } = createRequire(path.join(modules, "_.js"))("ws");

const { agent: agentMethods, client: clientMethods } = acp.methods;
const sessions = new Map(); // id -> updates so far
const connections = new Set();
let cancelled = new Set();

const notify = (client, sessionId, update) => client.notify(clientMethods.session.update, { sessionId, update });

function createAgent() {
  const known = (id) => {
    if (!sessions.has(id)) throw acp.RequestError.resourceNotFound(id);
    return sessions.get(id);
  };
  const say = async (client, sessionId, text) => {
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
    known(sessionId).push(update);
    await notify(client, sessionId, update);
  };
  return acp
    .agent({ name: "sdk-serve" })
    .onRequest(agentMethods.initialize, () => ({
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {}, close: {} } },
    }))
    .onRequest(agentMethods.session.new, () => {
      const sessionId = `remote-${sessions.size + 1}`;
      sessions.set(sessionId, []);
      return { sessionId };
    })
    .onRequest(agentMethods.session.load, async ({ params: { sessionId }, client }) => {
      for (const update of known(sessionId)) await notify(client, sessionId, update);
      return {};
    })
    .onRequest(agentMethods.session.resume, ({ params: { sessionId } }) => {
      known(sessionId);
      return {};
    })
    .onRequest(agentMethods.session.list, () => ({
      sessions: [...sessions.keys()].map((sessionId) => ({ sessionId, cwd: "/w" })),
    }))
    .onRequest(agentMethods.session.close, ({ params: { sessionId } }) => {
      known(sessionId);
      return {};
    })
    .onNotification(agentMethods.session.cancel, ({ params: { sessionId } }) => {
      cancelled.add(sessionId);
    })
    .onRequest(agentMethods.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
      cancelled.delete(sessionId);
      const text = prompt.map((block) => block.text ?? "").join("");
      const [, word, rest] = text.match(/^(\w+) ?(.*)$/);
      if (word === "SAY") for (const piece of rest.split(" ")) await say(client, sessionId, piece);
      if (word === "READ") {
        const { content } = await client.request(clientMethods.fs.readTextFile, { sessionId, path: rest });
        await say(client, sessionId, content);
      }
      if (word === "WAIT") {
        await say(client, sessionId, "waiting");
        while (!cancelled.has(sessionId)) await new Promise((r) => setTimeout(r, 10));
        return { stopReason: "cancelled" };
      }
      if (word === "DROP") {
        await say(client, sessionId, rest);
        for (const socket of connections) socket.destroy();
        await say(client, sessionId, "while away").catch(() => {});
      }
      return { stopReason: "end_turn" };
    });
}

const server = new AcpServer({ createAgent });
const handle = createNodeHttpHandler(server);
const web = http.createServer((request, response) => {
  if (request.url === "/acp") return handle(request, response);
  response.writeHead(404).end();
});
web.on("connection", (socket) => {
  connections.add(socket);
  socket.on("close", () => connections.delete(socket));
});
web.on("upgrade", createNodeWebSocketUpgradeHandler(server, new WebSocketServer({ noServer: true })));
web.listen(0, "127.0.0.1", () => {
  const at = `127.0.0.1:${web.address().port}/acp`;
  console.log(JSON.stringify({ http: `http://${at}`, ws: `ws://${at}` }));
});
process.stdin.resume().on("end", () => process.exit(0));

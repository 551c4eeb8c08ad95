// A client on the official TypeScript SDK that plays a conversation with a
// remote agent and prints what happened as one line of JSON.
// Usage: TOKEN=... node sdk-client.mjs NODE_MODULES URL PROMPT...
//
// The URL is http or ws. Prompts go to a new session one after the other; then
// the connection is made anew and the session loaded.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modulesArg, url, ...prompts] = process.argv.slice(2);
const modules = path.resolve(modulesArg);
const sdk = (file) => import(pathToFileURL(path.join(modules, "@agentclientprotocol/sdk/dist", file)).href);
const acp = await sdk("v1/stable/acp.js");
const { createHttpStream } = await sdk("transports/http-stream.js");
const { createWebSocketStream } = await sdk("transports/ws-stream.js");
const { WebSocket } = createRequire(path.join(modules, "_.js"))("ws");
const { agent: agentMethods, client: clientMethods } = acp.methods;

const headers = { Authorization: `Bearer ${process.env.TOKEN}` };

async function connect() {
  const texts = [];
  const stream = url.startsWith("ws")
    ? createWebSocketStream(url, { WebSocket, headers })
    : createHttpStream(url, { headers });
  const connection = acp
    .client({ name: "sdk-client" })
    .onNotification(clientMethods.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "agent_message_chunk") texts.push(update.content.text);
    })
    .onRequest(clientMethods.fs.readTextFile, ({ params }) => ({ content: `text of ${params.path}` }))
    .connect(stream);
  await connection.agent.request(agentMethods.initialize, { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true } } });
  return { connection, agent: connection.agent, texts };
}

const first = await connect();
const { sessionId } = await first.agent.request(agentMethods.session.new, { cwd: "/w", mcpServers: [] });
const stops = [];
for (const text of prompts) {
  const turn = first.agent.request(agentMethods.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  if (text === "WAIT") setTimeout(() => first.agent.notify(agentMethods.session.cancel, { sessionId }), 100);
  stops.push((await turn).stopReason);
}
const failure = await first.agent
  .request(agentMethods.session.prompt, { sessionId: "nope", prompt: [{ type: "text", text: "COUNT 1" }] })
  .catch((error) => error.code);
await new Promise((resolve) => setTimeout(resolve, 100));
console.log(JSON.stringify({ sessionId, stops, texts: first.texts, failure }));
first.connection.close();
setTimeout(() => process.exit(0), 200);

// A server with a tool whose schema clients cannot be expected to accept: a fault that the MCP Inspector must find.
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

serveStdio(() => {
  const server = new Server({ name: 'bad', version: '1' }, { capabilities: { tools: {} } })
  const inputSchema = {
    type: 'object' as const,
    properties: { list: { type: 'array' as const, items: true }, x: { $ref: '#/nowhere' } },
  }
  server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'bad', inputSchema }] as never }))
  return server
})

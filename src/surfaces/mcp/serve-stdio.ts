// The protocol over standard input and output: one client, one connection, from its first line to the end of its input.
import type { Readable, Writable } from 'node:stream'
import type { Server } from '@modelcontextprotocol/server'
import { parse } from '../../parse.ts'
import { loadSdk, loadStdioSdk } from './load-sdk.ts'
import { type McpStdioOptions, type ServedEngine, stdioOptionsSchema } from './mcp-options.ts'
import { McpService } from './mcp-service.ts'
import { StdioConnection } from './stdio-connection.ts'

/**
 * Serves the abilities of an engine to the client at the other end of stdin and stdout. Resolves when that client is gone, which
 * has then been answered what it had asked (for 5 s at most); its tasks go on. The engine stays open.
 *
 * @example
 * await using engine = await createEngine({ ledger: 'errand.db' })
 * await serveMcpStdio(engine, { as: 'claude' })
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT; NOT_OFFERED when the package of the protocol is not installed.
 */
export async function serveMcpStdio(engine: ServedEngine, options: McpStdioOptions = {}): Promise<void> {
  const { input, output, signal, ...checked } = parse(stdioOptionsSchema, options, 'serveMcpStdio')
  const [sdk, { serveStdio }] = await Promise.all([loadSdk(), loadStdioSdk()])
  const service = new McpService(engine, checked)
  const servers = new Set<Server>()
  const connection = new StdioConnection(
    sdk,
    (input as Readable | undefined) ?? process.stdin,
    (output as Writable | undefined) ?? process.stdout,
    checked.clock,
  )
  const { leaving } = connection
  const handle = serveStdio(
    ({ era }) => {
      const server = service.createServer(sdk, { agent: checked.as, era, reachable: true, leaving })
      servers.add(server)
      server.onclose = () => void servers.delete(server)
      return server
    },
    { transport: connection, onerror: checked.onError },
  )
  const gone = Promise.withResolvers<void>()
  const closeServer = connection.onclose
  connection.onclose = () => {
    closeServer?.()
    gone.resolve()
  }
  const stop = (): void => void handle.close()
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  const listenNoMore = service.onToolsChanged(() => {
    for (const server of servers) server.sendToolListChanged().catch(checked.onError)
  })
  await gone.promise
  signal?.removeEventListener('abort', stop)
  listenNoMore()
  await service.sessions.close()
}

// The protocol over HTTP as one function from requests to responses, for whatever server there is. Both eras of the protocol come
// in here; neither has connections, so each request is served by itself and agents are known by the name that they send.
import type { McpHttpHandler } from '@modelcontextprotocol/server'
import { parse } from '../../parse.ts'
import { largestBody } from '../web/body.ts'
import { agentHeader, readBody, refusedAtTheDoor } from './http-door.ts'
import { loadSdk, type Sdk } from './load-sdk.ts'
import { type CheckedFetchOptions, fetchOptionsSchema, type McpFetchOptions, type ServedEngine } from './mcp-options.ts'
import { McpService } from './mcp-service.ts'

/** Answers requests; `close` ends the sessions of all agents, and what is under way. Tasks go on. */
export interface McpFetchHandler {
  (request: Request): Promise<Response>
  close(): Promise<void>
}

/**
 * The abilities of an engine as a Streamable HTTP endpoint, for any server that speaks `Request` and `Response`. The server in
 * front of it must pass on the `Host` header, and the abort of a request whose client is gone.
 *
 * @example
 * const handler = mcpFetchHandler(engine, { token: process.env.ERRAND_TOKEN, allowedHosts: ['tasks.example.org'] })
 * export default { fetch: handler }
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT. The first request rejects with NOT_OFFERED when the package of the protocol
 *   is not installed.
 */
export function mcpFetchHandler(engine: ServedEngine, options: McpFetchOptions): McpFetchHandler {
  return createFetchHandler(engine, parse(fetchOptionsSchema, options, 'mcpFetchHandler'))
}

export function createFetchHandler(engine: ServedEngine, options: CheckedFetchOptions): McpFetchHandler {
  const service = new McpService(engine, options)
  let serving: Promise<Serving> | undefined
  const begin = async (): Promise<Serving> => {
    const sdk = await loadSdk()
    const handler = handlerOf(sdk, service, options)
    const listenNoMore = service.onToolsChanged(() => handler.notify.toolsChanged())
    return { handler, listenNoMore }
  }
  const fetch = async (request: Request): Promise<Response> => {
    const refused = refusedAtTheDoor(request, options)
    if (refused !== undefined) return refused
    serving ??= begin()
    const { handler } = await serving
    if (request.method !== 'POST') return handler.fetch(request)
    const body = await readBody(request)
    return 'refused' in body ? body.refused : handler.fetch(request, { parsedBody: body.json })
  }
  return Object.assign(fetch, {
    async close() {
      const begun = await serving?.catch(() => undefined)
      begun?.listenNoMore()
      await begun?.handler.close()
      await service.sessions.close()
    },
  })
}

interface Serving {
  handler: McpHttpHandler
  listenNoMore: () => void
}

function handlerOf(sdk: Sdk, service: McpService, options: CheckedFetchOptions): McpHttpHandler {
  return sdk.createMcpHandler(
    ({ era, requestInfo }) => {
      const agent = requestInfo?.headers.get(agentHeader) ?? options.as
      return service.createServer(sdk, { agent, era, reachable: era === 'modern' })
    },
    { onerror: options.onError, maxRequestBodySize: largestBody },
  )
}

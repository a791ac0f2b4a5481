// What the tests of the MCP surface share: the real clients of both eras of the protocol behind one interface, and hand-written requests
// that no client sends.
import { PassThrough } from 'node:stream'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished } from 'vitest'
import {
  type McpFetchHandler,
  type McpStdioOptions,
  type ServedEngine,
  serveMcpStdio,
} from '../../../src/surfaces/mcp/index.ts'
import { programOf } from '../../programs.ts'
import { allTools } from './all-tools.ts'

export const token = 'a-token-that-is-long-enough-for-a-test'
export const revision = '2026-07-28'
export const tasksExtension = 'io.modelcontextprotocol/tasks'

export interface Answer {
  isError?: boolean
  content: Array<{ type: string; text?: string }>
  structuredContent?: Record<string, unknown>
}

export interface AnyClient {
  tools(): Promise<Array<{ name: string; description?: string; inputSchema: object; outputSchema?: object }>>
  call(name: string, input?: object, options?: { signal?: AbortSignal; onprogress?: () => void }): Promise<Answer>
  close(): Promise<void>
}

export const eras = ['modern', 'legacy'] as const
export type Era = (typeof eras)[number]

const info = { name: 'test', version: '1' }

function face(client: ModernClient | LegacyClient): AnyClient {
  onTestFinished(() => client.close())
  return {
    tools: async () => (await client.listTools()).tools as never,
    call: async (name, input = {}, options = {}) =>
      client instanceof LegacyClient
        ? ((await client.callTool({ name, arguments: { ...input } }, undefined, options)) as Answer)
        : ((await client.callTool({ name, arguments: { ...input } }, options)) as Answer),
    close: () => client.close(),
  }
}

export async function connectHttp(era: Era, url: string, headers: Record<string, string> = {}): Promise<AnyClient> {
  const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } }
  if (era === 'legacy') {
    const client = new LegacyClient(info)
    await client.connect(new LegacyHttp(new URL(url), { requestInit }) as never)
    return face(client)
  }
  const client = new ModernClient(info, { versionNegotiation: { mode: { pin: revision } } })
  await client.connect(new ModernHttp(new URL(url), { requestInit }))
  return face(client)
}

export const serverScript = programOf(import.meta.dirname, 'stdio-server.ts')

/** For tests that start processes, which are slow on a busy machine: the modern client starts two for each connection. */
export const withProcesses = { timeout: 60_000 }

/** Starts the server's process; it ends with the client. */
export async function connectStdio(era: Era, ...args: string[]): Promise<AnyClient> {
  const server = { command: process.execPath, args: [serverScript, ...args] }
  if (era === 'legacy') {
    const client = new LegacyClient(info)
    await client.connect(new LegacyStdio(server))
    return face(client)
  }
  const client = new ModernClient(info, { versionNegotiation: { mode: { pin: revision } } })
  await client.connect(new ModernStdio(server))
  return face(client)
}

/** A connection over two streams in this process; the test sees each message and the end. */
export function connectByHand(engine: ServedEngine, options: McpStdioOptions = {}) {
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  const ended = serveMcpStdio(engine, { input, output, abilities: allTools, ...options })
  const lines = output[Symbol.asyncIterator]() as AsyncIterator<string>
  let rest = ''
  /** The next message that the server writes. */
  const next = async (): Promise<Record<string, any>> => {
    while (!rest.includes('\n')) rest += (await lines.next()).value as string
    const line = rest.slice(0, rest.indexOf('\n'))
    rest = rest.slice(line.length + 1)
    return JSON.parse(line) as Record<string, any>
  }
  const send = (message: object) => void input.write(`${JSON.stringify(message)}\n`)
  const ask = async (message: object) => {
    send(message)
    return next()
  }
  const call = async (name: string, args: object = {}): Promise<Answer> =>
    (await ask(modernRequest('tools/call', { name, arguments: args })))['result'] as Answer
  return { input, ended, next, send, ask, call }
}

/** The error in the result of a tool. */
export function toolErrorOf({ isError, content }: Answer): { code: string; message: string; details?: any } {
  expect(isError).toBe(true)
  return (JSON.parse(content[0]?.text ?? '') as { error: { code: string; message: string } }).error
}

export interface Reply {
  status: number
  headers: Headers
  result?: Record<string, any>
  error?: { code: number; message: string; data?: unknown }
  text: string
}

/** A hand-written request of a client of the modern era. */
export function modernRequest(
  method: string,
  params: Record<string, unknown> = {},
  capabilities: Record<string, unknown> = {},
): Record<string, unknown> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': info,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...meta, ...(params['_meta'] as object) } } }
}

/** Sends a request to a handler, like a client with the token. */
export async function post(
  handler: Pick<McpFetchHandler, never> & ((request: Request) => Promise<Response>),
  message: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return replyOf(await handler(requestOf(message, headers)))
}

export function requestOf(message: unknown, headers: Record<string, string> = {}, init: RequestInit = {}): Request {
  const { method, params } = message as { method?: string; params?: { name?: string; taskId?: string } }
  const name = params?.name ?? params?.taskId
  return new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      'mcp-method': method ?? '',
      ...(name === undefined ? {} : { 'mcp-name': name }),
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
    ...init,
  })
}

export async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text()
  // A response that is a stream ends with the result.
  const json = text.startsWith('{')
    ? text
    : text
        .split('\n')
        .findLast((line) => line.startsWith('data: {'))
        ?.slice(6)
  return { status: response.status, headers: response.headers, text, ...(JSON.parse(json ?? '{}') as object) } as Reply
}

// The request guard of MCP over HTTP: each request here differs from a valid one in one thing, and is refused for it before any ability is
// called.
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { Engine } from '../../../src/engine/engine-api.ts'
import {
  type McpFetchOptions,
  type McpHttpServer,
  mcpFetchHandler,
  serveMcpHttp,
} from '../../../src/surfaces/mcp/index.ts'
import { openEngine, refusalOf } from '../../engine/world.ts'
import { allTools } from './all-tools.ts'
import { modernRequest, post, replyOf, requestOf, token } from './world.ts'

const listTools = modernRequest('tools/list')

async function open(options: Partial<McpFetchOptions> = {}) {
  const engine = await openEngine()
  const calls: string[] = []
  engine.bus.onCall(({ abilityId }) => void calls.push(abilityId))
  const handler = mcpFetchHandler(engine, { token, abilities: allTools, ...options })
  onTestFinished(() => handler.close())
  return { engine, handler, calls }
}

const bad: Array<[string, number, Record<string, string>]> = [
  ['a host that is not ours', 403, { host: 'evil.example' }],
  ['a host that merely begins like ours', 403, { host: 'localhost.evil.example:80' }],
  ['a host that merely ends like ours', 403, { host: 'evil.example:127.0.0.1' }],
  ['the origin of a foreign page', 403, { origin: 'https://evil.example' }],
  ['the origin of a page without one', 403, { origin: 'null' }],
  ['the origin of another port', 403, { origin: 'http://127.0.0.1:81' }],
  ['no token', 401, { authorization: '' }],
  ['a token that is not ours', 401, { authorization: `Bearer ${token.replace('a', 'b')}` }],
  ['the beginning of our token', 401, { authorization: `Bearer ${token.slice(0, -1)}` }],
  ['our token under another scheme', 401, { authorization: `Basic ${token}` }],
  ['text', 415, { 'content-type': 'text/plain' }],
  ['a form', 415, { 'content-type': 'multipart/form-data; boundary=application/json' }],
  ['JSON in another alphabet', 415, { 'content-type': 'application/json; charset=utf-16' }],
  ['a compressed body', 415, { 'content-encoding': 'gzip' }],
  ['an agent without a proper name', 400, { 'x-errand-agent': 'two words' }],
]

it.each(bad)('the request guard of MCP refuses %s with %i', async (_what, status, headers) => {
  const { handler, calls } = await open()
  const call = modernRequest('tools/call', { name: 'task_create', arguments: { goal: 'x' } })
  const reply = await post(handler, call, headers)
  expect(reply).toMatchObject({ status, error: { message: expect.any(String) as string } })
  expect(calls).toEqual([])
  expect(reply.text).not.toContain(token.slice(8))
  expect(reply.headers.get('access-control-allow-origin')).toBeNull()
  if (status === 401) expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/)
})

it('the request guard of MCP checks host and origin before the token, and the token before everything else', async () => {
  const { handler } = await open()
  const everythingWrong = { host: 'evil.example', authorization: '', 'content-type': 'text/plain' }
  expect((await post(handler, listTools, everythingWrong)).status).toBe(403)
  expect((await post(handler, listTools, { ...everythingWrong, host: 'localhost:8' })).status).toBe(401)
  for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
    const request = new Request('http://127.0.0.1/mcp', { method })
    expect((await handler(request)).status).toBe(401)
  }
})

it.each<Record<string, string>>([
  { host: '127.0.0.1:8080' },
  { host: 'LOCALHOST:1' },
  { host: '[::1]:8080', origin: 'http://[::1]:8080' },
  { 'content-type': 'application/json; charset=UTF-8' },
  { authorization: `bearer ${token}` },
  { 'x-errand-agent': 'claude/2@laptop' },
])('the request guard of MCP accepts a valid request: %o', async (headers) => {
  const { handler } = await open()
  expect((await post(handler, listTools, headers)).result?.['tools']).not.toHaveLength(0)
})

it('the request guard of MCP serves the configured hosts and origins, and no others', async () => {
  const { handler } = await open({ allowedHosts: ['tasks.example.org'], allowedOrigins: ['https://app.example.org'] })
  const host = 'tasks.example.org'
  expect((await post(handler, listTools, { host })).status).toBe(200)
  expect((await post(handler, listTools, { host, origin: 'https://app.example.org' })).status).toBe(200)
  expect((await post(handler, listTools, { host, origin: 'https://tasks.example.org' })).status).toBe(200)
  expect((await post(handler, listTools, { host, origin: 'https://app.example.org.evil' })).status).toBe(403)
  expect((await post(handler, listTools, { host: '127.0.0.1' })).status).toBe(403)
})

it('the request guard of MCP accepts a body of one megabyte and refuses a larger one, with or without a content length', async () => {
  const { handler, calls } = await open()
  const create = (goal: string) => modernRequest('tools/call', { name: 'task_create', arguments: { goal } })
  const room = 1024 * 1024 - JSON.stringify(create('')).length
  expect((await post(handler, create('x'.repeat(room)))).status).toBe(200)
  expect(calls).toEqual(['task:create'])
  expect((await post(handler, create('x'.repeat(room + 1)))).status).toBe(413)
  expect((await post(handler, create(''), { 'content-length': '2000000' })).status).toBe(413)
  expect(calls).toEqual(['task:create'])
})

it('the request guard of MCP accepts JSON with 64 levels and refuses deeper nesting without overflowing the stack', async () => {
  const { handler } = await open()
  const nested = (depth: number) => {
    const room = depth - 3
    return JSON.stringify(modernRequest('tools/call', { name: 'task_list', arguments: 'DEEP' })).replace(
      '"DEEP"',
      `${'{"a":'.repeat(room)}1${'}'.repeat(room)}`,
    )
  }
  const headers = { 'mcp-method': 'tools/call', 'mcp-name': 'task_list' }
  const deep = async (body: string) => replyOf(await handler(requestOf(body, headers)))
  expect((await deep(nested(64))).result).toMatchObject({ isError: true })
  expect(await deep(nested(66))).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining('64') as string },
  })
  expect((await deep('['.repeat(400_000) + ']'.repeat(400_000))).status).toBe(400)
  expect(await deep('{"jsonrpc":')).toMatchObject({ status: 400, error: { code: -32_700 } })
})

it('the request guard of MCP serves every client only with `token: false`', async () => {
  const engine = await openEngine()
  await expect(async () => mcpFetchHandler(engine, {} as McpFetchOptions)).rejects.toThrow(/token/)
  await refusalOf((async () => mcpFetchHandler(engine, { token: 'short' }))(), 'INVALID_INPUT')
  const refusal = await refusalOf((async () => mcpFetchHandler(engine, { token: '' }))(), 'INVALID_INPUT')
  expect(refusal.message).toContain('false')
  const { handler } = await open({ token: false })
  expect((await post(handler, listTools, { authorization: '' })).status).toBe(200)
})

async function serve(engine: Engine): Promise<McpHttpServer> {
  const server = await serveMcpHttp(engine, { token })
  onTestFinished(() => server.close())
  return server
}

/** Uses node:http, because fetch always sends the host that it connects to. */
function status(url: string, headers: Record<string, string>, body?: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: body === undefined ? 'GET' : 'POST', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('error', reject)
    request.end(body)
  })
}

it('the MCP server over HTTP listens on loopback, requires its own port in Host, and serves one path', async () => {
  const { url } = await serve(await openEngine())
  const { hostname, port, pathname } = new URL(url)
  expect({ hostname, pathname }).toEqual({ hostname: '127.0.0.1', pathname: '/mcp' })
  const authorization = `Bearer ${token}`
  expect(await status(url, { authorization })).toBe(405)
  expect(await status(url, { authorization, host: `localhost:${port}` })).toBe(405)
  expect(await status(url, { authorization, host: 'localhost:1' })).toBe(403)
  expect(await status(url, { authorization, host: 'localhost' })).toBe(403)
  expect(await status(url, {})).toBe(401)
  expect(await status(`http://127.0.0.1:${port}/other`, {})).toBe(401)
  expect(await status(`http://127.0.0.1:${port}/other`, { authorization })).toBe(404)
})

it('the MCP server over HTTP accepts 16 KB of headers and refuses more', async () => {
  const { url } = await serve(await openEngine())
  const authorization = `Bearer ${token}`
  expect(await status(url, { authorization, 'x-long': 'x'.repeat(15_000) })).toBe(405)
  expect(await status(url, { authorization, 'x-long': 'x'.repeat(17_000) })).toBe(431)
})

it('the MCP server over HTTP answers invalid HTTP with 400 and continues', async () => {
  const { url } = await serve(await openEngine())
  const port = Number(new URL(url).port)
  const answered = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.end('GARBAGE\r\n\r\n'))
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
  })
  expect(answered).toMatch(/^HTTP\/1.1 400/)
  expect(await status(url, { authorization: `Bearer ${token}` })).toBe(405)
})

it('the MCP server over HTTP refuses to listen on a public address without a token', async () => {
  const engine = await openEngine()
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.org']) {
    await refusalOf(serveMcpHttp(engine, { token: false, host }), 'FORBIDDEN')
  }
  const server = await serveMcpHttp(engine, { token: false, host: 'localhost' })
  onTestFinished(() => server.close())
  expect(await status(server.url, {})).toBe(405)
})

it('the MCP server over HTTP rejects with the reason why it cannot listen', async () => {
  const engine = await openEngine()
  const { url } = await serve(engine)
  await expect(serveMcpHttp(engine, { token, port: Number(new URL(url).port) })).rejects.toThrow(/EADDRINUSE/)
})

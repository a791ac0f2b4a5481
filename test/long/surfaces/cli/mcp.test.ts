// `errand mcp`, the built program, with the real client of the protocol, over stdio and over HTTP.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it, onTestFinished } from 'vitest'
import { clientName } from '../../../../src/surfaces/cli/client-name.ts'
import { binFile, Workplace } from '../../../surfaces/cli/workplace.ts'

interface Answer {
  isError?: boolean
  structuredContent: Record<string, any>
}

type Caller = (name: string, input?: object) => Promise<Answer>

async function over(transport: StdioClientTransport | StreamableHTTPClientTransport): Promise<Caller> {
  const client = new Client({ name: 'Test Client', version: '1' })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return async (name, input = {}) => (await client.callTool({ name, arguments: { ...input } })) as Answer
}

function stdio(place: Workplace, ...args: string[]): StdioClientTransport {
  const env = { PATH: process.env['PATH'] ?? '', ERRAND_LEDGER: join(place.folder, 'ledger.db') }
  return new StdioClientTransport({
    command: process.execPath,
    args: [binFile, 'mcp', ...args],
    cwd: place.folder,
    env,
  })
}

const board = async (place: Workplace) => (await place.errand('board')).out

it('errand mcp lets an agent create, block, claim and complete tasks, and the board shows the unblocked one', async () => {
  await using place = new Workplace()
  const call = await over(stdio(place, '--as', 'ann'))
  await call('board_create', { subject: 'Parse' })
  await call('board_create', { subject: 'Emit' })
  await call('board_update', { id: 2, addBlockedBy: [1] })
  expect(await board(place)).toBe('[ ] #1: Parse\n[ ] #2: Emit (blocked by: [1])\n')
  expect(await call('board_claim', { id: 2 })).toMatchObject({ isError: true })
  const claimed = await call('board_claim', { id: 1 })
  expect(claimed.structuredContent['task']).toMatchObject({ owner: 'ann', leaseUntil: expect.any(Number) })
  expect(await board(place)).toContain('[>] #1: Parse @ann\n')
  expect((await place.errand('board', 'done', '1', '--as', 'bob')).code).toBe(1)
  const completed = await call('board_complete', { id: 1 })
  expect(completed.structuredContent).toMatchObject({ task: { status: 'completed' }, unblocked: [{ id: 2 }] })
  expect(await board(place)).toBe('[x] #1: Parse @ann\n[ ] #2: Emit\n')
  expect((await place.errand('board', 'log', '1', '--json')).out).toContain('"source":"mcp"')
})

it('errand mcp without --as names the agent after its client, with four letters', async () => {
  await using place = new Workplace()
  await place.errand('board', 'add', 'Parse')
  const call = await over(stdio(place))
  const claimed = await call('board_claim_next')
  expect(claimed.structuredContent['task'].owner).toMatch(/^test-client-[a-z2-7]{4}$/)
})

it('errand mcp uses the given role, board, lease and abilities', async () => {
  await using place = new Workplace()
  await place.errand('board', 'add', 'Release')
  await place.errand('board', 'init', '--board', 'code', '--parent', '1')
  await place.errand('board', 'add', 'Review', '--role', 'reviewer', '--board', 'code')
  const open = await over(stdio(place, '--as', 'ann', '--board', 'code'))
  expect((await open('board_claim', { id: 1 })).isError).toBe(true)
  const options = ['--role', 'reviewer', '--lease', '10m', '--abilities', 'board:claim, board:get']
  const call = await over(stdio(place, '--as', 'bob', '--board', 'code', ...options))
  const { structuredContent } = await call('board_claim', { id: 1 })
  const { leaseUntil, updatedAt } = structuredContent['task'] as { leaseUntil: number; updatedAt: number }
  expect(structuredContent).toMatchObject({ task: { subject: 'Review', owner: 'bob' } })
  expect(leaseUntil - updatedAt).toBe(600_000)
  await expect(call('board_list')).rejects.toThrow(/not found/)
})

it('errand mcp --plans offers plan_run beside the default tools', async () => {
  await using place = new Workplace()
  const plan = { name: 'hello', tasks: { greet: { run: 'echo hello' } } }
  const call = await over(stdio(place, '--as', 'ann', '--plans', '.'))
  const { structuredContent } = await call('plan_run', { plan })
  expect(structuredContent).toMatchObject({ tasks: [{ path: 'greet', status: 'submitted' }] })
  await call('board_create', { subject: 'Parse' })
  const without = await over(stdio(place, '--as', 'bob'))
  await expect(without('plan_run', { plan })).rejects.toThrow(/not found/)
})

it('errand mcp ends with its client, and the claimed task stays open', async () => {
  await using place = new Workplace()
  const transport = stdio(place, '--as', 'ann', '--lease', '1h')
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  await client.callTool({ name: 'board_create', arguments: { subject: 'Parse' } })
  await client.callTool({ name: 'board_claim', arguments: { id: 1 } })
  const pid = transport.pid as number
  await client.close()
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  expect(await board(place)).toBe('[>] #1: Parse @ann\n')
  const again = await over(stdio(place, '--as', 'ann'))
  expect((await again('board_complete', { id: 1 })).structuredContent['task']).toMatchObject({
    status: 'completed',
  })
})

it('errand mcp that cannot serve says why and ends, although its client keeps the connection open', async () => {
  await using place = new Workplace()
  const command = [process.execPath, binFile, 'mcp', '--ledger', 'ledger.db', '--abilities', 'workers']
  // Clients that are not Node connect with a pipe, as `cat` does here.
  const client = spawn('sh', ['-c', 'cat | { "$@"; echo "ended with $?"; }', 'sh', ...command], { cwd: place.folder })
  onTestFinished(() => void client.stdin.destroy())
  client.stdin.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
  const said = text(client.stderr)
  const [ended] = (await once(client.stdout, 'data')) as [Buffer]
  client.stdin.end()
  expect(ended.toString()).toBe('ended with 2\n')
  expect(await said).toContain('one of the toolsets worker, lead, observer')
})

it('errand mcp ends when its client disconnects without a message', async () => {
  await using place = new Workplace()
  expect(await place.start('mcp').ended).toEqual({ code: 0, out: '', err: place.newLedger })
})

const urlIn = (out: string) => new URL(/^http:\S+$/m.exec(out)?.[0] ?? '')

it('errand mcp --http prints a new token once, and takes the names of clients from their headers', async () => {
  await using place = new Workplace()
  const serving = place.start('mcp', '--http')
  await serving.printed(/^http:\S+\/mcp$/m)
  await serving.printed(/^Token \(shown only once\): \S{32,}$/m)
  serving.kill('SIGINT')
  const { code, out, err } = await serving.ended
  expect({ code, out }).toEqual({ code: 130, out: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp\n$/) })
  expect(err.replace(place.newLedger, '')).toMatch(/^Token \(shown only once\): [a-z2-7]{52}\n$/)
})

it('errand mcp --http serves clients with the token of the file, under the names in their headers', async () => {
  await using place = new Workplace()
  const token = 'a-token-that-is-long-enough-for-a-test'
  place.write('token', `${token}\n`)
  const serving = place.start('mcp', '--http', '--token-file', 'token')
  await serving.printed(/^http:\S+\/mcp$/m)
  const url = urlIn(serving.text())
  const connect = (headers: Record<string, string>) =>
    over(
      new StreamableHTTPClientTransport(url, {
        requestInit: { headers: { authorization: `Bearer ${token}`, ...headers } },
      }),
    )
  const [ann, bob] = [await connect({ 'x-errand-agent': 'ann' }), await connect({ 'x-errand-agent': 'bob' })]
  await ann('board_create', { subject: 'Parse' })
  await ann('board_claim', { id: 1 })
  expect(await bob('board_complete', { id: 1 })).toMatchObject({ isError: true })
  expect(await ann('board_complete', { id: 1 })).toMatchObject({ structuredContent: { task: { owner: 'ann' } } })
  await expect(over(new StreamableHTTPClientTransport(url))).rejects.toThrow()
  serving.kill('SIGTERM')
  expect(await serving.ended).toMatchObject({ code: 130, err: place.newLedger })
})

it('errand mcp --http reports a port that is in use', async () => {
  await using place = new Workplace()
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { code, err } = await place.errand('mcp', '--http', '--port', `${port}`)
  other.close()
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringMatching(/errand: Cannot listen at this address: .*EADDRINUSE/),
  })
})

it.each([
  ['a port without HTTP', ['--port', '80'], /--port needs --http/],
  ['an invalid port', ['--http', '--port', 'x'], /--port takes/],
  ['a token that is too short', ['--http', '--token-file', 'short'], /32/],
  ['a missing token file', ['--http', '--token-file', 'none'], /Cannot read the token/],
  ['an invalid lease', ['--http', '--lease', '5'], /--lease takes/],
  ['invalid abilities', ['--http', '--abilities', 'a b'], /abilities/],
  ['a name that no header can hold', ['--http', '--as', 'Ann B'], /name/],
])('errand mcp refuses %s', async (_what, args, words) => {
  await using place = new Workplace()
  place.write('short', 'secret')
  const { code, out, err } = await place.errand('mcp', ...args)
  expect(err).toMatch(words)
  expect(err).not.toContain('secret')
  expect({ code, out }).toEqual({ code: 2, out: '' })
})

const signal = new AbortController().signal
const initialize = (name: unknown) => JSON.stringify({ id: 1, params: { clientInfo: { name, version: '1' } } })

it.each([
  ['of its first message', `${initialize('Claude Code')}\n`, 'claude-code'],
  [
    'of every message, in the later protocol',
    `${JSON.stringify({ params: { _meta: { 'io.modelcontextprotocol/clientInfo': { name: 'codex' } } } })}\n`,
    'codex',
  ],
  ['that fits into a header', `${initialize('„Ünï" /\u001b[31m')}\n`, 'n-31m'],
  ['if it is not a text', `${initialize(7)}\n`, 'agent'],
  ['for a message that is not JSON', 'hello\n', 'agent'],
  ['without a message', '', 'agent'],
])('the name of an MCP client is a single word %s', async (_which, line, name) => {
  expect(await clientName(Readable.from(line === '' ? [] : [Buffer.from(line)]), signal)).toBe(name)
})

it('the name of an MCP client is read without consuming the input, in pieces of any size', async () => {
  const input = new PassThrough()
  const text = `${initialize('slow')}\n{"second":true}\n`
  const name = clientName(input, signal)
  for (const letter of text) input.write(letter)
  expect(await name).toBe('slow')
  input.end()
  const chunks: Buffer[] = []
  for await (const chunk of input) chunks.push(chunk as Buffer)
  expect(Buffer.concat(chunks).toString()).toBe(text)
})

it('reading the name of an MCP client ends with an interrupt', async () => {
  const stop = new AbortController()
  const name = clientName(new PassThrough(), stop.signal)
  stop.abort()
  expect(await name).toBe('agent')
})

// The MCP Inspector, the protocol's own tool for authors of servers: it finds our tools portable and can call each of them, in both eras.
// It is installed if it is missing, which takes about ten seconds, once.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { installInspector } from '../../../../scripts/install-inspector.ts'
import type { Run } from '../../../../src/entities/executor.ts'
import { serveMcpHttp } from '../../../../src/surfaces/mcp/index.ts'
import { ledgerFile, openEngine } from '../../../engine/world.ts'
import { allTools } from '../../../surfaces/mcp/all-tools.ts'
import { type Era, eras, serverScript, token } from '../../../surfaces/mcp/world.ts'

const linesScript = join(import.meta.dirname, '../../../surfaces/mcp/inspector-lines.ts')
const badServer = join(import.meta.dirname, '../../../surfaces/mcp/unportable-server.ts')

let inspector = ''
beforeAll(() => {
  inspector = installInspector()
}, 300_000)

interface Inspection {
  code: number | string | null
  out: string
  err: string
}

/** `target` is the command that starts a server, or its address. */
function inspect(target: string[], args: string[], era: Era = 'modern'): Promise<Inspection> {
  const home = ledgerFile().replace(/errand\.db$/, 'home')
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const command = [inspector, '--cli', ...target, ...args, '--protocol-era', era, '--format', 'json']
  const options = { timeout: 30_000, env: { ...process.env, HOME: home } } as const
  return new Promise((resolve) => {
    execFile(process.execPath, command, options, (error, out, err) => {
      resolve({ code: error === null ? 0 : (error.code ?? 'killed'), out, err })
    })
  })
}

const resultOf = ({ out }: Inspection) => {
  const json = JSON.parse(out) as { result?: Record<string, unknown> }
  return (json.result ?? json) as {
    tools: Array<{ name: string }>
    isError?: boolean
    structuredContent?: Record<string, unknown>
  }
}

describe.each(eras)('In the %s era', (era) => {
  it('the MCP Inspector finds every tool portable', async () => {
    const run = await inspect(
      [process.execPath, serverScript, ledgerFile()],
      ['--method', 'tools/list', '--strict'],
      era,
    )
    expect({ code: run.code, errors: run.err.match(/^Error: tool.*/gm) }).toEqual({ code: 0, errors: null })
    const names = resultOf(run).tools.map(({ name }) => name)
    const single = allTools.filter((id) => !id.endsWith('*'))
    expect(names).toEqual(expect.arrayContaining(single.map((id) => id.replace(':', '_'))))
  })
})

it('the MCP Inspector reports a tool that is not portable', async () => {
  const run = await inspect([process.execPath, badServer], ['--method', 'tools/list', '--strict'])
  expect(run.code).toBe(6)
})

/** Calls tools with the MCP Inspector, all in one process; `called` has their names. */
function openInspector(target: string[], era: Era) {
  const home = ledgerFile().replace(/errand\.db$/, 'home')
  const child = spawn(process.execPath, [linesScript, inspector], {
    env: { ...process.env, HOME: home },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.stdin.end()
    await exited
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const called = new Set<string>()
  const run = async (...args: string[]): Promise<Outcome> => {
    const command = ['--cli', ...target, ...args, '--protocol-era', era, '--format', 'json']
    child.stdin.write(`${JSON.stringify(command)}\n`)
    const { value } = (await lines.next()) as { value: string }
    return JSON.parse(value) as Outcome
  }
  const call = async (name: string, input: object = {}): Promise<Record<string, unknown>> => {
    called.add(name)
    const given = ['--tool-name', name, '--tool-args-json', JSON.stringify(input)]
    const outcome = await run('--method', 'tools/call', ...given)
    expect({ name, ...outcome }).toMatchObject({ code: 0, result: { structuredContent: expect.anything() as object } })
    return outcome.result?.structuredContent ?? {}
  }
  return { run, call, called }
}

interface Outcome {
  code: number
  result?: { tools?: Array<{ name: string }>; structuredContent?: Record<string, unknown> }
  error?: string
}

/** The results of every default tool, on an engine with one task that asks and one without an executor. */
async function callEach(call: (name: string, input?: object) => Promise<Record<string, unknown>>, tasks: OpenTasks) {
  const { taskId } = await call('task_create', { goal: 'Say hello', executor: 'echo', input: 'hello' })
  return {
    task_wait: await call('task_wait', { taskIds: [taskId] }),
    task_get: await call('task_get', { taskId }),
    task_list: await call('task_list', { status: 'completed' }),
    task_messages: await call('task_messages', { taskId }),
    task_send: await call('task_send', { taskId: tasks.byHand, message: 'Thanks' }),
    task_answer: await call('task_answer', { taskId: tasks.asking, value: 'blue' }),
    task_cancel: await call('task_cancel', { taskId: tasks.byHand, reason: 'Enough' }),
    board_create: await call('board_create', { subject: 'Write', tags: ['text'], metadata: { pages: [3, null] } }),
    board_update: await call('board_update', { id: 4, description: 'All of it', workspace: null }),
    board_ready: await call('board_ready', { limit: 5 }),
    board_claim: await call('board_claim', { id: '4' }),
    board_heartbeat: await call('board_heartbeat', { id: 4 }),
    board_why: await call('board_why', { id: 4 }),
    board_get: await call('board_get', { id: 4 }),
    board_release: await call('board_release', { id: 4 }),
    board_claim_next: await call('board_claim_next', { tags: ['text'] }),
    board_complete: await call('board_complete', { id: 4, result: { pages: 3 } }),
    board_graph: await call('board_graph'),
    board_log: await call('board_log', { id: 4 }),
    board_list: await call('board_list', { status: ['completed', 'deleted'] }),
    board_delete: await call('board_delete', { id: 4 }),
    board_send: await call('board_send', { to: 'ada', body: 'hello' }),
    board_wait: await call('board_wait', { timeoutMs: 0 }),
    board_inbox: await call('board_inbox'),
    board_request: await call('board_request', { to: 'ada', topic: 'shutdown' }),
    board_requests: await call('board_requests'),
  }
}

interface OpenTasks {
  asking: string
  byHand: string
}

const expected = {
  task_wait: { tasks: [{ result: 'hello' }] },
  task_get: { task: { status: 'completed' } },
  task_list: { total: 1 },
  task_messages: { messages: expect.any(Array) as unknown[] },
  task_send: { status: 'submitted', ready: true },
  task_answer: { taskId: expect.any(String) as string },
  task_cancel: { status: 'canceled', statusReason: 'Enough', ready: false },
  board_create: { task: { id: 4, status: 'pending', metadata: { pages: [3, null] } } },
  board_update: { task: { description: 'All of it' } },
  board_ready: { tasks: [{ id: 4 }] },
  board_claim: { task: { owner: 'ada', fence: 1 } },
  board_heartbeat: { task: { fence: 1, leaseUntil: expect.any(Number) as number } },
  board_why: { id: 4, status: 'in_progress' },
  board_get: { task: { id: 4, owner: 'ada' } },
  board_release: { task: { status: 'pending', owner: '' } },
  board_claim_next: { task: { id: 4, fence: 2 } },
  board_complete: { task: { status: 'completed', result: { pages: 3 } }, unblocked: [] },
  board_graph: { order: [], critical: [] },
  board_log: { claims: [{ event: 'claimed' }, { event: 'released' }, { event: 'claimed' }] },
  board_list: { text: expect.stringContaining('[x] #4: Write') as string },
  board_delete: { deleted: true, id: 4 },
  board_send: { id: expect.any(String) as string },
  board_wait: { kind: 'mail', mail: [{ from: 'ada', body: 'hello' }] },
  board_inbox: { mail: [], more: false },
  board_request: { requestId: expect.any(String) as string },
  board_requests: { requests: [{ topic: 'shutdown', verdict: 'pending' }] },
}

describe.each(eras)('In the %s era', (era) => {
  it('the MCP Inspector calls every tool that it lists', async () => {
    const asked = Promise.withResolvers<void>()
    const engine = await openEngine({
      executors: {
        echo: (task: { input: unknown }) => task.input,
        asks: async (_task: unknown, run: Run) => run.ask('Which colour?', null, { for: 'anyone' }),
      },
    })
    engine.subscribe('task.input_required', () => asked.resolve())
    const asking = await engine.create({ executor: 'asks' })
    const byHand = await engine.create({ name: 'By hand' })
    await asked.promise
    const { url, close } = await serveMcpHttp(engine, { token, abilities: allTools })
    onTestFinished(close)
    const headers = ['--header', `Authorization: Bearer ${token}`, 'x-errand-agent: ada']
    const { run, call, called } = openInspector(['--server-url', url, ...headers], era)

    const listed = (await run('--method', 'tools/list', '--quiet')).result?.tools?.map(({ name }) => name)
    expect(listed).toContain('board_create')
    const answers = await callEach(call, { asking: asking.id, byHand: byHand.id })
    expect(answers).toMatchObject(expected)
    const { requestId } = answers.board_request
    expect(await call('board_respond', { requestId, approve: true })).toMatchObject({
      request: { verdict: 'approved' },
    })
    // A new default tool must be called here, too.
    expect([...called].toSorted()).toEqual(listed?.toSorted())

    const refused = await run(
      '--method',
      'tools/call',
      '--tool-name',
      'task_get',
      '--tool-args-json',
      '{"taskId":"task-x"}',
    )
    expect(refused.code).toBe(5)
  }, 120_000)
})

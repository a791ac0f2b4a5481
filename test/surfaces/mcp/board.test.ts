// The board used by MCP agents: one round by each client, two agents on one engine, and the claims of an agent that has disconnected.
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBoardSession } from '../../../src/board/board-session.ts'
import type { EngineOptions } from '../../../src/engine/engine-api.ts'
import { type McpHttpOptions, mcpFetchHandler, serveMcpHttp } from '../../../src/surfaces/mcp/index.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { ledgerFile, openEngine, turns } from '../../engine/world.ts'
import { allTools } from './all-tools.ts'
import {
  type Answer,
  type AnyClient,
  connectByHand,
  connectHttp,
  connectStdio,
  type Era,
  eras,
  modernRequest,
  post,
  token,
  toolErrorOf,
  withProcesses,
} from './world.ts'

async function openServer(options: Partial<McpHttpOptions> = {}, engineOptions: EngineOptions = {}) {
  const engine = await openEngine(engineOptions)
  const server = await serveMcpHttp(engine, { token, abilities: allTools, ...options })
  onTestFinished(() => server.close())
  return { engine, url: server.url }
}

const connectAs = (era: Era, url: string, name: string) => connectHttp(era, url, { 'x-errand-agent': name })

const transports = {
  http: async (era: Era) => connectAs(era, (await openServer()).url, 'ada'),
  stdio: (era: Era) => connectStdio(era, ledgerFile(), 'ada'),
}
const all = eras.flatMap((era) => Object.entries(transports).map(([name, connect]) => ({ era, name, connect })))

const put = (client: AnyClient, subject: string) => client.call('board_create', { subject })
const taskIn = ({ structuredContent }: Answer) => structuredContent?.['task'] as Record<string, unknown>

describe.each(all)('For an MCP client of the $era era over $name', withProcesses, ({ era, connect }) => {
  it('S4-052 S4-053 the board tools create tasks, order them, refuse blocked ones, claim, complete and return what is unblocked', async () => {
    const client = await connect(era)
    expect(taskIn(await put(client, 'Write'))).toMatchObject({ id: 1, status: 'pending', owner: '' })
    expect(taskIn(await put(client, 'Test'))).toMatchObject({ id: 2, status: 'pending' })
    const ordered = await client.call('board_update', { id: 2, addBlockedBy: [1] })
    expect(taskIn(ordered)).toMatchObject({ id: 2, blockedBy: [1], ready: false })

    const refused = toolErrorOf(await client.call('board_claim', { id: 2 }))
    expect(refused).toMatchObject({ code: 'BLOCKED', message: expect.stringContaining('blocked by [1]') as string })
    expect(refused.details).toMatchObject({ numbers: [1] })

    const claimed = await client.call('board_update', { id: 1, status: 'in_progress', activeForm: 'Writing' })
    expect(taskIn(claimed)).toMatchObject({ id: 1, status: 'in_progress', owner: 'ada', fence: 1 })
    expect((await client.call('board_claim_next')).structuredContent).toEqual({
      task: null,
      why: {
        message: 'Nothing can be claimed now. You hold: 1 (ada). Blocked by other tasks: 2.',
        reasons: [
          { reason: 'yours', count: 1, tasks: [1] },
          { reason: 'blocked', count: 1, tasks: [2] },
        ],
      },
    })
    expect((await client.call('board_list')).structuredContent).toMatchObject({
      total: 2,
      text: '[>] #1: Write @ada\n[ ] #2: Test (blocked by: [1])',
    })

    const done = await client.call('board_complete', { id: 1, result: { pages: 3 } })
    expect(done.structuredContent).toMatchObject({
      task: { status: 'completed', owner: 'ada', result: { pages: 3 } },
      unblocked: [{ id: 2, subject: 'Test' }],
    })
    expect(done.content).toEqual([{ type: 'text', text: JSON.stringify(done.structuredContent) }])
    expect(taskIn(await client.call('board_claim_next'))).toMatchObject({ id: 2, owner: 'ada' })
    expect((await client.call('board_complete', { id: '2' })).structuredContent).toMatchObject({ unblocked: [] })
    const { text } = (await client.call('board_list')).structuredContent as { text: string }
    expect(text).toBe('[x] #1: Write @ada\n[x] #2: Test @ada')
    expect(toolErrorOf(await client.call('board_get', { id: 9 }))).toMatchObject({ message: 'Task 9 not found' })
  })
})

it('S4-052 S4-055 S4-057 S4-059 two MCP agents on one engine keep their claims, release them, and appear in the claim log', async () => {
  const { url } = await openServer()
  const ada = await connectAs('modern', url, 'ada')
  const bob = await connectAs('legacy', url, 'bob')
  await put(ada, 'Write')
  await ada.call('board_claim', { id: 1 })

  const second = toolErrorOf(await bob.call('board_claim', { id: 1 }))
  expect(second).toMatchObject({ code: 'NOT_CLAIMABLE', message: expect.stringContaining('ada') as string })
  expect(toolErrorOf(await bob.call('board_complete', { id: 1 })).code).toBe('NOT_OWNER')
  expect(toolErrorOf(await bob.call('board_release', { id: 1 })).code).toBe('NOT_OWNER')
  // An agent cannot act in another agent's name, whatever its arguments.
  expect(toolErrorOf(await bob.call('board_complete', { id: 1, as: 'ada' })).code).toBe('NOT_OWNER')

  const released = await ada.call('board_release', { id: 1, reason: 'lunch' })
  expect(taskIn(released)).toMatchObject({ status: 'pending', owner: '' })
  expect(taskIn(await bob.call('board_claim_next'))).toMatchObject({ id: 1, owner: 'bob', fence: 2 })
  expect(taskIn(await bob.call('board_complete', { id: 1 }))).toMatchObject({ status: 'completed', owner: 'bob' })
  expect((await ada.call('board_log', { id: 1 })).structuredContent).toMatchObject({
    claims: [
      { event: 'claimed', owner: 'ada', source: 'mcp', fence: 1 },
      { event: 'released', owner: 'ada', reason: 'lunch' },
      { event: 'claimed', owner: 'bob', source: 'mcp', fence: 2 },
    ],
  })
})

it('S4-054 of two MCP agents that claim one task at once exactly one succeeds', async () => {
  const { url } = await openServer()
  const names = ['ada', 'bob', 'cem', 'dot', 'eve']
  const clients = await Promise.all(names.map((name) => connectAs('modern', url, name)))
  await put(clients[0] as AnyClient, 'Write')
  const answers = await Promise.all(clients.map((client) => client.call('board_claim', { id: 1 })))
  expect(answers.filter(({ isError }) => !isError)).toHaveLength(1)
  for (const answer of answers.filter(({ isError }) => isError)) {
    expect(toolErrorOf(answer).code).toBe('NOT_CLAIMABLE')
  }
})

it('S4-060 S4-063 two MCP agents send mail to each other, and wait for mail and work no longer than a client waits', async () => {
  const { url } = await openServer({ maxWaitMs: 20 })
  const ada = await connectAs('modern', url, 'ada')
  const bob = await connectAs('legacy', url, 'bob')
  for (const timeoutMs of [600_000, undefined]) {
    const idle = await bob.call('board_wait', timeoutMs === undefined ? {} : { timeoutMs })
    expect(idle.structuredContent).toEqual({ kind: 'idle' })
  }
  await ada.call('board_send', { to: 'bob', body: 'Take the next one' })
  await put(ada, 'Write')
  expect((await bob.call('board_wait')).structuredContent).toMatchObject({
    kind: 'mail',
    mail: [{ from: 'ada', body: 'Take the next one' }],
  })
  expect((await bob.call('board_wait')).structuredContent).toMatchObject({ kind: 'task', task: { owner: 'bob' } })
  const asked = await bob.call('board_request', { to: 'ada', topic: 'plan_approval', body: 'Write it' })
  const { requestId } = asked.structuredContent as { requestId: string }
  expect(toolErrorOf(await bob.call('board_respond', { requestId, approve: true })).code).toBe('NOT_OWNER')
  await ada.call('board_respond', { requestId, approve: true })
  expect((await bob.call('board_inbox')).structuredContent).toMatchObject({
    mail: [{ requestId, verdict: 'approved' }],
  })
})

/** In steps so short that the effects of each are complete before the next. */
async function pass(clock: SimulatedClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    clock.increment(Math.min(left, 5_000))
    await turns()
  }
}

const lapsed = { event: 'released', owner: 'ada', reason: 'the lease is over' }

describe.each(eras)('For an MCP client of the %s era', withProcesses, (era) => {
  it('S4-057 a claim stays after the process of an MCP agent over stdio has ended: the agent reconnects under its name and completes the task without a fence', async () => {
    const ledger = ledgerFile()
    const before = await connectStdio(era, ledger, 'ada')
    await put(before, 'Write')
    await before.call('board_claim', { id: 1 })
    await before.close()

    const bob = await connectStdio(era, ledger, 'bob')
    expect(toolErrorOf(await bob.call('board_claim', { id: 1 })).code).toBe('NOT_CLAIMABLE')
    const after = await connectStdio(era, ledger, 'ada')
    expect(taskIn(await after.call('board_complete', { id: 1 }))).toMatchObject({ status: 'completed', fence: 1 })
  })
})

it('S4-057 a claim of an MCP agent is renewed while its connection is open, expires after its lease, and can then be claimed by others', async () => {
  const clock = new SimulatedClock()
  const engine = await openEngine({ clock })
  const ada = connectByHand(engine, { as: 'ada', clock })
  await ada.call('board_create', { subject: 'Write' })
  await ada.call('board_claim', { id: 1 })
  await pass(clock, 600_000)
  ada.input.end()
  await ada.ended

  const bob = connectByHand(engine, { as: 'bob', clock })
  await pass(clock, 35_000)
  expect(toolErrorOf(await bob.call('board_claim', { id: 1 })).code).toBe('NOT_CLAIMABLE')
  await pass(clock, 25_000)
  expect(taskIn(await bob.call('board_get', { id: 1 }))).toMatchObject({ status: 'pending', owner: '', ready: true })
  expect(taskIn(await bob.call('board_claim_next'))).toMatchObject({ id: 1, owner: 'bob', fence: 2 })
  expect((await bob.call('board_log', { id: 1 })).structuredContent).toMatchObject({
    claims: [{ event: 'claimed', owner: 'ada' }, lapsed, { event: 'claimed', owner: 'bob' }],
  })

  const late = connectByHand(engine, { as: 'ada', clock })
  expect(toolErrorOf(await late.call('board_complete', { id: 1 })).code).toMatch(/^(NOT_OWNER|STALE_CLAIM)$/)
  for (const { input, ended } of [bob, late]) {
    input.end()
    await ended
  }
})

it('S4-057 a claim of an MCP agent over HTTP is renewed until its session has been idle for long', async () => {
  const clock = new SimulatedClock()
  const engine = await openEngine({ clock })
  const handler = mcpFetchHandler(engine, { token, abilities: allTools, clock, sessionIdleMs: 300_000 })
  onTestFinished(() => handler.close())
  const call = async (agent: string, name: string, args: object = {}) => {
    const message = modernRequest('tools/call', { name, arguments: args })
    return (await post(handler, message, { 'x-errand-agent': agent })).result as Answer
  }
  await call('ada', 'board_create', { subject: 'Write' })
  await call('ada', 'board_claim', { id: 1 })
  await pass(clock, 295_000)
  expect(toolErrorOf(await call('bob', 'board_claim', { id: 1 })).code).toBe('NOT_CLAIMABLE')
  await pass(clock, 70_000)
  expect(taskIn(await call('bob', 'board_claim', { id: 1 }))).toMatchObject({ owner: 'bob', fence: 2 })
})

it('a claim of an MCP agent has the lease of its session', async () => {
  const clock = new SimulatedClock()
  const engine = await openEngine({ clock })
  const session = (as: string) => createBoardSession({ bus: engine.bus, as, surface: 'mcp', leaseMs: 10_000, clock })
  const ada = connectByHand(engine, { as: 'ada', clock, session })
  await ada.call('board_create', { subject: 'Write' })
  expect(taskIn(await ada.call('board_claim', { id: 1 }))).toMatchObject({ leaseUntil: clock.now() + 10_000 })
  ada.input.end()
  await ada.ended
  await pass(clock, 10_000)
  expect((await engine.bus.call('board:get', { id: 1 })).task).toMatchObject({ status: 'pending' })
})

it('a claim of an MCP agent requires a name: an agent without one passes it with each claim and renews the claim itself', async () => {
  const { url } = await openServer()
  const client = await connectHttp('modern', url)
  await put(client, 'Write')
  expect(toolErrorOf(await client.call('board_claim', { id: 1 }))).toMatchObject({ code: 'INVALID_INPUT' })
  const claimed = taskIn(await client.call('board_claim', { id: 1, as: 'ada', leaseMs: 60_000 }))
  expect(claimed).toMatchObject({ owner: 'ada', fence: 1 })
  const beat = await client.call('board_heartbeat', { id: 1, as: 'ada', fence: 1 })
  expect(taskIn(beat)['leaseUntil']).toBeGreaterThanOrEqual(claimed['leaseUntil'] as number)
})

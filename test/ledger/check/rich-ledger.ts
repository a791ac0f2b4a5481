// A ledger with a row of nearly every kind, as an engine leaves them: groups, dependencies, waits, questions, retries, cancellations, claims, an
// agent, boards, mail, a team with memory, and a family that is being purged. Everything has stopped where it waits.

import { agent } from '../../../src/agents/loop/agent.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { Run } from '../../../src/entities/executor.ts'
import { type Ledger, step } from '../../../src/ledger/ledger.ts'
import { createScriptedModel, openLedger } from '../../../src/testing/index.ts'
import { echo } from '../../agents/world.ts'
import { reached, untilAborted } from '../../engine/world.ts'
import { surface } from '../../operations/world.ts'

const model = createScriptedModel((prompt: { turn: number }) =>
  prompt.turn === 0
    ? { text: 'I look.', tools: [{ name: 'test_echo', input: { text: 'seen' } }] }
    : { text: 'The cookie is lost at the redirect.' },
)

const executors = {
  work: async (_task: unknown, run: Run) => await run.call('add', () => 1),
  fails: () => {
    throw new Error('No luck')
  },
  flaky: async (task: { attempt: number }, run: Run) => {
    await run.call('try', () => task.attempt)
    if (task.attempt === 1) throw new Error('Once')
    return 'then'
  },
  nested: async (_task: unknown, run: Run) => await run.call('outer', async () => await run.call('inner', () => 1)),
  asks: async (_task: unknown, run: Run) => await run.ask('Which one?'),
  waits: async (task: { input: unknown }, run: Run) => await run.wait(task.input as string[]),
  paid: async (_task: unknown, run: Run) => {
    await run.waitForSignal('paid')
    await run.waitForSignal('paid')
  },
  spawns: async (_task: unknown, run: Run) => {
    const child = await run.spawn({ executor: 'work' })
    return await run.wait([child])
  },
  lasts: untilAborted,
  agent: agent({ model, abilities: ['test:echo'] }),
}

type Call = (abilityId: string, input?: unknown) => Promise<Record<string, any>>

/** Some of its runs are live until it is closed. Returns what closes it. */
export async function openRichLedger(name: string): Promise<() => Promise<void>> {
  const ledger = await openLedger(name)
  const options = { ledger, executors, abilities: [echo], memory: { onContradiction: 'newest' } }
  const engine = (await createEngine(options as never)) as unknown as Engine<any>
  const call = surface(engine) as Call
  await purgeHalf(engine, ledger)
  await families(engine)
  await runs(engine)
  await boards(engine, call)
  await memory(call)
  return async () => {
    await engine.close()
    await ledger.close()
  }
}

/** A family of which one step of a purge has removed few rows. */
async function purgeHalf(engine: Engine<any>, ledger: Ledger): Promise<void> {
  const old = await engine.create({ name: 'old', tasks: { one: { name: 'old one' }, two: { name: 'old two' } } })
  await engine.cancel(old.id)
  const before = Date.now() + 60_000
  await ledger.step(
    step('purge', function* (tx) {
      const family = yield* tx.purge.inspect(old.id, before)
      if (family === undefined) throw new Error('the old family may not be purged')
      yield* tx.purge.begin([family])
      yield* tx.purge.remove(yield* tx.task.idsBelow(old.id), 3)
    }),
  )
}

async function families(engine: Engine<any>): Promise<void> {
  const group = await engine.create({
    name: 'release',
    concurrency: 1,
    tasks: {
      build: { executor: 'work' },
      test: { executor: 'work', after: ['build'] },
      sign: { name: 'sign', after: ['test'] },
      ship: { executor: 'work', after: ['sign'] },
    },
  })
  await reached(engine, (await childNamed(engine, group.id, 'test')).id, 'completed')
  const failed = await engine.create({ executor: 'fails', name: 'broken' })
  await reached(engine, failed, 'failed')
  const blocked = await engine.create({ name: 'stuck', executor: 'work', blockedBy: [failed.id] })
  await engine.create({ name: 'stuck too', executor: 'work', blockedBy: [blocked.id] })
  await engine.create({ name: 'ignores', blockedBy: [failed.id], onDependencyFailure: 'ignore' })
  await engine.create({ name: 'gives up', blockedBy: [failed.id], onDependencyFailure: 'cancel' })
  const canceled = await engine.create({
    name: 'canceled',
    tasks: { a: { executor: 'work', autoStart: false }, b: { name: 'b' } },
  })
  await engine.cancel(canceled.id)
  const promoted = await engine.create({ name: 'deleted', tasks: { kept: { name: 'kept', priority: 1 } } })
  await engine.delete(promoted.id, { children: 'promote' })
  const ended = await engine.create({ name: 'ended', tasks: { only: { executor: 'work' } } })
  await reached(engine, ended, 'completed')
}

async function childNamed(engine: Engine<any>, parentId: string, name: string): Promise<{ id: string }> {
  const child = (await engine.children(parentId)).find((each) => each.name === name || each.key === name)
  if (child === undefined) throw new Error(`${parentId} has no child ${name}`)
  return child
}

async function runs(engine: Engine<any>): Promise<void> {
  for (const executor of ['flaky', 'nested', 'spawns', 'agent']) {
    await reached(
      engine,
      await engine.create({ executor, name: executor, goal: 'Go', retry: { maxAttempts: 2 } } as never),
      'completed',
    )
  }
  await reached(engine, await engine.create({ executor: 'asks', name: 'asks' }), 'input_required')
  const paid = await engine.create({ executor: 'paid', name: 'paid' })
  await engine.signal(paid, 'paid', { amount: 12 }, { id: 'evt_1' })
  await engine.signal(paid, 'shipped')
  await reached(engine, paid, 'waiting')
  const byHand = await engine.create({ name: 'by hand' })
  await reached(engine, await engine.create({ executor: 'waits', name: 'waits', input: [byHand.id] }), 'waiting')
  await engine.claim(byHand.id, { owner: 'ann', leaseMs: 3_600_000 })
  await reached(engine, await engine.create({ executor: 'lasts', name: 'lasts' }), 'working')
  await engine.create({ name: 'later', executor: 'work', notBefore: Date.now() + 3_600_000 })
  await engine.create({ name: 'held', executor: 'work', autoStart: false })
}

async function boards(engine: Engine<any>, call: Call): Promise<void> {
  await call('board:list', {})
  const { id: parentId } = await engine.create({ name: 'of a board' })
  await call('board:open', { board: 'side', parent: parentId })
  await call('board:create', { subject: 'on both', board: 'side' })
  await call('board:send', { to: 'bob', as: 'ann', body: 'hello' })
  const { requestId } = await call('board:request', { to: 'bob', as: 'ann', topic: 'plan', body: 'This one?' })
  await call('board:respond', { requestId, as: 'bob', approve: true })
  await call('board:list', {})
}

async function memory(call: Call): Promise<void> {
  const { taskId, branch } = await call('task:create', { name: 'Fix Auth', objectives: ['Find it', 'Repair it'] })
  const see = (sessionId: string, content: string, more: object = {}) =>
    call('mem:observe', { sessionId, type: 'insight', content, ...more })
  for (const agentId of ['ada', 'bob']) {
    await call('agent:join', { taskId, agentId })
    await see(agentId, 'Fixed the bug in the refresh of tokens', { taskId, agentId })
    await see(agentId, `The build of ${agentId} is slow on Mondays`, { taskId, agentId })
    await call('agent:complete', { taskId, agentId, summary: `${agentId} has looked` })
  }
  await call('task:complete', { taskId })
  for (const [at, text] of [
    'The timeout of the server is 30 seconds',
    'The timeout of the server is 40 seconds',
  ].entries()) {
    await see(`s${at}`, text)
    await call('mem:consolidate', { level: 'session', sessionId: `s${at}` })
  }
  const open = await call('task:create', { name: 'Still open' })
  await call('agent:join', { taskId: open['taskId'], agentId: 'cleo' })
  await see('s9', `not consolidated yet, like ${branch}`)
}

// The end of work in a team: agents are completed and the team is closed, whichever engine wrote the end; errors of
// memory change no task.
import { describe, expect, it } from 'vitest'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { deferred, history, ledgerFile, openEngine, puppet, reached } from '../engine/world.ts'
import { closed, factsOn, left, openWithLedger, says, scripted, stintsOf, teamOf } from './team-world.ts'
import { gatedTool } from './world.ts'

describe('an agent of a team whose task has settled', () => {
  it('S2-018 S2-019 an agent of a team whose task has settled is completed with its result as summary, and its facts reach the branch of its team', async () => {
    const { engine, ledger } = await openWithLedger({ executors: { reader: says('The cache is stale.').executor } })
    const group = await engine.create({
      name: 'Read',
      team: true,
      tasks: { read: { executor: 'reader', goal: 'Read' }, hold: { name: 'By hand' } },
    })
    await left(engine, group.id, 'reader')
    expect(await stintsOf(ledger, group.id)).toMatchObject([
      { agentId: 'reader', status: 'completed', summary: 'The cache is stale.', leftAt: expect.any(Number) },
    ])
    expect(await factsOn(ledger, 'task/read')).toMatchObject([
      { text: 'The cache is stale.', category: 'insight', confidence: 70, agentId: 'reader', taskId: group.id },
    ])
    expect(await teamOf(ledger, group.id)).toMatchObject({ closedAt: null })
  })

  it('an agent of a team whose task has settled is completed when its task has failed for good or was canceled, not while a retry is due', async () => {
    const flaky = scripted([{ text: 'I thi', error: 'drop' }], {
      modelRetry: { maxAttempts: 1 },
      retry: { maxAttempts: 2, backoffMs: 0, jitter: 0 },
    })
    const slow = gatedTool('test:slow')
    const endless = scripted([{ tools: [{ name: 'test_slow' }] }])
    const { engine, ledger } = await openWithLedger({
      executors: { flaky: flaky.executor, endless: endless.executor },
      abilities: [slow.ability],
    })
    const team = await engine.create({ name: 'Try', team: true })
    const failing = await engine.create({ executor: 'flaky', goal: 'Speak', parentId: team.id })
    await left(engine, team.id, 'flaky')
    const canceled = await engine.create({ executor: 'endless', goal: 'Wait', parentId: team.id })
    await slow.began(0)
    await engine.cancel(canceled.id, 'enough')
    await left(engine, team.id, 'endless')
    expect(flaky.model.prompts).toHaveLength(2)
    expect(
      (await stintsOf(ledger, team.id)).map(({ agentId, number, status, summary }) => [
        agentId,
        number,
        status,
        summary,
      ]),
    ).toEqual([
      ['flaky', 1, 'completed', expect.stringMatching(/^failed: \S+/)],
      ['endless', 1, 'completed', 'canceled: enough'],
    ])
    await engine.retry(failing.id)
    await reached(engine, failing, 'failed')
    await left(engine, team.id, 'flaky', 2)
    expect((await stintsOf(ledger, team.id)).filter(({ agentId }) => agentId === 'flaky')).toMatchObject([
      { number: 1, branch: 'task/try/flaky' },
      { number: 2, branch: 'task/try/flaky', status: 'completed', workerId: failing.id },
    ])
  })

  it('an agent of a team whose task has settled leaves its objectives open when its task failed or was canceled', async () => {
    const { engine } = await openWithLedger({
      executors: {
        flaky: scripted([{ text: 'I thi', error: 'drop' }], { modelRetry: { maxAttempts: 1 } }).executor,
        sound: says('Done.').executor,
      },
    })
    const team = await engine.create({ name: 'Try', team: true, objectives: ['Speak', 'Listen'] })
    for (const [index, agentId] of ['flaky', 'sound'].entries()) {
      await engine.bus.call('objective:update', { taskId: team.id, objectiveId: index + 1, status: 'active', agentId })
      await engine.create({ executor: agentId as 'flaky' | 'sound', goal: 'Speak', parentId: team.id })
      await left(engine, team.id, agentId)
    }
    expect(await engine.bus.call('task:context', { taskId: team.id })).toMatchObject({
      objectives: [
        { id: 1, status: 'todo', agentId: 'flaky' },
        { id: 2, status: 'done', agentId: 'sound' },
      ],
    })
  })

  it('an agent of a team whose task has settled is completed although its task has been purged since', async () => {
    const file = ledgerFile()
    const slow = gatedTool('test:slow')
    const endless = scripted([{ tools: [{ name: 'test_slow' }] }])
    const first = await openEngine({
      ledger: file,
      executors: { endless: endless.executor },
      abilities: [slow.ability],
      shutdownTimeoutMs: 50,
    })
    const team = await first.create({ name: 'Lead', team: true })
    const middle = await first.create({ name: 'Middle', parentId: team.id })
    const worker = await first.create({ executor: 'endless', goal: 'Wait', parentId: middle.id })
    await slow.began(0)
    await first.close()
    const commander = await openEngine({ ledger: file, work: false })
    await commander.cancel(worker.id)
    // Its children are roots from now on.
    await commander.delete(middle.id)
    expect(await commander.purge({ before: 8e15 })).toMatchObject({ tasks: 1 })
    await commander.close()
    const second = await openEngine({ ledger: file, executors: { endless: endless.executor } })
    await left(second, team.id, 'endless')
  })

  it('an agent of a team whose task has settled is completed by any working engine, whichever wrote the end', async () => {
    const file = ledgerFile()
    const commander = await openEngine({ ledger: file, work: false })
    const slow = gatedTool('test:slow')
    const endless = scripted([{ tools: [{ name: 'test_slow' }] }])
    const engine = await openEngine({
      ledger: file,
      executors: { endless: endless.executor },
      abilities: [slow.ability],
    })
    const task = await engine.create({ executor: 'endless', goal: 'Wait', team: true })
    await slow.began(0)
    await commander.cancel(task.id)
    await left(engine, task.id, 'endless')
  })
})

describe('a team whose task is completed', () => {
  it('S2-031 S2-034 a team whose task is completed is closed after its agents, when its own executor has ended', async () => {
    const { engine, ledger } = await openWithLedger({ executors: { lone: says('All is well.').executor } })
    const task = await engine.create({ name: 'Look', executor: 'lone', goal: 'Look', team: true })
    await closed(engine, task.id)
    expect((await history(engine, task.id)).map(({ type }) => type).slice(-3)).toEqual([
      'task.completed',
      'agent.completed',
      'team.closed',
    ])
    expect(await teamOf(ledger, task.id)).toMatchObject({ summary: 'All is well.', closedAt: expect.any(Number) })
    // An insight of a single agent belongs to its task: it is no durable fact.
    expect(await factsOn(ledger, 'main')).toEqual([])
  })

  it('a team whose task is completed is closed when the children have ended, or when a person completed the task by hand', async () => {
    const { engine } = await openWithLedger({ executors: { reader: says('Read.').executor } })
    const group = await engine.create({
      name: 'Read',
      team: true,
      tasks: { one: { executor: 'reader', goal: 'Read' } },
    })
    await closed(engine, group.id)
    const byHand = await engine.create({ name: 'By hand', team: true })
    await engine.claim(byHand.id, { owner: 'Anna' })
    await engine.complete(byHand.id, 'done', { owner: 'Anna' })
    await closed(engine, byHand.id)
  })

  it('a team whose task is completed waits for an agent that works from outside, however the task was completed', async () => {
    const { engine, ledger } = await openWithLedger({ executors: { reader: says('Read.').executor } })
    const task = await engine.create({ name: 'Read', executor: 'reader', goal: 'Read', team: true, autoStart: false })
    await engine.bus.call('agent:join', { taskId: task.id, agentId: 'Anna' })
    await engine.start(task.id)
    await left(engine, task.id, 'reader')
    await engine.create({ executor: 'reader', goal: 'Something else' }).then((other) => engine.result(other))
    expect(await teamOf(ledger, task.id)).toMatchObject({ closedAt: null })
    await engine.bus.call('agent:complete', { taskId: task.id, agentId: 'Anna', summary: 'Helped.' })
    await closed(engine, task.id)
  })

  it('a team whose task is completed waits for children that are still working', async () => {
    const slow = gatedTool('test:slow')
    const worker = scripted([{ tools: [{ name: 'test_slow' }] }, { text: 'Late, but found.' }])
    const { engine, ledger } = await openWithLedger({
      executors: { worker: worker.executor, boss: says('I need not wait.').executor },
      abilities: [slow.ability],
    })
    const task = await engine.create({ name: 'Lead', executor: 'boss', goal: 'Lead', team: true, autoStart: false })
    await engine.create({ executor: 'worker', goal: 'Work', parentId: task.id, autoStart: true })
    const call = await slow.began(0)
    await engine.start(task.id)
    await left(engine, task.id, 'boss')
    expect(await teamOf(ledger, task.id)).toMatchObject({ closedAt: null })
    call.end('slept')
    await closed(engine, task.id)
    expect((await factsOn(ledger, 'task/lead')).map(({ text }) => text).sort()).toEqual([
      'I need not wait.',
      'Late, but found.',
    ])
  })

  it('a team whose task is completed stays as it is when it was closed before, with the summary given at that time', async () => {
    const held = puppet()
    const { engine, ledger } = await openWithLedger({ executors: { plain: held.executor } })
    const task = await engine.create({ name: 'Lead', executor: 'plain', team: true })
    await held.started(0)
    await engine.bus.call('task:complete', { taskId: task.id, summary: 'By hand.' })
    await closed(engine, task.id)
    await engine.idle()
    expect(await teamOf(ledger, task.id)).toMatchObject({ summary: 'By hand.' })
    expect((await history(engine, task.id)).filter(({ type }) => type === 'team.closed')).toHaveLength(1)
  })
})

describe('teams whose tasks ended while no engine was working', () => {
  it('teams whose tasks ended while no engine was working are processed by the next working engine: agents of settled tasks, and teams that are not closed', async () => {
    const file = ledgerFile()
    const slow = gatedTool('test:slow')
    const endless = scripted([{ tools: [{ name: 'test_slow' }] }])
    const first = await openEngine({
      ledger: file,
      executors: { endless: endless.executor },
      abilities: [slow.ability],
      shutdownTimeoutMs: 50,
    })
    const task = await first.create({ executor: 'endless', goal: 'Wait', team: true })
    const done = await first.create({ name: 'By hand', team: true })
    await slow.began(0)
    await first.close()
    const commander = await openEngine({ ledger: file, work: false })
    await commander.cancel(task.id)
    await commander.claim(done.id, { owner: 'Anna' })
    await commander.complete(done.id, 'done', { owner: 'Anna' })
    await commander.close()
    const second = await openEngine({ ledger: file, executors: { endless: endless.executor } })
    await left(second, task.id, 'endless')
    await closed(second, done.id)
  })
})

describe('a team whose memory fails', () => {
  const remembers = [
    { tools: [{ name: 'mem_remember', input: { text: 'The cache is stale.' } }] },
    { text: 'The cache is cold.' },
  ]

  it('a team whose memory fails is reported without changing a task, and the next engine retries', async () => {
    const file = ledgerFile()
    const reported: Array<Record<string, unknown>> = []
    const broken = await openEngine({
      ledger: file,
      executors: { reader: scripted(remembers).executor },
      memory: {
        similarity: () => {
          throw new Error('no idea')
        },
      },
      onError: (_error, context) => reported.push(context),
    })
    const task = await broken.create({ executor: 'reader', goal: 'Read', team: true })
    expect(await broken.result(task)).toBe('The cache is cold.')
    await broken.close()
    expect(reported).toEqual([{ taskId: task.id, doing: 'complete an agent' }])
    const engine = await openEngine({ ledger: file, executors: { reader: says('').executor } })
    await closed(engine, task.id)
    expect(await engine.get(task.id)).toMatchObject({ status: 'completed', result: 'The cache is cold.' })
  })

  it('a team whose memory fails is retried by the same engine after a while', async () => {
    const clock = new SimulatedClock()
    const reported = deferred()
    let isOut = true
    const { engine } = await openWithLedger({
      executors: { reader: scripted(remembers).executor },
      clock,
      memory: {
        similarity() {
          if (isOut) throw new Error('out of reach')
          return 0
        },
      },
      onError: () => reported.resolve(),
    })
    const task = await engine.create({ executor: 'reader', goal: 'Read', team: true })
    await reported.promise
    isOut = false
    // The timer is armed right after the report.
    await engine.get(task.id)
    clock.increment(30_000)
    await closed(engine, task.id)
  })

  it('a team whose memory fails blocks no name: the next agent works under another', async () => {
    const { engine, ledger } = await openWithLedger({
      executors: { reader: scripted(remembers).executor },
      memory: {
        similarity: () => {
          throw new Error('no idea')
        },
      },
      onError: () => {},
    })
    const goal = { executor: 'reader', goal: 'Read' } as const
    const tasks = { one: goal, two: { ...goal, after: 'one' } }
    const group = await engine.create({ name: 'Read', team: true, tasks })
    await engine.result(group)
    const [, two] = await engine.children(group.id)
    expect((await stintsOf(ledger, group.id)).map(({ agentId }) => agentId)).toEqual(['reader', `reader-${two?.seq}`])
  })

  it('a team whose memory fails delays the closing of an engine by no more than its time-out', async () => {
    const asked = deferred()
    const engine = await openEngine({
      executors: { reader: scripted(remembers).executor },
      memory: {
        similarity: () => {
          asked.resolve()
          return new Promise<number>(() => {})
        },
      },
      shutdownTimeoutMs: 50,
    })
    await engine.result(await engine.create({ executor: 'reader', goal: 'Read', team: true }))
    await asked.promise
    await engine.close()
  })
})

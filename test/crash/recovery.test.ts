// Recovery by a new process after a kill: every call in progress fails exactly once, nothing is silently executed again, waiting tasks keep
// waiting, and finished tasks are not changed.
import { spawnSync } from 'node:child_process'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import { createOne, createPlace, effectsOf, openEngine, startEngine, twoAtATime } from './child.ts'
import { violations } from './invariants.ts'

/** Resolves when the last run of each task is closed. */
async function allClosed(engine: Engine, taskIds: readonly string[]): Promise<void> {
  for await (const _event of engine.events()) {
    const runs = await Promise.all(taskIds.map(async (id) => (await engine.runs(id)).at(-1)))
    if (runs.every((run) => run?.status === 'closed')) return
  }
}

const keyed = (name: string, more: object = {}) => ({ executor: name, name, key: name, ...more })

describe('A killed engine', () => {
  it('S0-100 S0-101 recovery fails the calls in progress of a killed engine, with a message, and does not execute them again', async () => {
    const place = createPlace()
    const first = startEngine(place, { create: [keyed('held')], leave: 'never' })
    await first.lineWhere((line) => 'inside' in line)
    await first.kill()
    const engine = await openEngine(place)
    const task = await createOne(engine, keyed('held'))
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'CALL_INTERRUPTED' } })
    const [call] = await engine.calls(task)
    expect(call).toMatchObject({ status: 'failed', error: { message: 'Process crashed during execution' } })
    expect((await engine.messages(task)).map(({ role, content }) => ({ role, content }))).toEqual([
      { role: 'assistant', content: '✗ held failed due to process crash' },
    ])
    expect(effectsOf(place)).toHaveLength(1)
    await engine.idle()
    expect(await violations(place)).toEqual([])
  })

  it('S0-099 S0-104 an engine resumes all unfinished tasks of a killed one at start-up, within its limit', async () => {
    const place = createPlace()
    const many = Array.from({ length: 9 }, (_, index) => keyed('idle', { key: `idle ${index}` }))
    const first = startEngine(place, { create: many, leave: 'never', maxConcurrent: 6 })
    for (let n = 0; n < 6; n++)
      await first.lineWhere((line) => 'idling' in line && first.lines.filter((each) => 'idling' in each).length > n)
    await first.kill()
    const second = startEngine(place, { leave: 'never', maxConcurrent: 2 })
    const third = await openEngine(place, { work: false })
    await second.lineWhere((line) => 'idling' in line)
    let working = await third.list({ status: 'working' })
    expect(working.total).toBeLessThanOrEqual(2)
    for (let left = 9; left > 0; left = (await third.list({ status: ['submitted', 'waiting', 'working'] })).total) {
      working = await third.list({ status: 'working' })
      expect(working.total).toBeLessThanOrEqual(2)
      for (const { id } of working.tasks) await third.cancel(id)
      if (working.total === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    const runs = await Promise.all((await third.list({ limit: 20 })).tasks.map((task) => third.runs(task)))
    // The six running tasks were interrupted once each, and then run by the second engine.
    expect(runs.flat().filter((run) => run.outcome === 'interrupted')).toHaveLength(6)
  })

  it('S0-102 S0-105 X-010 X-011 tasks in each of the eight states keep their state when their engine is killed, and can continue', async () => {
    const place = createPlace()
    const hands = await openEngine(place, { work: false })
    const first = startEngine(place, {
      create: [
        keyed('leaf', { priority: 3 }),
        keyed('throws', { metadata: { kept: 'yes' } }),
        keyed('asks'),
        keyed('waits'),
        keyed('held', { priority: 7, onInterrupt: 'rerun' }),
        keyed('idle', { key: 'paused', name: 'paused' }),
        keyed('idle', { key: 'canceled', name: 'canceled' }),
        keyed('leaf', { key: 'submitted', name: 'submitted', autoStart: false }),
      ],
      leave: 'never',
    })
    const { tasks } = (await first.lineWhere((line) => 'ready' in line)) as { tasks: string[] }
    const [leaf, throws, asks, waits, held, paused, canceled, submitted] = tasks as [string, ...string[]] & string[]
    await first.lineWhere((line) => line['idling'] === paused)
    await first.lineWhere((line) => line['idling'] === canceled)
    await first.lineWhere((line) => line['inside'] === held)
    await hands.pause(paused as string)
    await hands.cancel(canceled as string, 'not needed')
    for await (const { type, taskId } of hands.events()) if (type === 'task.input_required' && taskId === asks) break
    for await (const { type, taskId } of hands.events()) if (type === 'task.waiting' && taskId === waits) break
    await hands.settled(leaf as string)
    await hands.settled(throws as string)
    const snapshot = async () => Promise.all(tasks.map((id) => hands.get(id)))
    // Recovery writes only to tasks whose last run is still open.
    await allClosed(
      hands,
      tasks.filter((id) => id !== held && id !== submitted),
    )
    await first.kill()
    const before = await snapshot()
    expect(before.map((task) => task?.status)).toEqual([
      'completed',
      'failed',
      'input_required',
      'waiting',
      'working',
      'paused',
      'canceled',
      'submitted',
    ])
    const second = startEngine(place, { leave: 'never' })
    await second.lineWhere((line) => line['inside'] === held)
    const after = await snapshot()
    for (const [index, task] of after.entries()) {
      if (tasks[index] === held) expect(task).toMatchObject({ status: 'working', priority: 7 })
      else expect({ ...task, updatedAt: 0 }).toEqual({ ...before[index], updatedAt: 0 })
    }
    expect((await hands.runs(held as string)).map((run) => run.outcome)).toEqual(['interrupted', null])
    second.send('go')
    await hands.answer(asks as string, 42)
    expect(await hands.result(asks as string)).toBe(42)
    expect(await hands.result(held as string)).toBe(`held of ${held}`)
    await hands.resume(paused as string)
    await second.lineWhere((line) => line['idling'] === paused)
    await hands.start(submitted as string)
    expect(await hands.result(submitted as string)).toBe(`leaf of ${submitted}`)
  })

  it('X-009 an engine publishes an event only after it is durable', async () => {
    await twoAtATime([1, 2, 3, 4, 5, 6, 7, 8], async (nth) => {
      const place = createPlace()
      const child = startEngine(place, { create: [keyed('everyStep')], leave: 'never', follow: true })
      const last = await child.lineWhere((line) => Number(line['seq']) >= nth * 2)
      await child.kill()
      const database = new Database(place.ledger, { readonly: true })
      const row = database.prepare('select type, task_id from event where seq = ?').get(last['seq'])
      database.close()
      expect(row).toEqual({ type: last['type'], task_id: last['taskId'] })
      const rows = child.lines.filter((line) => 'seq' in line).map((line) => line['seq'])
      expect(rows).toEqual(rows.map((_, index) => (rows[0] as number) + index))
    })
  })

  it('X-012 tasks with a damaged snapshot or one of another version continue from their rows, with an event for each', async () => {
    const place = createPlace()
    const producer = await openEngine(place, { work: false })
    for (const key of ['a', 'b', 'c']) await createOne(producer, keyed('leaf', { key }))
    await producer.close()
    const database = new Database(place.ledger)
    for (const [key, text] of Object.entries({ a: 'garbage', b: '{"version":99}', c: '{"value":"completed"}' })) {
      database.prepare('update task set snapshot = ? where key = ?').run(text, key)
    }
    database.close()
    const errors: unknown[] = []
    const engine = await openEngine(place, { onError: (error: unknown) => errors.push(error) })
    for (const key of ['a', 'b', 'c']) {
      const task = await createOne(engine, keyed('leaf', { key }))
      expect(await engine.result(task)).toBe(`leaf of ${task.id}`)
    }
    const types = []
    for await (const { type } of engine.events({ follow: false })) types.push(type)
    expect(types.filter((type) => type === 'task.repaired')).toHaveLength(3)
    expect(errors).toHaveLength(3)
  })
})

describe('An engine that closes', () => {
  it('S0-108 a closed engine does not keep its process alive, and refuses new work', async () => {
    const place = createPlace()
    const child = startEngine(place, { create: [keyed('sleeps', { input: { ms: 3_600_000 } })], leave: 'at once' })
    expect(await child.exited).toEqual({ code: 0, signal: null })
    const engine = await openEngine(place)
    await engine.close()
    await expect(createOne(engine, keyed('leaf'))).rejects.toMatchObject({ code: 'ENGINE_CLOSED' })
  })

  it('S0-107 an engine that closes waits for its runs for the given time, and another engine runs what did not end', async () => {
    const place = createPlace()
    const stubborn = Promise.withResolvers<void>()
    const inside = Promise.withResolvers<void>()
    onTestFinished(() => stubborn.resolve())
    const executors = {
      held: async () => {
        inside.resolve()
        await stubborn.promise
      },
    }
    const engine = await openEngine(place, { executors, shutdownTimeoutMs: 100 })
    const task = await createOne(engine, keyed('held'))
    await inside.promise
    // Without its limit it would wait for this run.
    await engine.close()
    const second = await openEngine(place, { executors: { held: async () => 'done' } })
    expect(await second.result(task)).toBe('done')
    expect((await second.runs(task)).map((run) => run.outcome)).toEqual(['released', 'completed'])
  })
})

it('S0-098 a new process reads the details of a task that another process ran from the ledger', async () => {
  const place = createPlace()
  const child = startEngine(place, { create: [keyed('everyStep')], leave: 'settled' })
  expect((await child.exited).code).toBe(0)
  const engine = await openEngine(place, { work: false })
  const task = await createOne(engine, keyed('everyStep'))
  expect(task.status).toBe('completed')
  expect((await engine.calls(task)).map((each) => each.name)).toEqual(['one', 'two'])
  expect(await engine.messages(task)).toHaveLength(1)
  expect(await engine.children(task)).toHaveLength(1)
  expect(engine.status.get().context).toMatchObject({ slots: { used: 0 }, running: [] })
  expect(spawnSync('ls', [place.folder]).stdout.toString()).not.toContain('instance')
})

// Rows damaged by other programs: they are named, and all others keep working.
import { describe, expect, it } from 'vitest'
import { SimulatedClock } from 'xstate'
import type { Run, Task } from '../../src/index.ts'
import { connect } from '../../src/ledger/sqlite/connection.ts'
import { main } from '../../src/surfaces/cli/main.ts'
import { fakeIo } from '../surfaces/cli/fake-io.ts'
import { ledgerFile, openEngine, reached, refusalOf } from './world.ts'

const executors = { work: () => 'done' }

/** A ledger with three tasks, of which the second is damaged in a column. */
async function damagedLedger(column: string, executor?: 'work', text = '{"broken') {
  const ledger = ledgerFile()
  const producer = await openEngine({ ledger, work: false, executors })
  const ids: string[] = []
  for (const name of ['before', 'damaged', 'after']) {
    const options = { name, input: { secret: 1 }, tags: ['t'] }
    const task =
      executor === undefined ? await producer.create(options) : await producer.create({ ...options, executor })
    ids.push(task.id)
  }
  await producer.close()
  write(ledger, `update task set ${column} = '${text}' where name = 'damaged'`)
  return { ledger, ids: ids as [string, string, string] }
}

function write(ledger: string, sql: string): void {
  const connection = connect(ledger, { busyTimeoutMs: 1_000 })
  connection.execute(sql)
  connection.close()
}

function stored(ledger: string, column: string): unknown {
  const connection = connect(ledger, { busyTimeoutMs: 1_000 })
  const [row] = connection.run({
    sql: `select ${column} as text from task where name = 'damaged'`,
    parameters: [],
    want: 'rows',
  }) as [{ text: unknown }]
  connection.close()
  return row.text
}

it('a parked run whose row is damaged fails as LEDGER_CORRUPT when it would go on, and keeps no slot from others', async () => {
  const ledger = ledgerFile()
  const work = async (_task: unknown, run: Run) => run.wait(await run.spawn({ name: 'by hand' }), { inMemory: true })
  const engine = await openEngine({ ledger, maxConcurrent: 1, executors: { work, other: () => 'done' } })
  const task = await engine.create({ name: 'damaged', executor: 'work' })
  for await (const { type } of engine.events({ taskId: task.id })) if (type === 'run.parked') break
  write(ledger, `update task set input = '{"broken' where name = 'damaged'`)
  const [child] = (await engine.children(task)) as [Task]
  await engine.claim(child.id, { owner: 'ann' })
  await engine.complete(child.id, null, { owner: 'ann' })
  expect(await engine.result(await engine.create({ executor: 'other' }))).toBe('done')
  expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'LEDGER_CORRUPT' } })
})

describe('a task with invalid JSON in its row', () => {
  const columns = ['input', 'policy', 'metadata', 'tags', 'progress', 'result', 'error']

  it.each(columns)('a task with invalid JSON in its row is listed with all the others: %s', async (column) => {
    const { ledger, ids } = await damagedLedger(column)
    const engine = await openEngine({ ledger, work: false })
    expect((await engine.list()).tasks.map(({ id }) => id)).toEqual(ids)
    expect((await engine.bus.call('task:list', {})).tasks.map(({ id }) => id)).toEqual(ids)
    expect((await engine.bus.call('task:list', { tags: ['t'] })).total).toBe(column === 'tags' ? 2 : 3)
    expect(await engine.get(ids[1])).toMatchObject({ name: 'damaged' })
  })

  it.each(columns)(
    'a task with invalid JSON in its row fails as LEDGER_CORRUPT at its admission, and the others run: %s',
    async (column) => {
      const { ledger, ids } = await damagedLedger(column, 'work')
      const engine = await openEngine({ ledger, executors })
      const [before, damaged, after] = await Promise.all(ids.map((id) => engine.settled(id)))
      expect([before?.status, after?.status]).toEqual(['completed', 'completed'])
      expect(damaged).toMatchObject({
        status: 'failed',
        error: { code: 'LEDGER_CORRUPT', message: expect.stringContaining(column) },
      })
      expect((damaged as { error: { message: string } }).error.message).toContain(ids[1])
    },
  )

  it('a task with invalid JSON in its row frees its slot for the next task at once', async () => {
    const { ledger, ids } = await damagedLedger('input', 'work')
    // A clock that stands still: no interval passes after which the engine would look again.
    const engine = await openEngine({ ledger, executors, maxConcurrent: 1, clock: new SimulatedClock() })
    expect((await engine.settled(ids[2])).status).toBe('completed')
  })

  it.each([
    ['policy', 'null'],
    ['tags', '5'],
    ['tags', '[5]'],
    ['progress', '7'],
    ['error', '{}'],
    ['metadata', '[1]'],
  ])(
    'a task with invalid JSON in its row is treated like one whose value has another type: %s %s',
    async (column, text) => {
      const { ledger, ids } = await damagedLedger(column, 'work', text)
      const engine = await openEngine({ ledger, executors })
      const [before, damaged] = await Promise.all(ids.map((id) => engine.settled(id)))
      expect(before?.status).toBe('completed')
      expect(damaged).toMatchObject({ status: 'failed', error: { code: 'LEDGER_CORRUPT' } })
      expect((await engine.bus.call('board:list', {})).tasks).toHaveLength(3)
      expect((await engine.bus.call('task:list', {})).total).toBe(3)
    },
  )

  it('a task with invalid JSON in its row shows the damaged text, and keeps it when other fields are changed', async () => {
    const { ledger, ids } = await damagedLedger('input')
    const engine = await openEngine({ ledger, work: false })
    expect(await engine.get(ids[1])).toMatchObject({ input: { unreadable: '{"broken' } })
    await engine.update(ids[1], { priority: 5 })
    await engine.cancel(ids[1])
    expect(await engine.get(ids[1])).toMatchObject({ status: 'canceled', priority: 5 })
    await engine.close()
    expect(stored(ledger, 'input')).toBe('{"broken')
  })
})

describe('a task or an open question that something else has written into', () => {
  it.each([
    ['task', 'policy', '{"team":null}'],
    ['task', 'progress', '{"fraction":1}'],
    ['task', 'error', '{"code":"X","message":5}'],
    ['task', 'metadata', '5'],
    ['task', 'tags', '{}'],
    ['task', 'result', '[['],
    ['call', 'params', '{"broken'],
    ['call', 'params', 'null'],
    ['call', 'params', '{"question":{}}'],
    ['call', 'params', '{"question":"Deploy?","for":7}'],
    ['call', 'result', '{"broken'],
    ['call', 'details', '{"broken'],
  ])(
    'a task or an open question that something else has written into is listed, shown, canceled and purged with the others: %s %s %s',
    async (table, column, text) => {
      const ledger = ledgerFile()
      const worker = await openEngine({ ledger, executors: { asking: (_task: Task, run: Run) => run.ask('Deploy?') } })
      const ids: string[] = []
      for (const name of ['before', 'damaged', 'after']) {
        const { id } = await worker.create({ name, executor: 'asking' })
        await reached(worker, id, 'input_required')
        ids.push(id)
      }
      await worker.close()
      write(
        ledger,
        `update ${table} set ${column} = '${text}' where ${table === 'task' ? 'id' : 'task_id'} = '${ids[1]}'`,
      )
      for (const args of [['ps'], ['ps', '--json'], ['tree'], ['show', ids[1] as string]]) {
        const io = fakeIo()
        expect([args, await main([...args, '--ledger', ledger], io), io.err()]).toEqual([args, 0, ''])
      }
      const engine = await openEngine({ ledger, work: false })
      expect((await engine.list()).tasks).toHaveLength(3)
      for (const list of ['task:list', 'board:list', 'task:graph'] as const) await engine.bus.call(list, {})
      for (const id of ids) await engine.cancel(id)
      expect(await engine.purge({ before: 8.64e15 })).toMatchObject({ tasks: 3 })
    },
  )

  it('a task or an open question that something else has written into may be answered by people alone when it is not known for whom a question is', async () => {
    const ledger = ledgerFile()
    const worker = await openEngine({
      ledger,
      executors: { asking: (_task: Task, run: Run) => run.ask('Colour?', null, { for: 'anyone' }) },
    })
    const { id } = await worker.create({ executor: 'asking' })
    await reached(worker, id, 'input_required')
    await worker.close()
    write(ledger, `update call set params = '{"broken'`)
    const engine = await openEngine({ ledger, work: false })
    expect((await engine.get(id))?.questions).toMatchObject([
      { question: expect.stringContaining('{"broken') as string, for: 'person' },
    ])
    const model = { surface: 'mcp', model: true as const }
    await refusalOf(engine.bus.call('task:answer', { taskId: id, value: 'red' }, { caller: model }), 'FORBIDDEN')
  })
})

it('a damaged row of another table is refused with the name of the table', async () => {
  const { ledger } = await damagedLedger('input')
  write(ledger, `drop trigger event_is_immutable; update event set data = '{"broken' where seq = 1`)
  write(
    ledger,
    `create trigger event_is_immutable before update on "event" begin select raise(abort, 'an event never changes'); end`,
  )
  const engine = await openEngine({ ledger, work: false })
  const refusal = await refusalOf(engine.bus.call('event:list', {}), 'LEDGER_CORRUPT')
  expect(refusal.message).toContain('event {"seq":1')
  expect((await engine.list()).total).toBe(3)
})

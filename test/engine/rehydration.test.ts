// A ledger opened again: every state is restored with all that belongs to it, and a broken snapshot is not fatal.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { type Task, type TaskStatus, taskStatuses } from '../../src/entities/task.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { touched } from '../../src/machines/changed-task.ts'
import { history, ledgerFile, openEngine, puppet, reached, turns } from './world.ts'

/** Brings a task into a state by real work, on an engine that is then closed. */
async function taskIn(
  engine: Engine<{ work: ReturnType<typeof puppet>['executor'] }>,
  hands: ReturnType<typeof puppet>,
  status: TaskStatus,
  fields: object,
): Promise<Task> {
  const task = await engine.create({ executor: 'work', ...fields, autoStart: status !== 'submitted' })
  if (status === 'submitted') return task
  const held = await hands.started(0)
  if (status === 'paused') await engine.pause(task)
  if (status === 'canceled') await engine.cancel(task, 'enough')
  if (status === 'completed') held.end.resolve({ done: true })
  if (status === 'failed') held.end.reject(new Error('broke'))
  if (status === 'input_required') void held.run.ask('Go on?', { type: 'boolean' }, { default: true })
  if (status === 'waiting') void held.run.sleep(3_600_000)
  const there = await reached(engine, task, status)
  while (status !== 'working' && engine.status.get().context.slots.used > 0) await turns(1)
  return there
}

describe('a task of a closed engine', () => {
  it.each(taskStatuses)(
    'X-010 X-011 a task of a closed engine that was %s is found with its status, family, dependencies and priority',
    async (status) => {
      const ledger = ledgerFile()
      const hands = puppet()
      const first = await openEngine({ ledger, executors: { work: hands.executor } })
      const parent = await first.create({ name: 'parent' })
      const blocker = await first.start(await first.create({ name: 'blocker' }))
      await first.complete(blocker)
      const fields = {
        name: 'a',
        priority: 7,
        parentId: parent.id,
        blockedBy: [blocker.id],
        metadata: { a: [1] },
        goal: 'g',
        input: { b: 2 },
      }
      const task = await taskIn(first, hands, status, fields)
      const child = await first.create({ name: 'child', parentId: task.id }).catch(() => null)
      const before = (await first.get(task)) as Task
      await first.close()

      const again = puppet()
      const second = await openEngine({ ledger, executors: { work: again.executor } })
      if (status === 'working') {
        // Requeued: a new run of the same attempt.
        const held = await again.started(0)
        expect(held.run).toMatchObject({ number: 2, attempt: 1 })
      }
      const found = (await second.get(task)) as Task
      const run = status === 'working' ? before.run + 1 : before.run
      expect({ ...found, updatedAt: 0, statusReason: null }).toEqual({
        ...before,
        run,
        // It was released, its run was closed, and a new run was started.
        version: status === 'working' ? before.version + 3 : before.version,
        updatedAt: 0,
        statusReason: null,
      })
      expect(found).toMatchObject({ status, ...fields, blockedBy: [] })
      expect((await second.children(parent)).map(({ id }) => id)).toEqual([task.id])
      expect((await second.children(task)).map(({ id }) => id)).toEqual(child ? [child.id] : [])
      expect((await second.dependencies(task)).map(({ id }) => id)).toEqual([blocker.id])
      if (status !== 'working') expect(again.runs).toEqual([])
    },
  )

  it('X-011 a task of a closed engine continues: answered, resumed, retried, woken', async () => {
    const ledger = ledgerFile()
    const executors = {
      asks: async (_task: ExecutorTask, run: Run) => `${await run.ask<string>('Go on?')} in run ${run.number}`,
      breaks: (_task: ExecutorTask, run: Run) => {
        if (run.attempt === 1) throw new Error('broke')
        return 'mended'
      },
    }
    const first = await openEngine({ ledger, executors })
    const asks = await first.create({ executor: 'asks' })
    const breaks = await first.create({ executor: 'breaks' })
    await reached(first, asks, 'input_required')
    await first.settled(breaks)
    await first.close()
    const second = await openEngine({ ledger, executors })
    expect((await second.get(asks))?.questions).toHaveLength(1)
    await second.answer(asks, 'yes')
    await second.retry(breaks)
    expect(await second.result(asks)).toBe('yes in run 2')
    expect(await second.result(breaks)).toBe('mended')
  })
})

describe('the stored snapshot of a machine', () => {
  it.each([
    ['no JSON', 'not json'],
    ['of a newer version', '{"version":99,"value":"submitted","context":{}}'],
    ['of another state', '{"version":1,"value":"paused","context":{"taskId":"x","name":"a","attempt":1,"run":0}}'],
  ])(
    'X-012 the stored snapshot of a machine that is %s is rebuilt from the row, reported, and never fatal',
    async (_title, snapshot) => {
      const ledger = await openLedger(':memory:')
      const reported: string[] = []
      const engine = await openEngine({
        ledger,
        executors: { work: () => 'done' },
        onError: (error) => reported.push((error as Error).message),
      })
      const task = await engine.create({ executor: 'work', autoStart: false })
      await ledger.step({
        name: 'spoil',
        *decide(tx) {
          const row = (yield* tx.task.get(task.id))!
          yield* tx.task.save({ ...touched(row, row.updatedAt, {}), snapshot })
        },
      })
      await engine.update(task, { priority: 1 }).catch(() => {})
      await ledger.step({
        name: 'spoil again',
        *decide(tx) {
          const row = (yield* tx.task.get(task.id))!
          yield* tx.task.save({ ...touched(row, row.updatedAt, { held: false }), snapshot })
        },
      })
      await engine.work()
      // The next wake-up makes the engine read, and it finds the task ready.
      await engine.create({ executor: 'work' })
      expect(await engine.result(task)).toBe('done')
      expect(reported).toEqual([
        expect.stringContaining(`The snapshot of ${task.id} did not match its row and was rebuilt`),
      ])
      expect((await history(engine, task.id)).map(({ type }) => type)).toContain('task.repaired')
      await engine.close()
      await ledger.close()
    },
  )
})

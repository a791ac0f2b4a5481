// The content of a ledger that is opened again: all that a step wrote together, and every task in its former state.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { isSettled, taskStatuses } from '../../../src/entities/task.ts'
import { taskMachine } from '../../../src/machines/task-machine.ts'
import { snapshotFault, snapshotsOf, writeSnapshot } from '../../../src/machines/task-snapshot.ts'
import { openLedger, type Step } from '../../../src/testing/index.ts'
import { callRow, edgeRow, eventRow, messageRow, runRow, someTime, taskRow } from '../factories.ts'

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'errand-reopen-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'ledger.db')
}

it('X-008 a step writes a snapshot with its calls, messages, run and events, or nothing', async () => {
  const file = setup()
  const task = taskRow({ id: 'a', status: 'working', run: 1, runOpen: true, snapshot: '' })
  task.snapshot = writeSnapshot(task)
  const whole = (id: string, end: () => void): Step => ({
    name: 'whole',
    *decide(tx) {
      yield* tx.task.insert({ ...task, id })
      yield* tx.run.insert(runRow({ taskId: id }))
      yield* tx.call.insert(callRow({ id: `call-${id}`, taskId: id }))
      yield* tx.message.append(messageRow({ id: `message-${id}`, taskId: id }))
      yield* tx.event.append(eventRow({ taskId: id }))
      end()
    },
  })
  const before = await openLedger(file)
  await Promise.allSettled([
    before.step(whole('a', () => undefined)),
    before.step(
      whole('b', () => {
        throw new Error('after the last write')
      }),
    ),
  ])
  await before.close()

  const ledger = await openLedger(file)
  const found = async (id: string) =>
    ledger.read(function* (tx) {
      return [
        (yield* tx.task.get(id))?.snapshot,
        (yield* tx.run.list(id)).length,
        (yield* tx.call.list(id)).length,
        (yield* tx.message.list(id)).length,
        (yield* tx.event.after(0, 10, id)).length,
      ]
    })
  expect(await found('a')).toEqual([task.snapshot, 1, 1, 1, 1])
  expect(await found('b')).toEqual([undefined, 0, 0, 0, 0])
  await ledger.close()
})

it.each(taskStatuses)(
  'X-010 a %s task keeps its state, context, family, edges, owner and priority when the ledger is opened again',
  async (status) => {
    const file = setup()
    const before = taskRow({
      id: 'a',
      status,
      name: 'A "name" of its own',
      attempt: 2,
      run: 3,
      owner: 'ana',
      priority: 7,
      parentId: 'parent',
      openBlockers: 1,
      completedAt: isSettled(status) ? someTime : null,
    })
    before.snapshot = writeSnapshot(before)
    const first = await openLedger(file)
    await first.step({
      name: 'family',
      *decide(tx) {
        yield* tx.task.insert(taskRow({ id: 'parent' }))
        yield* tx.task.insert(taskRow({ id: 'blocker' }))
        yield* tx.task.insert(before)
        for (const id of ['child-1', 'child-2']) yield* tx.task.insert(taskRow({ id, parentId: 'a' }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'a', blockerId: 'blocker' }))
      },
    })
    await first.close()

    const ledger = await openLedger(file)
    const task = await ledger.read((tx) => tx.task.get('a'))
    if (task === undefined) throw new Error('the task is missing')
    expect(task).toEqual({ ...before, seq: task.seq })
    expect(snapshotFault(task)).toBe(null)
    const restored = snapshotsOf(taskMachine)(task.status, {
      taskId: task.id,
      name: task.name,
      attempt: task.attempt,
      run: task.run,
    })
    expect(restored.value).toBe(status)
    expect(restored.context).toEqual({ taskId: 'a', name: before.name, attempt: 2, run: 3 })
    expect((await ledger.read((tx) => tx.task.children('a'))).map((child) => child.id)).toEqual(['child-1', 'child-2'])
    expect((await ledger.read((tx) => tx.task.ancestors('a'))).map((ancestor) => ancestor.id)).toEqual(['parent'])
    expect(await ledger.read((tx) => tx.dependency.openBlockers('a'))).toEqual(['blocker'])
    await ledger.close()
  },
)

// A crash inside a step that changes a whole family leaves the ledger unchanged, at whichever statement it happens.
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Op, Step, Tx } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { claim } from '../../../src/operations/steps/claim.ts'
import { deleteTask } from '../../../src/operations/steps/delete.ts'
import { unblock } from '../../../src/operations/steps/dependencies.ts'
import { endRunsOf } from '../../../src/operations/steps/recover.ts'
import { retry } from '../../../src/operations/steps/retry.ts'
import { settleRun } from '../../../src/operations/steps/settle-run.ts'
import { cancel, complete, fail } from '../../../src/operations/steps/task-lifecycle.ts'
import { fireTimers } from '../../../src/operations/steps/timers.ts'
import { ledgerFile } from '../../engine/world.ts'
import { edgeRow, runRow, someTime } from '../../ledger/factories.ts'
import { whole } from './whole-row.ts'

const ctx = { at: someTime + 10, instanceId: 'engine-1' }
const width = 12
const retryPolicy = { maxAttempts: 1, backoffMs: 0, backoff: 'fixed', maxBackoffMs: 0, jitter: 0, on: [] } as const

/**
 * A group of `width` tasks that depend on its first, each with a child. `work` is running, and the deadline of `late` has passed. `after`
 * depends on the group and is canceled with it; `broken` is another group, which has failed.
 */
function* family(tx: Tx): Op<void> {
  const failed = { status: 'failed' as const, error: { code: 'X', message: 'x' }, completedAt: someTime }
  const instance = { pid: 1, host: 'here', startedAt: someTime, leaseUntil: someTime, endedAt: null }
  yield* tx.instance.insert({ id: 'engine-1', ...instance })
  yield* tx.task.insert(whole({ id: 'group', group: true, status: 'working', childCount: width + 3 }))
  yield* tx.task.insert(
    whole({ id: 'first', parentId: 'group', status: 'working', policy: { onChildFailure: 'fail' } }),
  )
  yield* tx.task.insert(
    whole({ id: 'work', parentId: 'group', status: 'working', executor: 'x', run: 1, runOpen: true }),
  )
  yield* tx.run.insert(runRow({ taskId: 'work', number: 1, instanceId: 'engine-1' }))
  yield* tx.task.insert(whole({ id: 'late', parentId: 'group', deadline: someTime + 1 }))
  for (let n = 0; n < width; n++) {
    const id = `task-${n}`
    const policy = n % 2 === 0 ? { onDependencyFailure: 'cancel' as const } : {}
    yield* tx.task.insert(whole({ id, parentId: 'group', openBlockers: 1, childCount: 1, policy }))
    yield* tx.dependency.insert(edgeRow({ taskId: id, blockerId: 'first' }))
    yield* tx.task.insert(whole({ id: `below-${n}`, parentId: id, depth: 2 }))
  }
  yield* tx.task.insert(whole({ id: 'broken', group: true, childCount: 2, ...failed }))
  for (const id of ['one', 'two']) yield* tx.task.insert(whole({ id, parentId: 'broken', ...failed }))
  yield* tx.task.insert(whole({ id: 'after', openBlockers: 1, policy: { onDependencyFailure: 'cancel' } }))
  yield* tx.dependency.insert(edgeRow({ taskId: 'after', blockerId: 'group' }))
}

const steps: Record<string, Step> = {
  cancel: cancel('group', 'enough', ctx),
  complete: complete('first', null, undefined, ctx),
  fail: fail('first', { reason: 'broke', code: 'BROKEN' }, undefined, ctx),
  retry: retry('broken', ctx),
  delete: deleteTask('group', 'cascade', ctx),
  'delete and promote': deleteTask('group', 'promote', ctx),
  unblock: unblock('task-0', ['first'], ctx),
  claim: claim({ ...ctx, taskId: 'below-0', owner: 'ann', leaseMs: 1_000, source: 'test' }),
  'settle run': settleRun({
    ...ctx,
    taskId: 'work',
    run: 1,
    outcome: { kind: 'threw', error: { code: 'BROKEN', message: 'broke', final: true } },
    retry: { ...retryPolicy, on: [] },
    chance: 0,
    diverged: [],
    journaled: true,
    readThrough: null,
  }),
  'fire timers': fireTimers({
    ...ctx,
    chance: 0,
    timeoutOf: () => undefined,
    retryOf: () => ({ ...retryPolicy, on: [] }),
    executors: ['x'],
  }),
  'end runs of a lost engine': endRunsOf(
    { instanceId: 'engine-1', reason: 'interrupted', onlyIfLeaseEndsAt: null },
    1,
    {
      ...ctx,
      instanceId: 'engine-2',
    },
  ),
}

async function setup() {
  const file = ledgerFile()
  const ledger = await openLedger(file)
  await ledger.step({ name: 'family', decide: family })
  const db = new Database(file, { readonly: true })
  onTestFinished(async () => {
    db.close()
    await ledger.close()
  })
  const tables = ['task', 'dependency', 'run', 'call', 'message', 'event', 'instance']
  const rows = () => tables.map((table) => db.prepare(`select * from "${table}"`).all())
  return { ledger, rows }
}

const crash = new Error('crash')

/** The step, crashing after `at` statements; `made` counts them. */
function crashing(step: Step, at: number, made: { statements: number }): Step {
  return {
    ...step,
    *decide(tx) {
      made.statements = 0
      const statements = step.decide(tx)
      let turn = statements.next()
      while (!turn.done) {
        if (++made.statements > at) throw crash
        turn = statements.next(yield turn.value)
      }
      return turn.value
    },
  }
}

describe('a crash inside a step', () => {
  it.each(Object.entries(steps))(
    'a crash before any statement of the step %s leaves the ledger unchanged',
    async (_name, step) => {
      const { ledger, rows } = await setup()
      const before = rows()
      const made = { statements: 0 }
      for (let at = 0; ; at++) {
        const crashed = await ledger.step(crashing(step, at, made)).then(
          () => false,
          (error) => {
            if (error !== crash) throw error
            return true
          },
        )
        if (!crashed) break
        expect(rows(), `before statement ${at + 1}`).toEqual(before)
      }
      expect(made.statements).toBeGreaterThan(3)
      expect(rows()).not.toEqual(before)
    },
  )
})

it('the comparison of rows finds a step of which a part is stored', async () => {
  const { ledger, rows } = await setup()
  const before = rows()
  const partial: Step = {
    name: 'cancel',
    *decide(tx) {
      try {
        return yield* crashing(steps['cancel'] as Step, 6, { statements: 0 }).decide(tx)
      } catch {
        return undefined
      }
    },
  }
  await ledger.step(partial)
  expect(rows()).not.toEqual(before)
})

// Random families and commands, each command checked against what its family determines, and a planted fault. ERRAND_RUNS sets the number of
// families.
import { expect, it } from 'vitest'
import { runs } from '../tier.ts'
import { check } from './random-families.ts'

it('tasks are stuck, and groups fail and are reopened, exactly as their families determine', async () => {
  expect((await check(runs(40, 500))).errorInstance).toBeFalsy()
})

it('the harness detects a row that is not updated when it is free again', async () => {
  const found = await check(200, (tx) => ({
    ...tx,
    task: { ...tx.task, setStuck: (id, by) => (by === null ? (function* () {})() : tx.task.setStuck(id, by)) },
  }))
  expect(String(found.errorInstance)).toMatch(/is stuck behind|outlives|nothing in it can move|can move/)
})

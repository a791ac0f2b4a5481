// Who may write to a claimed task: every pair of a task and a writer, without an engine.
import { describe, expect, it } from 'vitest'
import { ErrandError, type ErrorCode } from '../../src/core/errors.ts'
import type { TaskRecord } from '../../src/entities/task.ts'
import { type ClaimToken, isOwner, requireOwner } from '../../src/machines/ownership.ts'
import { taskOf } from './task-of.ts'

const free = taskOf({ executor: null, status: 'submitted' })
const released = taskOf({ executor: null, status: 'waiting', statusReason: 'released', fence: 1 })
const plain = taskOf({ executor: null, status: 'working', owner: 'ada', fence: 2 })
const leased = taskOf({ ...plain, leaseMs: 1_000, leaseUntil: 2_000 })
const over = taskOf({ ...plain, status: 'completed', completedAt: 1_500 })
const leasedAndOver = taskOf({ ...leased, leaseUntil: null, status: 'failed', completedAt: 1_500 })

/** How a write is taken: `ok`, or the code of its refusal. */
function verdict(task: TaskRecord, token: ClaimToken | undefined): 'ok' | ErrorCode {
  return refusal(task, token)?.code ?? 'ok'
}

function refusal(task: TaskRecord, token: ClaimToken | undefined): ErrandError | undefined {
  try {
    requireOwner(task, token)
    return undefined
  } catch (error) {
    if (ErrandError.isInstance(error)) return error
    throw error
  }
}

describe('A write to a task', () => {
  it.each([
    ['without an owner, by a writer without a token', free, undefined, 'ok'],
    ['without an owner, by a writer that claims to own it', free, { owner: 'ada' }, 'STALE_CLAIM'],
    ['that was released, by the former owner', released, { owner: 'ada', fence: 1 }, 'STALE_CLAIM'],
    ['by its owner', plain, { owner: 'ada' }, 'ok'],
    ['by its owner, with the number of the claim', plain, { owner: 'ada', fence: 2 }, 'ok'],
    ['by its owner, with the number of an earlier claim', plain, { owner: 'ada', fence: 1 }, 'STALE_CLAIM'],
    ['by another', plain, { owner: 'bob' }, 'NOT_OWNER'],
    ['by another, with an earlier number', plain, { owner: 'bob', fence: 1 }, 'STALE_CLAIM'],
    ['of another owner, by a writer without a token', plain, undefined, 'NOT_OWNER'],
    ['under a lease, with its number', leased, { owner: 'ada', fence: 2 }, 'ok'],
    ['under a lease, without its number', leased, { owner: 'ada' }, 'STALE_CLAIM'],
    ['that is settled, by a writer without a token', over, undefined, 'ok'],
    ['that is settled, by another', over, { owner: 'bob' }, 'NOT_OWNER'],
    ['that is settled under a lease, by its owner', leasedAndOver, { owner: 'ada' }, 'ok'],
  ] as const)('C-54 a write to a task %s', (_what, task, token, expected) => {
    expect(verdict(task, token)).toBe(expected)
  })

  it('S4-055 the error of a refused write names the owner and what would work', () => {
    const foreign = refusal(plain, { owner: 'bob' })
    expect(foreign?.message).toContain('is worked on by ada, not by bob')
    expect(foreign?.details).toMatchObject({ owner: 'ada', by: 'bob' })
    // Not every call has an option for the owner.
    expect(foreign?.message).toContain('Where the call takes an owner, pass { owner }')
    expect(refusal(plain, undefined)?.message).toContain('this write has no owner')
    const late = refusal(plain, { owner: 'bob', fence: 1 })
    expect(late?.message).toContain('ada owns it now (number 2)')
    expect(late?.details).toMatchObject({ owner: 'ada', fence: 2, quoted: 1 })
    expect(refusal(released, { owner: 'ada' })?.message).toContain('It has no owner now')
    expect(refusal(released, { owner: 'ada' })?.message).toContain('released or its lease is over')
    expect(refusal(free, { owner: 'ada' })?.message).toContain('it was never claimed')
    expect(refusal(plain, { owner: 'ada', fence: 9 })?.message).toContain('no claim has this number')
    expect(refusal(leased, { owner: 'ada' })?.message).toContain('given with its fence')
  })
})

it.each([
  [plain, undefined, false],
  [plain, { owner: 'bob' }, false],
  [plain, { owner: 'ada' }, true],
  [plain, { owner: 'ada', fence: 1 }, false],
  [leased, { owner: 'ada' }, false],
  [leased, { owner: 'ada', fence: 2 }, true],
] as const)('isOwner is true only for a write of the owner under the present claim: %#', (task, token, expected) => {
  expect(isOwner(task, token)).toBe(expected)
})

// The abilities for claims on a board: claim a task, renew the lease, release it, complete it.
import { z } from 'zod'
import { boardRefSchema } from '../../entities/board.ts'
import { nameOf, requireName } from '../../operations/acting-as.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { claimNext, claimOnBoard } from '../claim-task.ts'
import { explainNoClaim, noClaimSchema } from '../explain-no-claim.ts'
import { completeOnBoard, giveBackClaim, heartbeatOnBoard, releaseOnBoard } from '../owned-task.ts'
import {
  boardSchema,
  boardTaskSchema,
  changedSchema,
  claimantShape,
  idsAmong,
  nextClaimShape,
  ownerShape,
  reasonSchema,
  resultSchema,
  taskSchema,
  termsShape,
  undelivered,
} from './board-input.ts'

/** Of several concurrent claims exactly one succeeds. */
export const boardClaim = defineOperation({
  id: 'board:claim',
  access: 'control',
  description:
    'Claims a pending task that has no owner and no open blockers. The task is then in progress and owned by you.',
  input: () => z.strictObject({ id: boardRefSchema, ...claimantShape, ...termsShape(), board: boardSchema }),
  output: taskSchema,
  scope: ({ id }) => idsAmong(id),
  handle: async ({ id, board, as, ...terms }, { caller, onUndelivered }, host) => {
    const claimant = { ...terms, as: requireName(caller, as), source: caller.surface }
    const task = await claimOnBoard(host, { board, caller }, id, claimant)
    onUndelivered?.(() => giveBackClaim(host, { board, caller }, task, claimant, undelivered))
    return { task }
  },
})

/** Highest priority first, then the oldest. Without one `task` is null, and `why` explains it. */
export const boardClaimNext = defineOperation({
  id: 'board:claim_next',
  access: 'control',
  description:
    'Claims the available task with the highest priority, optionally by role, tags or parent. task is null if there is none, and why says what the open tasks wait for.',
  input: () => z.strictObject({ ...nextClaimShape(), board: boardSchema }),
  output: () => z.object({ task: boardTaskSchema().nullable(), why: noClaimSchema.optional() }),
  scope: ({ parent }) => idsAmong(parent),
  handle: async ({ board, as, ...options }, { caller, onUndelivered }, host) => {
    const next = { ...options, as: requireName(caller, as), source: caller.surface }
    const task = await claimNext(host, { board, caller }, next)
    if (task === null) return { task, why: await explainNoClaim(host, { board, caller }, next) }
    onUndelivered?.(() => giveBackClaim(host, { board, caller }, task, next, undelivered))
    return { task }
  },
})

/** Only for claimed tasks. `board:update` with status completed also completes a pending task. */
export const boardComplete = defineOperation({
  id: 'board:complete',
  access: 'control',
  description: 'Completes a task that you have claimed and stores its result. Returns the tasks that this unblocks.',
  input: () =>
    z.strictObject({
      id: boardRefSchema,
      result: resultSchema().describe('The result of the task.'),
      ...ownerShape(),
      board: boardSchema,
    }),
  output: changedSchema,
  scope: ({ id }) => idsAmong(id),
  handle: ({ id, board, as, fence, result }, { caller }, host) => {
    const writer = { as: nameOf(caller, as), fence, source: caller.surface }
    return completeOnBoard(host, { board, caller }, id, result, writer)
  },
})

export const boardHeartbeat = defineOperation({
  id: 'board:heartbeat',
  access: 'control',
  description: 'Renews the lease of your claim.',
  input: () => z.strictObject({ id: boardRefSchema, ...ownerShape(), board: boardSchema }),
  output: taskSchema,
  scope: ({ id }) => idsAmong(id),
  handle: async ({ id, board, as, fence }, { caller }, host) => {
    const token = { owner: requireName(caller, as), ...(fence === undefined ? {} : { fence }) }
    return { task: await heartbeatOnBoard(host, { board, caller }, id, token) }
  },
})

export const boardRelease = defineOperation({
  id: 'board:release',
  access: 'control',
  description: 'Releases a task that you have claimed. It becomes pending and can be claimed again.',
  input: () =>
    z.strictObject({
      id: boardRefSchema,
      reason: reasonSchema().describe('The reason, for the next claimant.'),
      ...ownerShape(),
      board: boardSchema,
    }),
  output: taskSchema,
  scope: ({ id }) => idsAmong(id),
  handle: async ({ id, board, as, fence, reason }, { caller }, host) => {
    const writer = { as: nameOf(caller, as), fence, source: caller.surface }
    return { task: await releaseOnBoard(host, { board, caller }, id, reason, writer) }
  },
})

// The abilities for claims on a board: claim a task, renew the lease, release it, complete it.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { once } from '../../core/once.ts'
import { boardRefSchema } from '../../entities/board.ts'
import type { AbilityHost } from '../../operations/ability-host.ts'
import { nameOf, requireName } from '../../operations/acting-as.ts'
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

const boardClaimInput = once(() =>
  z.strictObject({ id: boardRefSchema, ...claimantShape, ...termsShape(), board: boardSchema }),
)

/** Of several concurrent claims exactly one succeeds. */
export function boardClaim(host: AbilityHost) {
  return defineAbility({
    id: 'board:claim',
    access: 'control',
    description:
      'Claims a pending task that has no owner and no open blockers. The task is then in progress and owned by you.',
    input: boardClaimInput(),
    output: taskSchema(),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board, as, ...terms }, { caller, onUndelivered }) => {
      const claimant = { ...terms, as: requireName(caller, as), source: caller.surface }
      const task = await claimOnBoard(host, { board, caller }, id, claimant)
      onUndelivered?.(() => giveBackClaim(host, { board, caller }, task, claimant, undelivered))
      return { task }
    },
  })
}

const boardClaimNextInput = once(() => z.strictObject({ ...nextClaimShape(), board: boardSchema }))

const boardClaimNextOutput = once(() => z.object({ task: boardTaskSchema().nullable(), why: noClaimSchema.optional() }))

/** Highest priority first, then the oldest. Without one `task` is null, and `why` explains it. */
export function boardClaimNext(host: AbilityHost) {
  return defineAbility({
    id: 'board:claim_next',
    access: 'control',
    description:
      'Claims the available task with the highest priority, optionally by role, tags or parent. task is null if there is none, and why says what the open tasks wait for.',
    input: boardClaimNextInput(),
    output: boardClaimNextOutput(),
    scope: ({ parent }) => idsAmong(parent),
    handle: async ({ board, as, ...options }, { caller, onUndelivered }) => {
      const next = { ...options, as: requireName(caller, as), source: caller.surface }
      const task = await claimNext(host, { board, caller }, next)
      if (task === null) return { task, why: await explainNoClaim(host, { board, caller }, next) }
      onUndelivered?.(() => giveBackClaim(host, { board, caller }, task, next, undelivered))
      return { task }
    },
  })
}

const boardCompleteInput = once(() =>
  z.strictObject({
    id: boardRefSchema,
    result: resultSchema().describe('The result of the task.'),
    ...ownerShape(),
    board: boardSchema,
  }),
)

/** Only for claimed tasks. `board:update` with status completed also completes a pending task. */
export function boardComplete(host: AbilityHost) {
  return defineAbility({
    id: 'board:complete',
    access: 'control',
    description: 'Completes a task that you have claimed and stores its result. Returns the tasks that this unblocks.',
    input: boardCompleteInput(),
    output: changedSchema(),
    scope: ({ id }) => idsAmong(id),
    handle: ({ id, board, as, fence, result }, { caller }) => {
      const writer = { as: nameOf(caller, as), fence, source: caller.surface }
      return completeOnBoard(host, { board, caller }, id, result, writer)
    },
  })
}

const boardHeartbeatInput = once(() => z.strictObject({ id: boardRefSchema, ...ownerShape(), board: boardSchema }))

export function boardHeartbeat(host: AbilityHost) {
  return defineAbility({
    id: 'board:heartbeat',
    access: 'control',
    description: 'Renews the lease of your claim.',
    input: boardHeartbeatInput(),
    output: taskSchema(),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board, as, fence }, { caller }) => {
      const token = { owner: requireName(caller, as), ...(fence === undefined ? {} : { fence }) }
      return { task: await heartbeatOnBoard(host, { board, caller }, id, token) }
    },
  })
}

const boardReleaseInput = once(() =>
  z.strictObject({
    id: boardRefSchema,
    reason: reasonSchema().describe('The reason, for the next claimant.'),
    ...ownerShape(),
    board: boardSchema,
  }),
)

export function boardRelease(host: AbilityHost) {
  return defineAbility({
    id: 'board:release',
    access: 'control',
    description: 'Releases a task that you have claimed. It becomes pending and can be claimed again.',
    input: boardReleaseInput(),
    output: taskSchema(),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board, as, fence, reason }, { caller }) => {
      const writer = { as: nameOf(caller, as), fence, source: caller.surface }
      return { task: await releaseOnBoard(host, { board, caller }, id, reason, writer) }
    },
  })
}

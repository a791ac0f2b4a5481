// Claims of tasks on the board: taking one, staying alive, letting go of it, and having done it.
import { z } from 'zod'
import { claimNext, claimOnBoard } from '../../board/claim-task.ts'
import { completeOnBoard, heartbeatOnBoard, releaseOnBoard } from '../../board/hold-task.ts'
import { defineAbility } from '../../bus/ability.ts'
import { boardRefSchema } from '../../entities/board.ts'
import type { AbilityHost } from '../ability-host.ts'
import {
  boardSchema,
  boardTaskSchema,
  changedSchema,
  claimantShape,
  idsAmong,
  nameOf,
  nextClaimShape,
  ownerShape,
  reasonSchema,
  requireName,
  resultSchema,
  taskSchema,
  termsShape,
} from './board-input.ts'

/** Of any number of claims at once exactly one wins. */
export function boardClaim(host: AbilityHost) {
  return defineAbility({
    id: 'board:claim',
    access: 'control',
    description: 'Takes a pending task that nobody owns and nothing blocks: it is in progress then, and yours alone.',
    input: z.strictObject({ id: boardRefSchema, ...claimantShape, ...termsShape, board: boardSchema }),
    output: taskSchema,
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board, as, ...terms }, { caller }) => {
      const claimant = { ...terms, as: requireName(caller, as), source: caller.surface }
      return { task: await claimOnBoard(host, { board, caller }, id, claimant) }
    },
  })
}

/** Highest priority first, then the oldest; `task` is null when there is none. */
export function boardClaimNext(host: AbilityHost) {
  return defineAbility({
    id: 'board:claim_next',
    access: 'control',
    description: 'Takes the most urgent task that may be claimed (of a role, tags, a parent); null when there is none.',
    input: z.strictObject({ ...nextClaimShape, board: boardSchema }),
    output: z.object({ task: boardTaskSchema.nullable() }),
    scope: ({ parent }) => idsAmong(parent),
    handle: async ({ board, as, ...wanted }, { caller }) => {
      const next = { ...wanted, as: requireName(caller, as), source: caller.surface }
      return { task: await claimNext(host, { board, caller }, next) }
    },
  })
}

/** Only what is claimed: a pending task is claimed first, or set to completed with `board:update`. */
export function boardComplete(host: AbilityHost) {
  return defineAbility({
    id: 'board:complete',
    access: 'control',
    description: 'Completes a task that you have claimed, with what it came to. Says which tasks came free by it.',
    input: z.strictObject({
      id: boardRefSchema,
      result: resultSchema.describe('What it came to.'),
      ...ownerShape,
      board: boardSchema,
    }),
    output: changedSchema,
    scope: ({ id }) => idsAmong(id),
    handle: ({ id, board, as, fence, result }, { caller }) => {
      const writer = { as: nameOf(caller, as), fence, source: caller.surface }
      return completeOnBoard(host, { board, caller }, id, result, writer)
    },
  })
}

export function boardHeartbeat(host: AbilityHost) {
  return defineAbility({
    id: 'board:heartbeat',
    access: 'control',
    description: 'A sign of life: the lease of your claim begins anew.',
    input: z.strictObject({ id: boardRefSchema, ...ownerShape, board: boardSchema }),
    output: taskSchema,
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board, as, fence }, { caller }) => {
      const quote = { owner: requireName(caller, as), ...(fence === undefined ? {} : { fence }) }
      return { task: await heartbeatOnBoard(host, { board, caller }, id, quote) }
    },
  })
}

export function boardRelease(host: AbilityHost) {
  return defineAbility({
    id: 'board:release',
    access: 'control',
    description: 'Lets go of a task that you have claimed: it is pending again, and anybody may claim it.',
    input: z.strictObject({
      id: boardRefSchema,
      reason: reasonSchema.describe('Why, for whoever takes it next.'),
      ...ownerShape,
      board: boardSchema,
    }),
    output: taskSchema,
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board, as, fence, reason }, { caller }) => {
      const writer = { as: nameOf(caller, as), fence, source: caller.surface }
      return { task: await releaseOnBoard(host, { board, caller }, id, reason, writer) }
    },
  })
}

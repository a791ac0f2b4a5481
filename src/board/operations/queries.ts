// The abilities that read a board: a task, a list, claimable tasks, why a task does not move, the graph and the claims of a task.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { once } from '../../core/once.ts'
import { boardRefSchema, boardStatuses } from '../../entities/board.ts'
import { wordSchema } from '../../entities/task-fields.ts'
import type { AbilityHost } from '../../operations/ability-host.ts'
import { asSchema } from '../../operations/acting-as.ts'
import { listText } from '../list-text.ts'
import {
  claimLogOf,
  claimLogSchema,
  getFromBoard,
  graphOfBoard,
  listBoard,
  readyOnBoard,
  whyOnBoard,
  whySchema,
} from '../read-board.ts'
import { boardSchema, boardTaskSchema, idsAmong, oneTaskSchema, tagsSchema, taskSchema } from './board-input.ts'

/** An unknown task is NOT_FOUND `Task 9 not found`. */
export function boardGet(host: AbilityHost) {
  return defineAbility({
    id: 'board:get',
    access: 'read',
    description: 'Returns one task of the board with all its fields.',
    input: oneTaskSchema(),
    output: taskSchema(),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board }, { caller }) => ({ task: await getFromBoard(host, { board, caller }, id) }),
  })
}

const boardListInput = once(() =>
  z.strictObject({
    status: z.union([z.enum(boardStatuses), z.array(z.enum(boardStatuses)).min(1)]).optional(),
    owner: asSchema.optional().describe('Only tasks of this owner.'),
    role: wordSchema.optional(),
    tags: tagsSchema.optional(),
    parent: boardRefSchema.optional().describe('Only subtasks of this task.'),
    limit: z.int().min(0).max(10_000).default(500),
    board: boardSchema,
  }),
)

const boardListOutput = once(() => z.object({ tasks: z.array(boardTaskSchema()), total: z.number(), text: z.string() }))

/** `total` counts all matching tasks; `text` is the same list with one line per task. */
export function boardList(host: AbilityHost) {
  return defineAbility({
    id: 'board:list',
    access: 'read',
    description: 'Lists the tasks of the board by number, optionally by status, owner, role, tag or parent.',
    input: boardListInput(),
    output: boardListOutput(),
    scope: ({ parent }) => idsAmong(parent),
    handle: async ({ status, board, limit, ...filter }, { caller }) => {
      const statuses = status === undefined ? undefined : [status].flat()
      const { tasks, total } = await listBoard(host, { board, caller }, { ...filter, statuses }, limit)
      return { tasks, total, text: listText(tasks, total) }
    },
  })
}

const boardReadyInput = once(() =>
  z.strictObject({
    role: wordSchema.optional(),
    tags: tagsSchema.optional(),
    parent: boardRefSchema.optional(),
    limit: z.int().min(0).max(1_000).default(100),
    board: boardSchema,
  }),
)

const boardReadyOutput = once(() => z.object({ tasks: z.array(boardTaskSchema()), total: z.number() }))

export function boardReady(host: AbilityHost) {
  return defineAbility({
    id: 'board:ready',
    access: 'read',
    description:
      'Lists the tasks that can be claimed now: pending, without owner and without open blockers; highest priority first.',
    input: boardReadyInput(),
    output: boardReadyOutput(),
    scope: ({ parent }) => idsAmong(parent),
    handle: ({ board, limit, ...filter }, { caller }) => readyOnBoard(host, { board, caller }, filter, limit),
  })
}

export function boardWhy(host: AbilityHost) {
  return defineAbility({
    id: 'board:why',
    access: 'read',
    description: 'Explains why a task does not progress: its blockers, its owner, or what it waits for.',
    input: oneTaskSchema(),
    output: whySchema(),
    scope: ({ id }) => idsAmong(id),
    handle: ({ id, board }, { caller }) => whyOnBoard(host, { board, caller }, id),
  })
}

const boardGraphInput = once(() => z.strictObject({ board: boardSchema }))

const boardGraphOutput = once(() =>
  z.object({
    order: z.array(boardTaskSchema()),
    critical: z.array(z.object({ id: boardRefSchema, holdsUp: z.number() })),
  }),
)

export function boardGraph(host: AbilityHost) {
  return defineAbility({
    id: 'board:graph',
    access: 'read',
    description: 'Returns the open tasks in an order in which they can be done, and those that block the most others.',
    input: boardGraphInput(),
    output: boardGraphOutput(),
    handle: ({ board }, { caller }) => graphOfBoard(host, { board, caller }),
  })
}

const boardLogOutput = once(() => z.object({ claims: z.array(claimLogSchema()) }))

export function boardLog(host: AbilityHost) {
  return defineAbility({
    id: 'board:log',
    access: 'read',
    description: 'Lists the claims of a task, oldest first: who claimed or released it, when, in which role, and why.',
    input: oneTaskSchema(),
    output: boardLogOutput(),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board }, { caller }) => ({ claims: await claimLogOf(host, { board, caller }, id) }),
  })
}

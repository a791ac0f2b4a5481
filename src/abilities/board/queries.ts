// What is asked of a board: its tasks, what may be claimed, why a task does not move, in which order all can be done.
import { z } from 'zod'
import { listText } from '../../board/list-text.ts'
import {
  claimLogOf,
  claimLogSchema,
  getFromBoard,
  graphOfBoard,
  listBoard,
  readyOnBoard,
  whyOnBoard,
  whySchema,
} from '../../board/read-board.ts'
import { defineAbility } from '../../bus/ability.ts'
import { boardRefSchema, boardStatuses } from '../../entities/board.ts'
import { wordSchema } from '../../entities/task-fields.ts'
import type { AbilityHost } from '../ability-host.ts'
import {
  asSchema,
  boardSchema,
  boardTaskSchema,
  idsAmong,
  oneTaskSchema,
  tagsSchema,
  taskSchema,
} from './board-input.ts'

/** An unknown one is NOT_FOUND `Task 9 not found`. */
export function boardGet(host: AbilityHost) {
  return defineAbility({
    id: 'board:get',
    access: 'read',
    description: 'Shows one task of the board with all that is known of it.',
    input: oneTaskSchema,
    output: taskSchema,
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board }, { caller }) => ({ task: await getFromBoard(host, { board, caller }, id) }),
  })
}

/** `total` counts all that match; `text` is the same list a line a task. */
export function boardList(host: AbilityHost) {
  return defineAbility({
    id: 'board:list',
    access: 'read',
    description: 'Lists the tasks of the board by number: all, or those of a status, owner, role, tag or parent.',
    input: z.strictObject({
      status: z.union([z.enum(boardStatuses), z.array(z.enum(boardStatuses)).min(1)]).optional(),
      owner: asSchema.optional().describe('Only what this one owns.'),
      role: wordSchema.optional(),
      tags: tagsSchema.optional(),
      parent: boardRefSchema.optional().describe('Only the parts of this task.'),
      limit: z.int().min(0).max(10_000).default(500),
      board: boardSchema,
    }),
    output: z.object({ tasks: z.array(boardTaskSchema), total: z.number(), text: z.string() }),
    scope: ({ parent }) => idsAmong(parent),
    handle: async ({ status, board, limit, ...filter }, { caller }) => {
      const statuses = status === undefined ? undefined : [status].flat()
      const { tasks, total } = await listBoard(host, { board, caller }, { ...filter, statuses }, limit)
      return { tasks, total, text: listText(tasks, total) }
    },
  })
}

export function boardReady(host: AbilityHost) {
  return defineAbility({
    id: 'board:ready',
    access: 'read',
    description: 'Lists what may be claimed now: pending, owned by nobody, blocked by nothing; the most urgent first.',
    input: z.strictObject({
      role: wordSchema.optional(),
      tags: tagsSchema.optional(),
      parent: boardRefSchema.optional(),
      limit: z.int().min(0).max(1_000).default(100),
      board: boardSchema,
    }),
    output: z.object({ tasks: z.array(boardTaskSchema), total: z.number() }),
    scope: ({ parent }) => idsAmong(parent),
    handle: ({ board, limit, ...filter }, { caller }) => readyOnBoard(host, { board, caller }, filter, limit),
  })
}

export function boardWhy(host: AbilityHost) {
  return defineAbility({
    id: 'board:why',
    access: 'read',
    description: 'Says why a task does not move: what blocks it, who works on it, what it waits for.',
    input: oneTaskSchema,
    output: whySchema,
    scope: ({ id }) => idsAmong(id),
    handle: ({ id, board }, { caller }) => whyOnBoard(host, { board, caller }, id),
  })
}

export function boardGraph(host: AbilityHost) {
  return defineAbility({
    id: 'board:graph',
    access: 'read',
    description:
      'Shows the open tasks in an order in which they can be done, and which of them hold up the most others.',
    input: z.strictObject({ board: boardSchema }),
    output: z.object({
      order: z.array(boardTaskSchema),
      critical: z.array(z.object({ id: boardRefSchema, holdsUp: z.number() })),
    }),
    handle: ({ board }, { caller }) => graphOfBoard(host, { board, caller }),
  })
}

export function boardLog(host: AbilityHost) {
  return defineAbility({
    id: 'board:log',
    access: 'read',
    description: 'Lists the claims of a task, the oldest first: who took it or let go of it, when, as what, and why.',
    input: oneTaskSchema,
    output: z.object({ claims: z.array(claimLogSchema) }),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board }, { caller }) => ({ claims: await claimLogOf(host, { board, caller }, id) }),
  })
}

// board:list: the tasks of the board by number.
import { z } from 'zod'
import { listText } from '../../board/list-text.ts'
import { listBoard } from '../../board/read-board.ts'
import { defineAbility } from '../../bus/ability.ts'
import { boardStatuses } from '../../entities/board.ts'
import type { AbilityHost } from '../ability-host.ts'
import {
  asSchema,
  boardSchema,
  boardTaskSchema,
  idsAmong,
  placeOf,
  refSchema,
  roleSchema,
  shown,
  tagsSchema,
} from './board-input.ts'

/** `total` counts all that match; `text` is the same list a line a task. */
export function boardList(host: AbilityHost) {
  return defineAbility({
    id: 'board:list',
    access: 'read',
    description: 'Lists the tasks of the board by number: all, or those of a status, owner, role, tag or parent.',
    input: z.strictObject({
      status: z.union([z.enum(boardStatuses), z.array(z.enum(boardStatuses)).min(1)]).optional(),
      owner: asSchema.optional().describe('Only what this one owns.'),
      role: roleSchema.optional(),
      tags: tagsSchema.optional(),
      parent: refSchema.optional().describe('Only the parts of this task.'),
      limit: z.int().min(0).max(10_000).default(500),
      board: boardSchema,
    }),
    output: z.object({ tasks: z.array(boardTaskSchema), total: z.number(), text: z.string() }),
    scope: ({ parent }) => idsAmong(parent),
    handle: async ({ status, board, limit, ...filter }, { caller }) => {
      const statuses = status === undefined ? undefined : Array.isArray(status) ? status : [status]
      const found = await listBoard(host, placeOf(board, caller), { ...filter, statuses })
      const tasks = found.slice(0, limit)
      return { tasks: tasks.map(shown), total: found.length, text: listText(tasks, found.length) }
    },
  })
}

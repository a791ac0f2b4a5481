// board:wait: an idle member waits for mail or for a task.
import { z } from 'zod'
import { longestWaitMs } from '../../board/team/await-work.ts'
import { waitForWork } from '../../board/team/wait-for-work.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import {
  asSchema,
  boardSchema,
  boardTaskSchema,
  idsAmong,
  leaseSchema,
  placeOf,
  refSchema,
  requireName,
  roleSchema,
  tagsSchema,
  workspaceSchema,
} from './board-input.ts'
import { mailSchema } from './team-input.ts'

/** The inbox first, then the board. A task that comes back is claimed; for a caller that has gone nothing is. */
export function boardWait(host: AbilityHost) {
  return defineAbility({
    id: 'board:wait',
    access: 'read',
    description:
      'Waits until there is mail for you or a task that you may claim, and takes it: kind is mail, task, or idle when nothing came.',
    input: z.strictObject({
      as: asSchema.optional(),
      role: roleSchema.optional().describe('Role that the agent has.'),
      tags: tagsSchema.optional(),
      parent: refSchema.optional().describe('Only the parts of this task.'),
      leaseMs: leaseSchema.optional(),
      workspace: workspaceSchema.optional(),
      pollMs: z
        .number()
        .min(50)
        .max(longestWaitMs)
        .default(5_000)
        .describe('Looks at least so often, beside whatever wakes it. Default 5,000.'),
      timeoutMs: z
        .number()
        .min(0)
        .max(longestWaitMs)
        .default(30_000)
        .describe('Gives up after so many milliseconds. Default 30,000.'),
      board: boardSchema,
    }),
    output: z.object({
      kind: z.enum(['mail', 'task', 'idle']),
      mail: z.array(mailSchema).optional(),
      more: z.boolean().optional(),
      task: boardTaskSchema.optional(),
    }),
    scope: ({ parent }) => idsAmong(parent),
    handle: ({ board, as, pollMs, timeoutMs, ...wanted }, { caller, signal }) =>
      waitForWork(
        host,
        placeOf(board, caller),
        { ...wanted, as: requireName(caller, as), source: caller.surface },
        { pollMs, timeoutMs },
        signal,
      ),
  })
}

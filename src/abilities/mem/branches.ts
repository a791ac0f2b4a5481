// mem:branches: the branches of memory, the oldest first.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { branchStatuses } from '../../entities/memory.ts'
import { listBranches } from '../../memory/read-memory.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { refuseTasks } from '../own-tasks.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { branchSchema, nextSchema, pageLimitSchema, positionSchema } from './mem-input.ts'

const inputSchema = z.strictObject({
  status: z.enum(branchStatuses).optional(),
  parent: branchSchema.optional().describe('Only those directly below this one.'),
  taskId: taskIdSchema.optional().describe('Only those of this task and its agents.'),
  counts: z.boolean().default(false).describe('Counts the active facts of each, summaries excluded. Default false.'),
  limit: pageLimitSchema,
  after: positionSchema.optional().describe('The `next` of the page before.'),
})

export function memBranches(host: AbilityHost) {
  return defineAbility({
    id: 'mem:branches',
    access: 'read',
    description: 'Lists the branches of memory: what they lie below, whose they are, and whether they are open.',
    input: eitherCase(inputSchema),
    output: z.object({
      branches: z.array(
        z.object({
          name: z.string(),
          parent: z.string().optional(),
          description: z.string(),
          status: z.enum(branchStatuses),
          taskId: z.string().optional(),
          agentId: z.string().optional(),
          facts: z.int().min(0).optional(),
          createdAt: z.number(),
          updatedAt: z.number(),
        }),
      ),
      next: nextSchema,
    }),
    models: false,
    handle(query, { caller }) {
      refuseTasks(caller, 'mem:branches')
      return listBranches(host, query)
    },
  })
}

// objective:log: what became of the objectives of a task.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { objectiveLog as logOf, objectiveChangeSchema } from '../../team/objectives.ts'
import type { AbilityHost } from '../ability-host.ts'
import { objectiveAliases, objectiveIdSchema } from '../agent/agent-input.ts'
import { eitherCase } from '../either-case.ts'
import { taskIdSchema } from '../task/task-input.ts'

const inputSchema = z.strictObject({
  taskId: taskIdSchema,
  objectiveId: objectiveIdSchema.optional().describe('Only this one. Default: all.'),
})

/** A caller with a task may name the task of its own subtree, or the one that its team works on: judged in the read itself. */
export function objectiveLog(host: AbilityHost) {
  return defineAbility({
    id: 'objective:log',
    access: 'read',
    description: 'Lists the changes of the objectives of a task, the oldest first: when, by whom, from what to what.',
    input: eitherCase(inputSchema, objectiveAliases),
    output: z.object({ changes: z.array(objectiveChangeSchema) }),
    handle: async (input, { caller }) => ({ changes: await logOf(host, caller, input) }),
  })
}

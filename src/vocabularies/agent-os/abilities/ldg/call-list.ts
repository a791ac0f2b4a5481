// ldg:call:list: the calls of a task in the order in which they were made.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { taskIdSchema } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { loadTask } from '../../../../steps/moment.ts'
import { ledgerCallSchema, toLedgerCall } from '../../views/call-view.ts'

/** Questions, waits and the like stand in the same journal, but are no calls. */
export function ldgCallList(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:call:list',
    access: 'read',
    description: 'Lists the calls of abilities in a task.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: z.object({ calls: z.array(ledgerCallSchema) }),
    models: false,
    handle: ({ taskId }) =>
      host.read(function* (tx) {
        yield* loadTask(tx, taskId)
        return { calls: (yield* tx.call.list(taskId, ['call'])).map(toLedgerCall) }
      }),
  })
}

// task:send: sends a message to a task. An ended task accepts none, which the result reports.
import { z } from 'zod'
import { defineAbility } from '../../../bus/ability.ts'
import { ErrandError } from '../../../core/errors.ts'
import { isSettled } from '../../../entities/task.ts'
import type { AbilityHost } from '../../../operations/ability-host.ts'
import { verbShape } from '../../../operations/task/task-input.ts'
import { afterAdmission } from '../admission.ts'
import { processStatuses, processStatusOf } from '../views/status-mapping.ts'

const inputSchema = z.strictObject({
  ...verbShape,
  message: z.string().min(1),
  delivery: z
    .enum(['steer', 'followup', 'abort'])
    .optional()
    .describe(
      '`steer` (default): read before its next step; `followup`: when it would end; `abort`: it is paused at once.',
    ),
  retry: z.boolean().optional().describe('Gives a failed task a new attempt. Default false.'),
})

/** A paused task keeps the message and stays paused. */
export function taskSend(host: AbilityHost) {
  return defineAbility({
    id: 'task:send',
    access: 'control',
    description: 'Sends a message of the user to a task, which reads it and continues.',
    input: inputSchema,
    output: z.object({ success: z.boolean(), status: z.enum(processStatuses) }),
    scope: ({ taskId }) => [taskId],
    async handle({ taskId, expectedVersion, message, delivery, retry }, { caller }) {
      const engine = await host.engineFor(caller)
      try {
        const sent = await engine.send({ id: taskId, expectedVersion }, message, { delivery, retry })
        return { success: true, status: processStatusOf(await afterAdmission(host, engine, sent)) }
      } catch (error) {
        if (!ErrandError.isInstance(error) || error.code !== 'INVALID_TRANSITION') throw error
        const task = await engine.get(taskId)
        if (task === null || !isSettled(task.status)) throw error
        return { success: false, status: processStatusOf(task) }
      }
    },
  })
}

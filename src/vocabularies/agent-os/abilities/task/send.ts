// task:send: a message for a task. One that has ended takes none, and says so (conformance C-33, S1-027…S1-031).
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { verbShape } from '../../../../abilities/task/task-input.ts'
import type { Engine } from '../../../../api.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import type { Caller } from '../../../../bus/caller.ts'
import { isSettled, type Task } from '../../../../entities/task.ts'
import { ErrandError } from '../../../../errors.ts'
import { afterAdmission } from '../../admission.ts'
import { processStatuses, processStatusOf } from '../../views/status-words.ts'

const inputSchema = z.strictObject({
  ...verbShape,
  message: z.string().min(1),
  delivery: z
    .enum(['steer', 'followup', 'abort'])
    .optional()
    .describe(
      '`steer` (default): read before its next step; `followup`: when it would end; `abort`: it is paused at once.',
    ),
  retry: z.boolean().optional().describe('Give a failed task a new attempt. Default false.'),
})
type SendInput = z.output<typeof inputSchema>

/** A paused task keeps the message and stays paused. */
export function taskSend(host: AbilityHost) {
  return defineAbility({
    id: 'task:send',
    access: 'control',
    description: 'Sends a message of the user to a task, which reads it and goes on.',
    input: inputSchema,
    output: z.object({ success: z.boolean(), status: z.enum(processStatuses) }),
    scope: ({ taskId }) => [taskId],
    handle: (input, { caller }) => send(host, input, caller),
  })
}

async function send(host: AbilityHost, input: SendInput, caller: Caller) {
  const { taskId, message, delivery, retry } = input
  const engine = await host.engineFor(caller)
  const options = { ...(delivery === undefined ? {} : { delivery }), ...(retry === undefined ? {} : { retry }) }
  try {
    const sent = await afterAdmission(
      engine,
      await engine.send({ id: taskId, expectedVersion: input.expectedVersion }, message, options),
    )
    return { success: true, status: processStatusOf(sent) }
  } catch (error) {
    const ended = await endedTask(engine, taskId, error)
    if (ended === undefined) throw error
    return { success: false, status: processStatusOf(ended) }
  }
}

/** The task, if it was refused because it has ended. */
async function endedTask(engine: Engine, taskId: string, error: unknown): Promise<Task | undefined> {
  if (!ErrandError.isInstance(error) || error.code !== 'INVALID_TRANSITION') return undefined
  const task = await engine.get(taskId)
  return task !== null && isSettled(task.status) ? task : undefined
}

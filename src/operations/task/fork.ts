// task:fork: a new task that begins with what another one has recorded.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { taskFields } from '../../entities/task-fields.ts'
import { fork } from '../steps/fork.ts'
import { taskChange } from './define-change.ts'

const optionsShape = once(() => ({
  at: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The id of the call, or of the message of a model step, that the fork makes itself; `failure`: the one that failed last. Default: the failed call of a failed task, else the last completed one, for an agent the last step of its model.',
    ),
  result: z.unknown().optional().describe('What the call at that point returned: the fork does not make it.'),
  input: z
    .unknown()
    .optional()
    .describe(
      'An input in place of that of the original. Recorded calls that the task requests as before are not made again.',
    ),
  model: taskFields.model.schema.optional().describe('For agents: the model that works on the fork.'),
  prompt: taskFields.systemPrompt.schema
    .optional()
    .describe('For agents: instructions in place of those of the original.'),
}))

export const taskFork = taskChange({
  id: 'task:fork',
  access: 'create',
  description:
    'Creates a task that begins with what another one has recorded up to a call or a model step, and goes on from there. The original stays as it is.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/fork',
      tag: 'Tasks',
      operationId: 'forkTask',
      summary: 'Fork a task',
    },
  ],
  input: optionsShape,
  models: false,
  answersWritten: true,
  step: ({ taskId, expectedVersion: _version, ...options }, ctx, { host, caller }) =>
    fork({ ...ctx, taskId, options, host, caller }),
})

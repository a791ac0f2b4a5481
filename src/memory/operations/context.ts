// task:context: the context that a new agent needs to work on a task.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { eitherCase } from '../../operations/key-case.ts'
import { taskIdSchema } from '../../operations/task/task-input.ts'
import { teamContext } from '../team/context.ts'
import { contextText } from '../team/context-text.ts'
import { defineMemoryOperation } from './memory-ability-host.ts'
import { teamContextSchema } from './team-view.ts'

const inputSchema = once(() =>
  z.strictObject({
    taskId: taskIdSchema,
    format: z
      .enum(['json', 'text'])
      .default('json')
      .describe('`text` returns one text for people and models. Default json.'),
  }),
)

/** A caller with a task may name a task of its own subtree, or the one that its team works on. Validated in the read itself. */
export const taskContext = defineMemoryOperation({
  id: 'task:context',
  access: 'read',
  description:
    'Returns the context of a task for a new agent: objectives, past and current agents, key facts, progress.',
  routes: [
    {
      endpoint: 'GET /tasks/{taskId}/context',
      tag: 'Teams',
      operationId: 'getContext',
      summary: 'Get the context of a task',
    },
  ],
  input: () => eitherCase(inputSchema()),
  /** With format json all fields but `text`; with format text only `text`. */
  output: () => teamContextSchema().partial().extend({ text: z.string().optional() }),
  onInterrupt: 'rerun',
  async handle({ taskId, format }, { caller }, host) {
    const context = await teamContext(host, caller, taskId)
    return format === 'text' ? { text: contextText(context) } : context
  },
})

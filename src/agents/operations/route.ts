// task:route: finds the open task that a message is for, or that it starts a new one. Nothing is sent.

import { ErrandError } from '../../core/errors.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { askModelOf } from '../routing/ask-model.ts'
import { routeInEngine } from '../routing/handler-engine.ts'
import { routeInputSchema, routeOutputSchema } from '../routing/route.ts'

/** A caller with a task routes among the tasks below it; others are not found. */
export const taskRoute = defineOperation({
  id: 'task:route',
  access: 'control',
  description: 'Finds the open task that a message belongs to; null if it starts something new.',
  input: routeInputSchema,
  output: routeOutputSchema,
  async handle({ message }, { caller, signal }, host) {
    const engine = await host.engineFor(caller)
    const { taskId, confidence, reason } = await routeInEngine(asSeenBy(engine), message, {
      ask: askModelOf(undefined, engine.bus),
      signal,
      ...(caller.taskId === undefined ? {} : { candidates: await openBelow(engine, caller.taskId) }),
    })
    return { taskId, confidence, ...(reason === undefined ? {} : { reason }) }
  },
})

async function openBelow(engine: Engine, taskId: string): Promise<Task[]> {
  return (await engine.subtree(taskId)).filter((task) => !isSettled(task.status))
}

/** A mention of a task that the caller may not see is treated like one that does not exist. */
function asSeenBy(engine: Engine): Parameters<typeof routeInEngine>[0] {
  return {
    list: (options) => engine.list(options),
    messages: (taskId) => engine.messages(taskId),
    async get(taskId) {
      try {
        return await engine.get(taskId)
      } catch (error) {
        if (ErrandError.isInstance(error) && error.code === 'FORBIDDEN') return null
        throw error
      }
    },
  }
}

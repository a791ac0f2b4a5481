// task:stream: the output of a task, from its start on and then as it comes.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { taskIdSchema } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import type { Bus } from '../../../../bus/bus.ts'
import { askUser, waitForTasks } from '../../../../executors/agent/toolbox.ts'
import { OutputProjection, taskOutputSchema } from '../../views/task-output.ts'

/** Ends with the task; of a task that has ended it gives all, and ends. An unknown id is NOT_FOUND. */
export function taskStream(host: AbilityHost, bus: Bus) {
  return defineAbility({
    id: 'task:stream',
    access: 'read',
    description: 'Streams the output of a task: its text as it comes, its calls and their results, and its end.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: taskOutputSchema,
    scope: ({ taskId }) => [taskId],
    async *stream({ taskId }, { caller, signal }) {
      const engine = await host.engineFor(caller)
      const projection = new OutputProjection(toolNames(bus, taskId))
      for await (const item of engine.stream(taskId, { signal })) yield* projection.outputOf(item)
    },
  })
}

/** The names that models know; what is not offered to them is spelled alike. */
function toolNames(bus: Bus, taskId: string): (abilityId: string) => string {
  return (abilityId) =>
    bus.toolsFor({ surface: 'model', taskId }, [askUser, waitForTasks]).nameOf(abilityId) ??
    abilityId.replaceAll(':', '_')
}

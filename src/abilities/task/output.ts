// task:output: the output of a task as `task:stream` gives it, with positions, so that who was cut off can go on.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { positionSchema } from '../views/event-view.ts'
import { toolNames } from './stream.ts'
import { taskIdSchema } from './task-input.ts'
import { OutputProjection, taskOutputSchema } from './task-output.ts'

/**
 * Pieces of text on their way are not durable: whoever goes on after one gets the whole message, under the same `messageId`, once it
 * is stored. An unknown id is NOT_FOUND.
 */
export function taskOutput(host: AbilityHost) {
  return defineAbility({
    id: 'task:output',
    access: 'read',
    description: 'Streams the output of a task with its positions in the feed, from a position on.',
    input: z.strictObject({ taskId: taskIdSchema, after: positionSchema.default(0) }),
    output: z.object({
      seq: z.int(),
      /** It stands in the ledger: one can go on after its `seq`. */
      durable: z.boolean(),
      output: taskOutputSchema,
    }),
    models: false,
    scope: ({ taskId }) => [taskId],
    async *stream({ taskId, after }, { caller, signal }) {
      const engine = await host.engineFor(caller)
      // From the beginning, whatever is asked for: what an item says depends on those before it.
      const projection = new OutputProjection(toolNames(engine.bus, taskId))
      let position = 0
      for await (const item of engine.stream(taskId, { signal })) {
        const stored = item.type !== 'content' || item.seq > position
        position = Math.max(position, item.seq)
        const outputs = projection.outputOf(item)
        if (stored && item.seq <= after) continue
        // Only the last of what one event tells is a place to go on from: whoever has an earlier one lacks the rest.
        for (const [n, output] of outputs.entries()) {
          yield { seq: item.seq, durable: stored && n === outputs.length - 1, output }
        }
      }
    },
  })
}

// task:types: statistics of tasks by type of work. Not named `types.ts`, which would suggest TypeScript types.
import { z } from 'zod'
import { refuseTasks } from '../../operations/own-tasks.ts'
import { reportTypes } from '../team/teams.ts'
import { defineMemoryOperation } from './memory-ability-host.ts'

/** Spans all tasks, so it is reserved for people and programs. */
export const taskTypes = defineMemoryOperation({
  id: 'task:types',
  access: 'read',
  description: 'Returns the number, success rate and mean duration of team tasks by type of work.',
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      types: z.array(
        z.object({
          /** Null: tasks without a type. */
          type: z.string().nullable(),
          total: z.int(),
          completed: z.int(),
          /** Failed or canceled. */
          failed: z.int(),
          /** Completed among those that have ended, 0 to 1; null if none has. */
          successRate: z.number().nullable(),
          /** Milliseconds from creation to completion; null if none was completed. */
          meanDurationMs: z.number().nullable(),
        }),
      ),
    }),
  models: false,
  async handle(_input, { caller }, host) {
    refuseTasks(caller, 'task:types')
    return { types: await reportTypes(host) }
  },
})

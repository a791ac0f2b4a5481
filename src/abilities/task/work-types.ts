// task:types: how each type of work has gone so far. Not `types.ts`, a name that would say nothing of what is in a file.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { reportTypes } from '../../team/teams.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refuseTasks } from '../own-tasks.ts'

/** It is about all tasks, so it is for people and programs. */
export function taskTypes(host: AbilityHost) {
  return defineAbility({
    id: 'task:types',
    access: 'read',
    description:
      'Counts the tasks of teams by type of work: how many there were, how many succeeded, how long they took.',
    input: z.strictObject({}),
    output: z.object({
      types: z.array(
        z.object({
          /** Null: the tasks of which nobody said what they are. */
          type: z.string().nullable(),
          total: z.int(),
          completed: z.int(),
          /** Failed, and canceled. */
          failed: z.int(),
          /** Completed among those that are over, 0 to 1; null while none is. */
          successRate: z.number().nullable(),
          /** Milliseconds from creation to completion; null without a completed one. */
          meanDurationMs: z.number().nullable(),
        }),
      ),
    }),
    models: false,
    async handle(_input, { caller }) {
      refuseTasks(caller, 'task:types')
      return { types: await reportTypes(host) }
    },
  })
}

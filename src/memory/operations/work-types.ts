// task:types: statistics of tasks by type of work. Not named `types.ts`, which would suggest TypeScript types.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { once } from '../../core/once.ts'
import { refuseTasks } from '../../operations/own-tasks.ts'
import { reportTypes } from '../team/teams.ts'
import type { MemoryAbilityHost } from './memory-ability-host.ts'

const taskTypesInput = once(() => z.strictObject({}))

const taskTypesOutput = once(() =>
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
)

/** Spans all tasks, so it is reserved for people and programs. */
export function taskTypes(host: MemoryAbilityHost) {
  return defineAbility({
    id: 'task:types',
    access: 'read',
    description: 'Returns the number, success rate and mean duration of team tasks by type of work.',
    input: taskTypesInput(),
    output: taskTypesOutput(),
    models: false,
    async handle(_input, { caller }) {
      refuseTasks(caller, 'task:types')
      return { types: await reportTypes(host) }
    },
  })
}

// A read of one task, defined once: the ability that the bus serves, and what the engine's method of the same name calls.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { GivenBy } from '../../bus/json-schema.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { loadTask } from '../../steps/step-context.ts'
import type { AbilityHost } from '../ability-host.ts'
import { requireOwn } from '../own-tasks.ts'
import type { ChangeContext } from './task-change.ts'
import { taskIdSchema } from './task-input.ts'

interface ReadDefinition<Id extends string, O extends z.ZodObject, R> {
  id: Id
  description: string
  output: O
  /** The task is there, and the caller may read it. */
  read(tx: Reads, taskId: string, host: AbilityHost): Op<R>
}

/** Models neither get nor call it: `task:get` and `task:messages` are for them. An unknown id is NOT_FOUND. */
export function taskRead<const Id extends string, O extends z.ZodObject, R extends GivenBy<O>>(
  definition: ReadDefinition<Id, O, R>,
) {
  const { id, description, output } = definition

  const read = ({ host, caller }: ChangeContext, taskId: string): Promise<R> =>
    host.read(function* (tx) {
      yield* requireOwn(tx, caller, [taskId])
      yield* loadTask(tx, taskId)
      return yield* definition.read(tx, taskId, host)
    })

  const ability = (host: AbilityHost) =>
    defineAbility({
      id,
      access: 'read',
      description,
      input: z.strictObject({ taskId: taskIdSchema }),
      output,
      models: false,
      scope: ({ taskId }) => [taskId],
      handle: ({ taskId }, { caller }) => read({ host, caller }, taskId),
    })
  return Object.assign(ability, { read })
}

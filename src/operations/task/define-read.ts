// Defines a read of one task once: as an ability of the bus, and as the function behind the engine's method of the same name.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { GivenBy } from '../../bus/json-schema.ts'
import { once } from '../../core/once.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import type { AbilityHost } from '../ability-host.ts'
import { requireOwn } from '../own-tasks.ts'
import { loadTask } from '../steps/step-context.ts'
import type { ChangeContext } from './define-change.ts'
import { taskIdSchema } from './task-input.ts'

interface ReadDefinition<Id extends string, O extends z.ZodObject, R> {
  id: Id
  description: string
  output: O
  /** The task exists, and the caller may read it. */
  read(tx: Reads, taskId: string, host: AbilityHost): Op<R>
}

const inputSchema = once(() => z.strictObject({ taskId: taskIdSchema }))

/** Not offered to models, which have `task:get` and `task:messages`. NOT_FOUND for an unknown id. */
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
      input: inputSchema(),
      output,
      models: false,
      scope: ({ taskId }) => [taskId],
      handle: ({ taskId }, { caller }) => read({ host, caller }, taskId),
    })
  return Object.assign(ability, { read })
}

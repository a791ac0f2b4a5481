// Defines the operations that read one task: as an operation of the bus, and as the function behind the engine's method of the same name.
import { z } from 'zod'
import type { GivenBy } from '../../bus/json-schema.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import type { AbilityHost } from '../ability-host.ts'
import { defineOperation, type OperationRoute } from '../define-operation.ts'
import { requireOwn } from '../own-tasks.ts'
import { loadTask } from '../steps/step-context.ts'
import type { ChangeContext } from './define-change.ts'
import { taskIdSchema } from './task-input.ts'

interface ReadDefinition<Id extends string, O extends z.ZodObject, R> {
  id: Id
  description: string
  routes?: readonly OperationRoute[]
  output(): O
  /** The task exists, and the caller may read it. */
  read(tx: Reads, taskId: string, host: AbilityHost): Op<R>
}

/** Not offered to models, which have `task:get` and `task:messages`. NOT_FOUND for an unknown id. */
export function taskRead<const Id extends string, O extends z.ZodObject, R extends GivenBy<O>>(
  definition: ReadDefinition<Id, O, R>,
) {
  const { id, description, routes, output } = definition

  const read = ({ host, caller }: ChangeContext, taskId: string): Promise<R> =>
    host.read(function* (tx) {
      yield* requireOwn(tx, caller, [taskId])
      yield* loadTask(tx, taskId)
      return yield* definition.read(tx, taskId, host)
    })

  const operation = defineOperation({
    id,
    access: 'read',
    description,
    routes,
    input: () => z.strictObject({ taskId: taskIdSchema }),
    output,
    models: false,
    scope: ({ taskId }) => [taskId],
    handle: ({ taskId }, { caller }, host) => read({ host, caller }, taskId),
  })
  return Object.assign(operation, { read })
}

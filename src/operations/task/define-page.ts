// Defines a paged read of one task's records, oldest first: its runs and its calls.
import { z } from 'zod'
import type { GivenBy } from '../../bus/json-schema.ts'
import { once } from '../../core/once.ts'
import { generationSchema } from '../../entities/run.ts'
import type { Op, Page, Reads } from '../../ledger/ledger.ts'
import { defineOperation, type OperationRoute } from '../define-operation.ts'
import { requireOwn } from '../steps/conditions.ts'
import { loadTask } from '../steps/step-context.ts'
import { positionSchema } from '../views/event-view.ts'
import { defaultLimit, taskIdSchema } from './task-input.ts'

export const nextSchema = positionSchema().nullable().describe('Position for the next page; null on the last.')

interface PageDefinition<Id extends string, O extends z.ZodObject, Row> {
  id: Id
  description: string
  routes?: readonly OperationRoute[]
  output(): O
  /** Returns at most `limit` rows with a position above `after`. The task exists, and the caller may read it. */
  read(tx: Reads, taskId: string, after: number, limit: number, generation: number | undefined): Op<Page<Row>>
  positionOf(row: Row): number
  toOutput(rows: Row[], next: number | null): GivenBy<O>
}

const inputSchema = once(() =>
  z.strictObject({
    taskId: taskIdSchema,
    after: positionSchema().default(0).describe('The `next` of the previous page. Default: from the beginning.'),
    limit: z.int().min(1).max(1_000).default(defaultLimit),
    generation: generationSchema.optional().describe('Only those of this generation. Default: those of all.'),
  }),
)

/** Not offered to models, which have `task:get` and `task:messages`. NOT_FOUND for an unknown id. */
export function taskPage<const Id extends string, O extends z.ZodObject, Row>({
  id,
  description,
  routes,
  output,
  read,
  positionOf,
  toOutput,
}: PageDefinition<Id, O, Row>) {
  return defineOperation({
    id,
    access: 'read',
    description,
    routes,
    input: inputSchema,
    output,
    models: false,
    own: true,
    scope: ({ taskId }) => [taskId],
    handle: ({ taskId, after, limit, generation }, { caller }, host) =>
      host.read(function* (tx) {
        yield* requireOwn(tx, caller, [taskId])
        yield* loadTask(tx, taskId)
        const { rows, isLast } = yield* read(tx, taskId, after, limit, generation)
        return toOutput(rows, isLast ? null : positionOf(rows.at(-1) as Row))
      }),
  })
}

// task:batch: changes the tasks that a filter finds, a part of them with each call, so that a client can show the progress and stop.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { once } from '../../core/once.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { type BatchAction, batchActions, batchOptionsShape } from '../../entities/batch.ts'
import { filterShape } from '../../entities/filter-options.ts'
import { type BriefRecord, openStatuses, type TaskStatus, titleOf } from '../../entities/task.ts'
import { acceptedEvents, statesAccepting } from '../../machines/task-edges.ts'
import { defineOperation } from '../define-operation.ts'
import { belowCaller } from '../own-tasks.ts'
import { filterOf } from '../task-filter.ts'
import { positionSchema } from '../views/event-view.ts'

const inputSchema = once(() =>
  z.strictObject({
    action: z.enum(batchActions),
    filter: z
      .strictObject(filterShape())
      .describe('Which tasks. Default of `status`: the states in which the action has an effect.'),
    ...batchOptionsShape(),
    after: positionSchema().default(0).describe('The `next` of the previous call. Default: from the beginning.'),
    limit: z.int().min(1).max(500).default(100).describe('How many tasks to change with this call.'),
  }),
)
type BatchInput = z.output<ReturnType<typeof inputSchema>>

const outputSchema = once(() =>
  z.object({
    /** Tasks that were changed, or would be. */
    done: z.int(),
    refused: z.array(
      z.object({ taskId: z.string(), seq: z.int(), name: z.string(), code: z.string(), message: z.string() }),
    ),
    /** The number of tasks that the filter finds; null after the first call. */
    total: z.int().nullable(),
    /** Give it to all further calls as `filter.before`, so that no task is changed twice. */
    before: z.number(),
    /** Null: there are no more. */
    next: positionSchema().nullable(),
  }),
)
type Refused = z.output<ReturnType<typeof outputSchema>>['refused'][number]

/** The states in which an action has an effect. */
const statusesFor: Readonly<Record<BatchAction, () => TaskStatus[]>> = {
  retry: () => statesAccepting('retry'),
  cancel: () => [...openStatuses],
  pause: () => statesAccepting('pause'),
  resume: () => statesAccepting('resume'),
  delete: () => [],
}

export const taskBatch = defineOperation({
  id: 'task:batch',
  access: 'control',
  description:
    'Retries, cancels, pauses, resumes or deletes the tasks that a filter finds, oldest first, a limited number with each call.',
  routes: [{ endpoint: 'POST /tasks/batch', tag: 'Control', operationId: 'changeTasks', summary: 'Change many tasks' }],
  input: inputSchema,
  output: outputSchema,
  models: false,
  own: true,
  scope: ({ filter: { ids = [], parentId } }) => [...ids, ...(parentId ? [parentId] : [])],
  async handle(input, { caller }, host) {
    requireOptions(input)
    const { action, after, limit, dryRun } = input
    const engine = await host.engineFor(caller)
    const { at } = await host.stepContext()
    const before = input.filter.before ?? at + 1
    const statuses = statusesFor[action]()
    const filter = belowCaller(
      { ...(statuses.length === 0 ? {} : { statuses }), ...filterOf({ ...input.filter, before }) },
      caller,
    )
    const { found, total } = await host.read(function* (tx) {
      return {
        found: yield* tx.task.oldest(filter, limit + 1, after),
        total: after === 0 ? yield* tx.task.count(filter) : null,
      }
    })
    const tasks = found.slice(0, limit)
    const refused = dryRun
      ? tasks.flatMap((task) => foreseen(task, action))
      : (await Promise.all(tasks.map((task) => change(engine, task, input)))).flat()
    const next = found.length > limit ? (tasks.at(-1) as BriefRecord).seq : null
    return { done: tasks.length - refused.length, refused, total, before, next }
  },
})

/** @throws ErrandError INVALID_INPUT for an option without effect. */
function requireOptions({ action, reason, children, divergence }: BatchInput): void {
  const given = { cancel: { reason }, delete: { children }, retry: { divergence } }
  for (const [owner, options] of Object.entries(given)) {
    const [option] = Object.keys(omitUndefined(options))
    if (option === undefined || owner === action) continue
    throw new ErrandError(
      'INVALID_INPUT',
      `\`${option}\` has no effect on ${action}: it is for ${owner}. Leave it out.`,
      {
        option,
      },
    )
  }
}

/** Returns the refusal, if there is one. A failure of the ledger stops the batch. */
async function change(engine: Engine, task: BriefRecord, input: BatchInput): Promise<Refused[]> {
  try {
    await verbs[input.action](engine, task.id, input, task.version)
    return []
  } catch (error) {
    if (!ErrandError.isInstance(error) || error.httpStatus >= 500) throw error
    // Another change of the batch has reached it: that of a group, or of a task above it.
    const now = await engine.get(task.id)
    if (now === null || now.status !== task.status) return []
    return [refusal(task, error)]
  }
}

const verbs: Readonly<
  Record<BatchAction, (engine: Engine, id: string, input: BatchInput, version: number) => Promise<unknown>>
> = {
  // Only the failure that the filter found: another caller may have retried the task since, and it may have failed again.
  retry: (engine, id, { divergence }, expectedVersion) =>
    engine.retry({ id, expectedVersion }, omitUndefined({ divergence })),
  cancel: (engine, id, { reason }) => engine.cancel(id, reason),
  pause: (engine, id) => engine.pause(id),
  resume: (engine, id) => engine.resume(id),
  delete: (engine, id, { children }) => engine.delete(id, omitUndefined({ children })),
}

/** What the state of the task alone already refuses. */
function foreseen(task: BriefRecord, action: BatchAction): Refused[] {
  if (action === 'delete' || acceptedEvents(task.status).includes(action)) return []
  const message = `Cannot ${action} ${titleOf(task)}: it is ${task.status}.`
  return [refusal(task, { code: 'INVALID_TRANSITION', message })]
}

function refusal(
  { id: taskId, seq, name }: BriefRecord,
  { code, message }: { code: string; message: string },
): Refused {
  return { taskId, seq, name, code, message }
}

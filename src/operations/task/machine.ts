// task:machine: the machine of a task, as it stands in the ledger.
import { z } from 'zod'
import type { MachineDetails } from '../../entities/machine.ts'
import type { MachineChartView, TaskMachine } from '../../entities/machine-view.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { defineOperation } from '../define-operation.ts'
import { requireOwn } from '../steps/conditions.ts'
import { machineEntryOf } from '../steps/machine.ts'
import { publishedChart } from '../steps/published-executors.ts'
import { loadTask } from '../steps/step-context.ts'
import { positionSchema } from '../views/event-view.ts'
import type { ChangeContext } from './define-change.ts'
import { taskIdSchema } from './task-input.ts'

const maxMoves = 100

/** Not offered to models, which have `task:get`. NOT_FOUND for an unknown id. */
export const taskMachine = defineOperation({
  id: 'task:machine',
  access: 'read',
  description:
    'Returns the machine of a task: its state, its context, what it accepts, its latest moves and its chart.',
  routes: [
    {
      endpoint: 'GET /tasks/{taskId}/machine',
      tag: 'Tasks',
      operationId: 'getTaskMachine',
      summary: 'Get the machine of a task',
    },
  ],
  input: () => z.strictObject({ taskId: taskIdSchema }),
  output: () =>
    z.object({
      machine: z
        .object({
          id: z.string().nullable(),
          value: z.unknown(),
          context: z.unknown(),
          accepts: z.array(z.string()),
          next: z.object({ event: z.string(), dueAt: z.number() }).nullable(),
          step: z.int(),
          chart: z.record(z.string(), z.unknown()).nullable(),
          path: z.array(z.object({ event: z.string(), value: z.unknown(), at: z.number(), seq: positionSchema() })),
        })
        .nullable()
        .describe('Null for a task without a machine.'),
    }),
  models: false,
  own: true,
  scope: ({ taskId }) => [taskId],
  handle: async ({ taskId }, { caller }, host) => {
    const machine = await readMachine({ host, caller }, taskId)
    return {
      machine: machine === null ? null : { ...machine, chart: machine.chart === null ? null : { ...machine.chart } },
    }
  },
})

/** Also serves `engine.machine`. */
export function readMachine({ host, caller }: ChangeContext, taskId: string): Promise<TaskMachine | null> {
  return host.read(function* (tx) {
    yield* requireOwn(tx, caller, [taskId])
    return yield* machineOf(tx, yield* loadTask(tx, taskId))
  })
}

function* machineOf(tx: Reads, task: TaskRecord): Op<TaskMachine | null> {
  const entry = yield* machineEntryOf(tx, task.id)
  if (entry === undefined) return null
  const { state, accepts, next } = entry.details as MachineDetails
  const { value, context, step } = state
  const moves = yield* tx.event.latestOf(task.id, 'machine.moved', maxMoves)
  const path = moves
    .reverse()
    .map(({ at, seq, data }) => ({ event: data['event'] as string, value: data['value'], at, seq }))
  const chart = (yield* chartFor(tx, task)) ?? null
  return { id: chart?.id ?? null, value, context, accepts, next, step, chart, path }
}

/** That of the executor's machine, or of the actor in it that the task is. */
function* chartFor(tx: Reads, { executor, policy }: TaskRecord): Op<MachineChartView | undefined> {
  let chart = yield* publishedChart(tx, executor as string)
  for (const src of policy.machine?.path ?? []) chart = chart?.actors[src]
  return chart
}

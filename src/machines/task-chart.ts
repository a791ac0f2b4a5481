// The lifecycle of a task as an XState machine. Apart from the transition table, which most of the package reads, so that only what has
// actors loads XState.
import { setup } from 'xstate'
import { type TaskStatus, taskStatuses } from '../entities/task.ts'
import { acceptedEvents, type TaskEventName, taskMachineVersion, taskTransitions } from './transition-table.ts'

/** The context of the chart, for inspectors. */
export interface TaskMachineContext {
  taskId: string
  name: string
  attempt: number
  run: number
}

/** The lifecycle as an XState machine, derived from the table: pure, without invoke, timers or inline functions. */
export const taskMachine = setup({
  types: {
    context: {} as TaskMachineContext,
    events: {} as { type: TaskEventName },
    input: {} as Partial<TaskMachineContext>,
  },
}).createMachine({
  id: 'task',
  version: String(taskMachineVersion),
  initial: 'submitted',
  context: ({ input }) => ({ taskId: '', name: '', attempt: 1, run: 0, ...input }),
  states: Object.fromEntries(
    taskStatuses.map((status) => [
      status,
      acceptedEvents(status).length === 0 ? { type: 'final' as const } : { on: { ...taskTransitions[status] } },
    ]),
  ) as Record<TaskStatus, object>,
})

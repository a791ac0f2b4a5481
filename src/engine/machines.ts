// The machines of an engine and its parts as public data, and the operation that returns them.
import { z } from 'zod'
import { callMachine } from '../machines/call-machine.ts'
import { chartOf, type MachineChart } from '../machines/drawing.ts'
import { questionMachine } from '../machines/question-machine.ts'
import { runMachine } from '../machines/run-machine.ts'
import { supervisorMachine } from '../machines/supervisor-machine.ts'
import { taskMachine } from '../machines/task-machine.ts'
import { objectiveMachine } from '../memory/team/objective-machine.ts'
import { stintMachine } from '../memory/team/stint-machine.ts'
import { defineOperation } from '../operations/define-operation.ts'

/** The lifecycles of a task, a run, a call, a question, an objective, a stint and an engine. */
export const machineNames = ['task', 'run', 'call', 'question', 'objective', 'stint', 'supervisor'] as const
export type MachineName = (typeof machineNames)[number]

/**
 * The machines by which the engine decides, as plain JSON.
 *
 * @example
 * const chart = createMachine(machines.task.config) // XState's
 */
export const machines: Readonly<Record<MachineName, MachineChart<MachineName>>> = {
  task: chartOf('task', taskMachine),
  run: chartOf('run', runMachine),
  call: chartOf('call', callMachine),
  question: chartOf('question', questionMachine),
  objective: chartOf('objective', objectiveMachine),
  stint: chartOf('stint', stintMachine),
  supervisor: chartOf('supervisor', supervisorMachine),
}

/** Each `config` is valid input for XState's `createMachine` and the Stately editor. */
export const engineMachines = defineOperation({
  id: 'engine:machines',
  access: 'read',
  description:
    'Returns the machines of tasks, runs, calls, questions, objectives, stints and the engine as state charts.',
  routes: [{ endpoint: 'GET /machines', tag: 'Engine', operationId: 'getMachines', summary: 'Get the state machines' }],
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      machines: z.array(
        z.object({ id: z.enum(machineNames), config: z.record(z.string(), z.unknown()), mermaid: z.string() }),
      ),
    }),
  models: false,
  handle: () => ({
    machines: Object.values(machines).map(({ id, config, mermaid }) => ({ id, config: { ...config }, mermaid })),
  }),
})

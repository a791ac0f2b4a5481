// The machines of an engine and its parts as public data. The package is built with the data, so that it is read without XState.
import { callMachine } from '../machines/call-machine.ts'
import type { MachineChart } from '../machines/chart.ts'
import { chartOf } from '../machines/drawing.ts'
import { questionMachine } from '../machines/question-machine.ts'
import { runMachine } from '../machines/run-machine.ts'
import { supervisorMachine } from '../machines/supervisor-machine.ts'
import { taskMachine } from '../machines/task-machine.ts'
import { objectiveMachine } from '../memory/team/objective-machine.ts'
import { stintMachine } from '../memory/team/stint-machine.ts'

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

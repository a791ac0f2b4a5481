// All operations of an engine, from the lists of the parts that own them. A new one is a line in the list of its part.
import { taskRoute } from '../agents/operations/route.ts'
import { boardOperations } from '../board/operations/index.ts'
import { memoryOperations, teamOperations } from '../memory/operations/index.ts'
import type { Operation } from '../operations/define-operation.ts'
import { engineOperations } from '../operations/engine/index.ts'
import { eventOperations } from '../operations/event/index.ts'
import { taskOperations } from '../operations/task/index.ts'
import { planRun } from '../plans/operations/run.ts'
import { scheduleOperations } from '../time/operations/schedules.ts'
import { engineMachines } from './machines.ts'

/** Those that every engine has that is composed with their part. */
export const hostedOperations = {
  core: [...engineOperations, engineMachines, ...eventOperations, ...taskOperations],
  agents: [taskRoute],
  board: boardOperations,
  memory: teamOperations,
  time: scheduleOperations,
} as const

export type HostedOperation = (typeof hostedOperations)[keyof typeof hostedOperations][number]

/** All operations; an engine without memory or plans lacks some. */
export const operations: readonly Operation[] = [
  ...Object.values(hostedOperations).flat(),
  ...memoryOperations,
  planRun,
]

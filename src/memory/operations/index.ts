// The operations of memory and of teams. Their registration and their types derive from these lists.
import { agentComplete, agentJoin, agentTimeline } from './agents.ts'
import { memArchive, memConsolidate, memMerge, memObserve, memRemember, memSave } from './changes.ts'
import { taskComplete } from './complete.ts'
import { taskContext } from './context.ts'
import { objectiveAdd, objectiveLog, objectiveUpdate } from './objectives.ts'
import { memBranches, memFacts, memHistory, memObservations, memRetrieve, memWhy } from './read.ts'
import { taskTeams } from './teams.ts'
import { taskTypes } from './work-types.ts'

export const teamOperations = [
  agentComplete,
  agentJoin,
  agentTimeline,
  objectiveAdd,
  objectiveLog,
  objectiveUpdate,
  taskComplete,
  taskContext,
  taskTeams,
  taskTypes,
] as const

export const memoryOperations = [
  memArchive,
  memBranches,
  memConsolidate,
  memFacts,
  memHistory,
  memMerge,
  memObservations,
  memObserve,
  memRemember,
  memRetrieve,
  memSave,
  memWhy,
] as const

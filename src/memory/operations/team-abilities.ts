// The abilities of teams: their tasks, agents and objectives. Their registration and their types derive from this list.
import { agentComplete, agentJoin, agentTimeline } from './agents.ts'
import { taskComplete } from './complete.ts'
import { taskContext } from './context.ts'
import { objectiveAdd, objectiveLog, objectiveUpdate } from './objectives.ts'
import { taskTeams } from './teams.ts'
import { taskTypes } from './work-types.ts'

export const teamAbilities = [
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

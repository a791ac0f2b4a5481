// The abilities of agents that work in teams, one file each. This list alone puts them on the bus and makes their types known.
import { agentComplete } from './complete.ts'
import { agentJoin } from './join.ts'
import { agentTimeline } from './timeline.ts'

export const agentAbilities = [agentComplete, agentJoin, agentTimeline] as const

// The abilities of agents that work in teams. This list alone puts them on the bus and makes their types known.
import { agentComplete, agentJoin, agentTimeline } from './agents.ts'

export const agentAbilities = [agentComplete, agentJoin, agentTimeline] as const

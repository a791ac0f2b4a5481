// The abilities of agents in teams. Their registration and their types derive from this list.
import { agentComplete, agentJoin, agentTimeline } from './agents.ts'

export const agentAbilities = [agentComplete, agentJoin, agentTimeline] as const

// What an agent of a team is told before it begins: whom it works with, on what, and what is known by now (conformance S2-046).
import { z } from 'zod'
import type { AgentRun, WorkPlace } from '../../agent-run.ts'
import { storableText } from '../../storable-text.ts'
import { askMemory } from './recall.ts'

export const teamHeading = 'You work on this with others'

const some = z.array(z.unknown())
const contextSchema = z.object({
  objectives: some,
  agentSummaries: some,
  activeAgents: z.array(z.object({ agentId: z.string() })),
  keyFacts: some,
})
const briefingSchema = z.object({ text: z.string() })

/** Empty where there is nothing to tell: one who works alone on a task is told no more than its goal. Never rejects but for the end of the run. */
export async function teamBriefing(talk: AgentRun, place: WorkPlace, signal: AbortSignal): Promise<string> {
  const { taskId, agentId } = place
  const context = await askMemory(talk, 'task:context', { taskId }, contextSchema, signal)
  if (context === undefined || isAlone(context, agentId)) return ''
  const told = await askMemory(talk, 'task:context', { taskId, format: 'text' }, briefingSchema, signal)
  return told === undefined ? '' : storableText(`${teamHeading}, as ${agentId}.\n\n${told.text}`)
}

function isAlone(
  { objectives, agentSummaries, activeAgents, keyFacts }: z.output<typeof contextSchema>,
  agentId: string,
): boolean {
  const others = activeAgents.filter((agent) => agent.agentId !== agentId)
  return [objectives, agentSummaries, others, keyFacts].every(({ length }) => length === 0)
}

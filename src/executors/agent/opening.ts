// Before the first step: what the conversation opens with, what the tasks before this one came to, what its team knows, and what memory
// recalls. What others have said is told in user messages: system messages are what whoever made the task and the agent says.
import { z } from 'zod'
import type { AgentRun, TeamMembership } from '../../agent-run.ts'
import type { ExecutorTask, Run } from '../../api/executor.ts'
import { defined } from '../../core/defined.ts'
import { Failure } from '../../core/errors.ts'
import { untilAborted } from '../../core/signals.ts'
import { storableText } from '../../core/storable-text.ts'
import { defaultSystemPrompt } from '../../drafts/agent-draft.ts'
import type { Task } from '../../entities/task.ts'
import { recalledSchema, recallHeading, recallText } from './recall.ts'

const resultsHeading = 'Results of the tasks that this one comes after:'
const teamHeading = 'You work on this with others'

/** Adds what is missing; a run that finds a step has nothing to add. */
export async function openConversation(
  task: ExecutorTask,
  run: Run,
  talk: AgentRun,
  instructions: string | undefined,
): Promise<void> {
  const { system, steps, unread } = await talk.conversation()
  // One that goes on has its place; but it may have been waiting for it.
  const place = steps.length === 0 || talk.policy.team !== undefined ? await talk.teamMembership() : undefined
  if (steps.length > 0) return
  const say = (role: 'system' | 'user', content: string): Promise<void> =>
    talk.append({ id: talk.nextId('msg'), role, content })
  // Earlier versions told all of it in system messages.
  const said = (heading: string): boolean => [...system, ...unread].some(({ content }) => content.startsWith(heading))
  // A task that was created where this agent was not known has no first lines yet; it may have been sent something by then.
  if (system.length === 0) await say('system', talk.policy.systemPrompt ?? instructions ?? defaultSystemPrompt)
  if (unread.length === 0 || system[0]?.run !== null) {
    const assignment = assignmentOf(task)
    if (assignment === '' && unread.length === 0) throw nothingToDo(task)
    if (assignment !== '' && !unread.some(({ content }) => content === assignment)) await say('user', assignment)
  }
  if (!said(resultsHeading)) {
    const results = resultsOf(await run.dependencies())
    if (results !== '') await say('user', `${resultsHeading}\n\n${results}`)
  }
  if (place !== undefined && !said(teamHeading)) {
    const briefing = await teamBriefing(talk, place, run.signal)
    if (briefing !== '') await say('user', briefing)
  }
  if (!said(recallHeading)) {
    const recalled = await recall(talk, task.goal ?? task.name, run.signal)
    if (recalled !== '') await say('user', recalled)
  }
}

/** The goal and what was given with it; empty when there is neither. */
function assignmentOf(task: ExecutorTask): string {
  const given =
    task.input === null ? undefined : typeof task.input === 'string' ? task.input : JSON.stringify(task.input, null, 2)
  return [task.goal, given].filter((part) => typeof part === 'string' && part !== '').join('\n\n')
}

function nothingToDo({ id }: ExecutorTask): Failure {
  return new Failure(`${id} has neither a goal nor an input: its agent would not know what to do.`, {
    code: 'INVALID_INPUT',
    retry: false,
  })
}

function resultsOf(tasks: readonly Task[]): string {
  return tasks
    .filter((task) => task.status === 'completed' && task.result !== null)
    .map(({ name, result }) => `${name}: ${shortened(typeof result === 'string' ? result : JSON.stringify(result))}`)
    .join('\n\n')
}

const maxResultLength = 100_000

/** A model reads no book; who needs all of it looks the task up. */
function shortened(text: string): string {
  return text.length <= maxResultLength
    ? text
    : `${text.slice(0, maxResultLength).toWellFormed()}… (${text.length} characters in all)`
}

// ── what its team and memory know ──

const some = z.array(z.unknown())
const contextSchema = z.object({
  objectives: some,
  agentSummaries: some,
  activeAgents: z.array(z.object({ agentId: z.string() })),
  keyFacts: some,
})
const briefingSchema = z.object({ text: z.string() })

/**
 * Whom an agent of a team works with, on what, and what is known by now (conformance S2-046). Empty where there is nothing to tell: one
 * who works alone on a task is told no more than its goal. Never rejects but for the end of the run.
 */
async function teamBriefing(talk: AgentRun, place: TeamMembership, signal: AbortSignal): Promise<string> {
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

const maxRecalled = 5
const maxRecallMs = 10_000

/** What memory knows that bears on a goal, quoted; empty when there is nothing. Never rejects but for the end of the run. */
async function recall(talk: AgentRun, query: string, signal: AbortSignal): Promise<string> {
  const answer = await askMemory(talk, 'mem:retrieve', { query, limit: maxRecalled }, recalledSchema, signal)
  return answer === undefined ? '' : recallText(answer)
}

/**
 * Asked as the task itself. Memory is optional: where nobody answers, in time and as expected, it is undefined, and the task goes on
 * (conformance S1-070, S1-073). @throws the reason of the signal.
 */
async function askMemory<T>(
  talk: AgentRun,
  abilityId: string,
  input: unknown,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  if (!talk.bus.has(abilityId)) return undefined
  const { taskId, run } = talk.caller
  const caller = { surface: 'agent', ...defined({ taskId, run }) }
  const late = new AbortController()
  const timer = talk.clock.setTimeout(() => late.abort(new Error('memory took too long')), maxRecallMs)
  try {
    const until = AbortSignal.any([signal, late.signal])
    return schema.parse(await untilAborted(talk.bus.call(abilityId, input, { caller, signal: until }), until))
  } catch (error) {
    signal.throwIfAborted()
    talk.report(error, abilityId === 'mem:retrieve' ? 'recall from memory' : 'hear of the team')
    return undefined
  } finally {
    talk.clock.clearTimeout(timer)
  }
}

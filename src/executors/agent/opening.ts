// Before the first step: what the conversation opens with, what the tasks before this one came to, what its team knows, and what memory
// recalls.
import type { AgentRun } from '../../agent-run.ts'
import { defaultSystemPrompt } from '../../drafts/agent-draft.ts'
import type { Task } from '../../entities/task.ts'
import { Failure } from '../../errors.ts'
import type { ExecutorTask, Run } from '../../executor.ts'
import { recall, recallHeading } from './recall.ts'
import { teamBriefing, teamHeading } from './team-briefing.ts'

const resultsHeading = 'Results of the tasks that this one comes after:'

/** Adds what is missing; a run that finds a step has nothing to add. */
export async function openConversation(
  task: ExecutorTask,
  run: Run,
  talk: AgentRun,
  instructions: string | undefined,
): Promise<void> {
  const { system, steps, unread } = await talk.conversation()
  // One that goes on has its place; but it may have been waiting for it.
  const place = steps.length === 0 || talk.policy.team !== undefined ? await talk.place() : undefined
  if (steps.length > 0) return
  const say = (role: 'system' | 'user', content: string): Promise<void> =>
    talk.append({ id: talk.nextId('msg'), role, content })
  const said = (heading: string): boolean => system.some(({ content }) => content.startsWith(heading))
  // A task that was created where this agent was not known has no first lines yet; it may have been sent something by then.
  if (system.length === 0) await say('system', talk.policy.systemPrompt ?? instructions ?? defaultSystemPrompt)
  if (unread.length === 0 || system[0]?.run !== null) {
    const assignment = assignmentOf(task)
    if (assignment === '' && unread.length === 0) throw nothingToDo(task)
    if (assignment !== '' && !unread.some(({ content }) => content === assignment)) await say('user', assignment)
  }
  if (!said(resultsHeading)) {
    const results = resultsOf(await run.dependencies())
    if (results !== '') await say('system', `${resultsHeading}\n\n${results}`)
  }
  if (place !== undefined && !said(teamHeading)) {
    const briefing = await teamBriefing(talk, place, run.signal)
    if (briefing !== '') await say('system', briefing)
  }
  if (!said(recallHeading)) {
    const recalled = await recall(talk, task.goal ?? task.name, run.signal)
    if (recalled !== '') await say('system', `${recallHeading}\n\n${recalled}`)
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

const longestResult = 100_000

/** A model reads no book; who needs all of it looks the task up. */
function shortened(text: string): string {
  return text.length <= longestResult
    ? text
    : `${text.slice(0, longestResult).toWellFormed()}… (${text.length} characters in all)`
}

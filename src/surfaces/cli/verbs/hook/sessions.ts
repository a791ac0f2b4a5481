// `errand hook session-start` prints the context of a new session, in the JSON format of the hook. `errand hook session-end` records
// the end of a session in the conversation of its task, and consolidates its observations into facts.

import { lineOf } from '../../../../board/list-text.ts'
import { isoTime, systemClock } from '../../../../core/clock.ts'
import { startOf } from '../../../../core/storable-text.ts'
import type { BoardRef, BoardTask } from '../../../../entities/board.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { shortId } from '../../../terminal/task-labels.ts'
import { contextOf, contextTextOf, observeCommand } from '../../../terminal/team-text.ts'
import { cleanLine, cleanText } from '../../../terminal/terminal-text.ts'
import { type BoardAccess, memberName } from '../../board-target.ts'
import { findNamed, type HookInput, hookOptions, hookOptionsHelp, namesOfTask, runHook } from '../../hook-call.ts'
import { contextText, maxContextLength, readContext } from '../../task-context.ts'
import { defineVerb } from '../../verb.ts'

const maxShown = 20
const maxLineLength = 200
/** Characters that are reserved for the task itself; the context of its team is cut. */
const minBoardLength = 2_000
/** The maximum that memory accepts. */
const maxSessionIdLength = 500

const sessionStart = defineVerb({
  usage: 'hook session-start [TASK] [--as NAME] [--board NAME] [--timeout DURATION]',
  help: [
    "Prints the context of the session's task (TASK, else the one that ERRAND_TASK_ID, BM_TASK_ID or DAY1_TASK_ID names), as the JSON of a SessionStart hook: the facts of its team, the state of the task, and the command that records observations of the session. Prints nothing for a task that does not exist. Without a task, prints the claimable tasks of the board and the tasks of the agent, if there are any. Reads the JSON of the hook from stdin.",
    ...hookOptionsHelp,
  ].join('\n'),
  options: hookOptions,
  positionals: { max: 1 },
  silent: true,
  run: (io, { values, positionals }) =>
    runHook(io, values, async (access, { session_id: sessionId }) => {
      const agent = memberName(io, values)
      const additionalContext = await contextFor(access, namesOfTask(io, positionals), { sessionId, agent })
      if (additionalContext === '') return undefined
      return { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext } }
    }),
})

/** The session and its agent, if known. */
interface Session {
  sessionId: string | undefined
  agent: string | undefined
}

async function contextFor(access: BoardAccess, names: readonly string[], session: Session): Promise<string> {
  if (names.length === 0) return boardContext(access, session.agent)
  const id = await findNamed(access, names)
  // The task of another program.
  return id === undefined ? '' : taskContext(access, id, session)
}

async function taskContext(access: BoardAccess, id: BoardRef, session: Session): Promise<string> {
  const context = await readContext(access, id)
  const team = await teamContext(access, context.task.taskId)
  const next = `${team === undefined ? '' : howToObserve(team.taskId, session)}${nextStep(context.task)}`
  const before = team === undefined ? '' : `${startOf(cleanText(team.text), maxContextLength - minBoardLength)}\n\n`
  return `${before}${contextText(context, maxContextLength - before.length - next.length)}${next}`
}

/** Uses the id of the session, because session-end consolidates the observations of that id. */
function howToObserve(taskId: string, { sessionId, agent }: Session): string {
  if (sessionId === undefined || sessionId.length > maxSessionIdLength) return ''
  const command = observeCommand(shortId(taskId), cleanLine(sessionId), agent && cleanLine(agent))
  return `\n\nTo record what you find out for the team: ${command} (or --type decision, discovery). It is consolidated into facts when this session ends.`
}

/** The context of the team of the task or of the nearest task above it; undefined without a team. */
async function teamContext({ engine }: BoardAccess, id: string): Promise<{ taskId: string; text: string } | undefined> {
  for (let taskId: string | null | undefined = id; taskId != null; taskId = (await engine.get(taskId))?.parentId) {
    const { task } = await contextOf(engine, taskId)
    if (task.branch !== null) return { taskId, text: await contextTextOf(engine, taskId) }
  }
  return undefined
}

/** The command for the next step, if the state of the task allows one. */
function nextStep({ id, status, ready, owner, role }: BoardTask): string {
  const as = owner === '' ? 'NAME' : cleanLine(owner)
  if (status === 'in_progress')
    return `\n\nWhen it is done: "errand board done ${id} --as ${as} RESULT", or the tool board_complete. To release it: "errand board release ${id} --as ${as}".`
  if (ready || (status === 'pending' && owner !== ''))
    return `\n\nTo claim it: "errand board claim ${id} --as ${as}${role === undefined ? '' : ` --role ${cleanLine(role)}`}", or the tool board_claim.`
  return ''
}

/** Empty when the board has no task for the agent. */
async function boardContext({ engine, board }: BoardAccess, agent: string | undefined): Promise<string> {
  const ready = await engine.bus.call('board:ready', { limit: maxShown, board }, cliCaller)
  const statuses = ['pending', 'in_progress'] as const
  const choice = { owner: agent, status: [...statuses], limit: maxShown, board }
  const held = agent === undefined ? { tasks: [], total: 0 } : await engine.bus.call('board:list', choice, cliCaller)
  const sections = [
    listed(`Tasks that ${agent} has claimed or is meant to do:`, held),
    listed('Tasks of the board that may be claimed now, the most urgent first:', ready),
  ].filter((lines) => lines.length > 0)
  if (sections.length === 0) return ''
  const roles = [...new Set(ready.tasks.flatMap(({ role }) => role ?? []))].map((role) => cleanLine(role))
  const byRole = roles.length === 0 ? '' : ` (with --role for a task with a role: ${roles.join(', ')})`
  const how = `To claim one: "errand board claim N --as ${agent ?? 'NAME'}"${byRole}, or the tool board_claim; "errand board show N" shows it.`
  return [...sections, [how]].map((lines) => lines.join('\n')).join('\n\n')
}

function listed(title: string, { tasks, total }: { tasks: BoardTask[]; total: number }): string[] {
  if (tasks.length === 0) return []
  const more = total > tasks.length ? [`… and ${total - tasks.length} more`] : []
  return [cleanLine(title), ...tasks.map((task) => startOf(cleanLine(lineOf(task)), maxLineLength)), ...more]
}

const sessionEnd = defineVerb({
  usage: 'hook session-end [--as NAME] [--board NAME] [--timeout DURATION]',
  help: [
    'Consolidates the observations of the session into facts, on every branch of memory. Records the end of the session in the conversation of its task, with its id, the time, the reason and the path of its transcript. Without a task, records nothing. Claims are not changed: one with a lease expires, one without a lease stays. Reads the JSON of the hook from stdin.',
    ...hookOptionsHelp,
  ].join('\n'),
  options: hookOptions,
  positionals: { max: 0 },
  silent: true,
  run: (io, { values }) =>
    runHook(io, values, async (access, input) => {
      const text = endingText(input, memberName(io, values), systemClock.now())
      // A failure of one must not prevent the other.
      const done = await Promise.allSettled([note(access, namesOfTask(io), text), consolidate(access, input)])
      for (const each of done) if (each.status === 'rejected') throw each.reason
      return undefined
    }),
})

async function note(access: BoardAccess, names: readonly string[], text: string): Promise<void> {
  const id = await findNamed(access, names)
  if (id === undefined) return
  const { engine, board } = access
  const { task } = await engine.bus.call('board:get', { id, board }, cliCaller)
  // A note for people and the next session; a model of the engine that works on the task does not read it.
  await engine.bus.call('task:note', { taskId: task.taskId, text }, cliCaller)
}

/** Consolidates every branch with new observations of the session. */
async function consolidate({ engine }: BoardAccess, { session_id: sessionId }: HookInput): Promise<void> {
  if (sessionId === undefined) return
  await engine.bus.call('mem:consolidate', { level: 'session', sessionId }, cliCaller)
}

function endingText({ session_id, reason, transcript_path }: HookInput, agent: string | undefined, at: number): string {
  const who = agent === undefined ? '' : ` of ${agent}`
  const parts = [
    `Session ${session_id ?? 'without an id'}${who} ended at ${isoTime(at)}`,
    ...(reason === undefined ? [] : [`reason: ${reason}`]),
    ...(transcript_path === undefined ? [] : [`transcript: ${transcript_path}`]),
  ]
  return cleanLine(parts.join('; '))
}

export { sessionEnd as 'session-end', sessionStart as 'session-start' }

// What coding agents call: `errand hook session-start` tells a session what it should know before it begins, in the JSON that its hook
// expects; `errand hook session-end` writes its end into the conversation of its task, and makes facts of what it has observed.

import { lineOf } from '../../../../board/list-text.ts'
import { isoTime, systemClock } from '../../../../core/clock.ts'
import type { BoardRef, BoardTask } from '../../../../entities/board.ts'
import { cliCaller } from '../../../../terminal/caller.ts'
import { contextOf, contextTextOf, observeCommand } from '../../../../terminal/team-text.ts'
import { cleanLine, cleanText } from '../../../../terminal/terminal-text.ts'
import { type BoardAccess, memberName } from '../../board-target.ts'
import { findNamed, type HookInput, hookOptions, hookOptionsHelp, namesOfTask, runHook } from '../../hook-call.ts'
import { contextText, maxContextLength, readContext } from '../../task-context.ts'
import { defineVerb } from '../../verb.ts'

const maxShown = 20
const widestLine = 200
/** Characters that are left for how the task stands on the board, however much its team knows. */
const minBoardLength = 2_000
/** As long as the id of a session may be in memory. */
const maxSessionIdLength = 500

const sessionStart = defineVerb({
  usage: 'hook session-start [TASK] [--as NAME] [--board NAME] [--timeout DURATION]',
  help: [
    "Prints the context of the session's task (TASK, else the one that ERRAND_TASK_ID, BM_TASK_ID or DAY1_TASK_ID names), as the JSON of a SessionStart hook: what its team knows, if it has one, how it stands, and by which command the session keeps what it finds out. Nothing for a task that there is not. Where none is named: what may be claimed on the board and what the agent holds, if there is anything. Takes the JSON of the hook on standard input.",
    ...hookOptionsHelp,
  ].join('\n'),
  options: hookOptions,
  positionals: { max: 1 },
  silent: true,
  run: (io, { values, positionals }) =>
    runHook(io, values, async (place, { session_id: sessionId }) => {
      const agent = memberName(io, values)
      const additionalContext = await contextFor(place, namesOfTask(io, positionals), { sessionId, agent })
      if (additionalContext === '') return undefined
      return { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext } }
    }),
})

/** Whose session it is, as far as that is known. */
interface Session {
  sessionId: string | undefined
  agent: string | undefined
}

async function contextFor(place: BoardAccess, names: readonly string[], session: Session): Promise<string> {
  if (names.length === 0) return boardContext(place, session.agent)
  const id = await findNamed(place, names)
  // Somebody's task, and none of ours: the board has nothing to say about it (conformance S2-049).
  return id === undefined ? '' : taskContext(place, id, session)
}

async function taskContext(place: BoardAccess, id: BoardRef, session: Session): Promise<string> {
  const context = await readContext(place, id)
  const team = await teamContext(place, context.task.taskId)
  const next = `${team === undefined ? '' : howToObserve(team.taskId, session)}${nextStep(context.task)}`
  const before = team === undefined ? '' : `${cleanText(team.text).slice(0, maxContextLength - minBoardLength)}\n\n`
  return `${before}${contextText(context, maxContextLength - before.length - next.length)}${next}`
}

/** Under the session's own id, for that is the one whose observations its end makes facts of. */
function howToObserve(taskId: string, { sessionId, agent }: Session): string {
  if (sessionId === undefined || sessionId.length > maxSessionIdLength) return ''
  const command = observeCommand(taskId, cleanLine(sessionId), agent && cleanLine(agent))
  return `\n\nWhat you find out is kept for the team by: ${command} (or --type decision, discovery). It becomes facts when this session ends.`
}

/** What the team knows that works on the task, or on one above it; undefined where there is none (conformance S2-047). */
async function teamContext({ engine }: BoardAccess, id: string): Promise<{ taskId: string; text: string } | undefined> {
  for (let taskId: string | null | undefined = id; taskId != null; taskId = (await engine.get(taskId))?.parentId) {
    const { task } = await contextOf(engine, taskId)
    if (task.branch !== null) return { taskId, text: await contextTextOf(engine, taskId) }
  }
  return undefined
}

/** What one may do with the task, as far as its state allows anything. */
function nextStep({ id, status, ready, owner, role }: BoardTask): string {
  const as = owner === '' ? 'NAME' : cleanLine(owner)
  if (status === 'in_progress')
    return `\n\nWhen it is done: "errand board done ${id} --as ${as} RESULT", or the tool board_complete. To let go of it: "errand board release ${id} --as ${as}".`
  if (ready || (status === 'pending' && owner !== ''))
    return `\n\nTo take it: "errand board claim ${id} --as ${as}${role === undefined ? '' : ` --role ${cleanLine(role)}`}", or the tool board_claim.`
  return ''
}

/** Empty where there is nothing to do: a session need not hear of a board that has nothing for it. */
async function boardContext({ engine, board }: BoardAccess, agent: string | undefined): Promise<string> {
  const ready = await engine.bus.call('board:ready', { limit: maxShown, board }, cliCaller)
  const statuses = ['pending', 'in_progress'] as const
  const choice = { owner: agent, status: [...statuses], limit: maxShown, board }
  const held = agent === undefined ? { tasks: [], total: 0 } : await engine.bus.call('board:list', choice, cliCaller)
  const sections = [
    listed(`${agent} works on, or is meant to do:`, held),
    listed('Tasks of the board that may be claimed now, the most urgent first:', ready),
  ].filter((lines) => lines.length > 0)
  if (sections.length === 0) return ''
  const roles = [...new Set(ready.tasks.flatMap(({ role }) => role ?? []))].map((role) => cleanLine(role))
  const byRole = roles.length === 0 ? '' : ` (with --role, for those of a role: ${roles.join(', ')})`
  const how = `To take one: "errand board claim N --as ${agent ?? 'NAME'}"${byRole}, or the tool board_claim; "errand board show N" says all about it.`
  return [...sections, [how]].map((lines) => lines.join('\n')).join('\n\n')
}

function listed(title: string, { tasks, total }: { tasks: BoardTask[]; total: number }): string[] {
  if (tasks.length === 0) return []
  const more = total > tasks.length ? [`… and ${total - tasks.length} more`] : []
  return [cleanLine(title), ...tasks.map((task) => cleanLine(lineOf(task)).slice(0, widestLine)), ...more]
}

const sessionEnd = defineVerb({
  usage: 'hook session-end [--as NAME] [--board NAME] [--timeout DURATION]',
  help: [
    "Makes facts of what the session has observed, on every branch of memory. Notes in the conversation of the session's task that the session has ended: which one, when, why, and where its transcript lies. Without a task nothing is noted. A claim is not touched: with a lease it lapses, without one it stays. Takes the JSON of the hook on standard input.",
    ...hookOptionsHelp,
  ].join('\n'),
  options: hookOptions,
  positionals: { max: 0 },
  silent: true,
  run: (io, { values }) =>
    runHook(io, values, async (place, input) => {
      const text = endingText(input, memberName(io, values), systemClock.now())
      // Neither is to go without the other because something is wrong with that one.
      const done = await Promise.allSettled([note(place, namesOfTask(io), text), consolidate(place, input)])
      for (const each of done) if (each.status === 'rejected') throw each.reason
      return undefined
    }),
})

async function note(place: BoardAccess, names: readonly string[], text: string): Promise<void> {
  const id = await findNamed(place, names)
  if (id === undefined) return
  const { engine, board } = place
  const { task } = await engine.bus.call('board:get', { id, board }, cliCaller)
  // Said by an agent, to people and to the next session: where a model of the engine works on the task, it does not read it.
  await engine.bus.call('task:note', { taskId: task.taskId, text }, cliCaller)
}

/** On every branch where it has observed something that no run has taken up (conformance S2-059). */
async function consolidate({ engine }: BoardAccess, { session_id: sessionId }: HookInput): Promise<void> {
  if (sessionId === undefined) return
  await engine.bus.call('mem:consolidate', { level: 'session', sessionId }, cliCaller)
}

function endingText({ session_id, reason, transcript_path }: HookInput, agent: string | undefined, at: number): string {
  const who = agent === undefined ? '' : ` of ${agent}`
  const words = [
    `Session ${session_id ?? 'without an id'}${who} ended at ${isoTime(at)}`,
    ...(reason === undefined ? [] : [`reason: ${reason}`]),
    ...(transcript_path === undefined ? [] : [`transcript: ${transcript_path}`]),
  ]
  return cleanLine(words.join('; '))
}

export { sessionEnd as 'session-end', sessionStart as 'session-start' }

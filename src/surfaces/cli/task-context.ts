// A task of the board with all that one needs to go on with it: what is above, before and below it, what it asks, what was said.
// The same text is for whoever asks at a terminal and for an agent at the beginning of a session, so it has a limit.

import { lineOf } from '../../board/list-text.ts'
import { isoTime } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { clipped } from '../../core/storable-text.ts'
import type { BoardRef, BoardTask } from '../../entities/board.ts'
import { claimText } from '../../terminal/board-text.ts'
import { cliCaller } from '../../terminal/caller.ts'
import { cleanLine, cleanText } from '../../terminal/terminal-text.ts'
import type { BoardAccess } from './board-target.ts'

/** Of each there may be thousands; more than these would bury the rest. */
const maxNeighbours = 20
const latestMessages = 5
/** Characters of one thing. */
const longest = { description: 3_000, result: 600, message: 500 }
/** Characters of the whole. */
export const maxContextLength = 8_000

type TaskContext = Awaited<ReturnType<typeof readContext>>

/** `after`: what it comes after, done or not. `messages`: the latest ones, in order. @throws ErrandError NOT_FOUND */
export async function readContext({ engine, board }: BoardAccess, id: BoardRef) {
  const get = async (ref: BoardRef) => (await engine.bus.call('board:get', { id: ref, board }, cliCaller)).task
  const task = await get(id)
  const input = { parent: task.taskId, limit: maxNeighbours + 1, board }
  const [after, parent, parts, own, messages] = await Promise.all([
    Promise.all(task.dependencies.slice(0, maxNeighbours + 1).map(get)),
    task.parent === undefined ? undefined : get(task.parent).catch(nothingIfGone),
    engine.bus.call('board:list', input, cliCaller),
    engine.get(task.taskId),
    engine.messages(task.taskId),
  ])
  const questions = own?.questions ?? []
  return { task, after, parent, parts: parts.tasks, questions, messages: messages.slice(-latestMessages) }
}

/** It may have been deleted a moment ago. */
function nothingIfGone(error: unknown): undefined {
  if (ErrandError.isInstance(error) && error.code === 'NOT_FOUND') return undefined
  throw error
}

/** Clean text of at most so many characters. */
export function contextText(
  { task, after, parent, parts, questions, messages }: TaskContext,
  characters = maxContextLength,
): string {
  const lines = [
    `Task ${task.id} of the board: ${cleanLine(task.subject)}`,
    ...standing(task),
    ...(task.description === '' ? [] : ['', clipped(cleanText(task.description), longest.description)]),
    ...section('It comes after:', after, (each) => [`- ${cleanLine(lineOf(each))}`, ...outcome(each)]),
    ...section('It is a part of:', parent === undefined ? [] : [parent], (each) => [
      `- ${cleanLine(lineOf(each))}`,
      ...(each.description === '' ? [] : [`  ${clipped(cleanLine(each.description), longest.result)}`]),
    ]),
    ...section('Its parts:', parts, (each) => [`- ${cleanLine(lineOf(each))}`]),
    ...section('Open questions:', questions, ({ question }) => [`- ${clipped(cleanLine(question), longest.message)}`]),
    ...section('What was said last:', messages, ({ role, content, timestamp }) => [
      `- ${isoTime(timestamp)} ${role}: ${clipped(cleanLine(content), longest.message)}`,
    ]),
  ]
  return clipped(lines.join('\n'), characters)
}

function standing(task: BoardTask): string[] {
  const { status, canonicalStatus, taskId, priority, role, tags, workspace, progress, blocks } = task
  const told = [
    `Status: ${[status, claimText(task)].filter((each) => each !== '').join(', ')}`,
    task.blockedBy.length > 0 && `Blocked by: ${task.blockedBy.join(', ')}`,
    blocks.length > 0 &&
      `After it come: ${blocks.slice(0, maxNeighbours).join(', ')}${blocks.length > maxNeighbours ? ', …' : ''}`,
    priority !== 0 && `Priority: ${priority}`,
    role !== undefined && `For the role: ${role}`,
    tags.length > 0 && `Tags: ${tags.join(', ')}`,
    workspace !== undefined && `Workspace: ${workspace}`,
    progress !== undefined && `Progress: ${Math.round(progress.fraction * 100)} % ${progress.note ?? ''}`.trim(),
    ...outcome(task).map((line) => line.trim()),
    Object.keys(task.metadata).length > 0 && `Metadata: ${clipped(JSON.stringify(task.metadata), longest.result)}`,
    `Id: ${taskId} (${canonicalStatus})`,
  ]
  return told.filter((line) => line !== false).map(cleanLine)
}

/** What became of it. */
function outcome({ result, error }: BoardTask): string[] {
  if (error !== undefined) return [`  Error: ${clipped(cleanLine(error.message), longest.result)}`]
  if (result === undefined || result === null) return []
  const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? '')
  return [`  Result: ${clipped(cleanLine(text), longest.result)}`]
}

function section<T>(title: string, items: readonly T[], linesOf: (item: T) => string[]): string[] {
  if (items.length === 0) return []
  const more = items.length > maxNeighbours ? ['- … and more'] : []
  return ['', title, ...items.slice(0, maxNeighbours).flatMap(linesOf), ...more]
}

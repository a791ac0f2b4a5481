// A task of the board with everything needed to continue it: its parent, blockers and parts, its questions and latest messages. The
// same text is printed at a terminal and given to an agent when a session starts, so its length is limited.

import { lineOf } from '../../board/list-text.ts'
import { isoTime } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { clipped } from '../../core/storable-text.ts'
import type { BoardRef, BoardTask } from '../../entities/board.ts'
import { claimText } from '../terminal/board-text.ts'
import { cliCaller } from '../terminal/caller.ts'
import { cleanLine, cleanText } from '../terminal/terminal-text.ts'
import type { BoardAccess } from './board-target.ts'

/** Blockers, parts and questions that are listed: there may be thousands. */
const maxNeighbours = 20
const latestMessages = 5
/** In characters. */
const maxLengths = { description: 3_000, result: 600, message: 500 }
/** Of the whole text, in characters. */
export const maxContextLength = 8_000

type TaskContext = Awaited<ReturnType<typeof readContext>>

/** `after`: the tasks that it comes after, done or not. `messages`: the latest ones, in order. @throws ErrandError NOT_FOUND */
export async function readContext({ engine, board }: BoardAccess, id: BoardRef) {
  const get = async (ref: BoardRef) => (await engine.bus.call('board:get', { id: ref, board }, cliCaller)).task
  const task = await get(id)
  const input = { parent: task.taskId, limit: maxNeighbours + 1, board }
  const [after, parent, parts, own, messages] = await Promise.all([
    Promise.all(task.dependencies.slice(0, maxNeighbours + 1).map(get)),
    task.parent === undefined ? undefined : get(task.parent).catch(undefinedIfDeleted),
    engine.bus.call('board:list', input, cliCaller),
    engine.get(task.taskId),
    engine.messages(task.taskId),
  ])
  const questions = own?.questions ?? []
  return { task, after, parent, parts: parts.tasks, questions, messages: messages.slice(-latestMessages) }
}

/** The task may have been deleted since its child was read. */
function undefinedIfDeleted(error: unknown): undefined {
  if (ErrandError.isInstance(error) && error.code === 'NOT_FOUND') return undefined
  throw error
}

/** Clean text with at most `characters` characters. */
export function contextText(
  { task, after, parent, parts, questions, messages }: TaskContext,
  characters = maxContextLength,
): string {
  const lines = [
    `Task ${task.id} of the board: ${cleanLine(task.subject)}`,
    ...standing(task),
    ...(task.description === '' ? [] : ['', clipped(cleanText(task.description), maxLengths.description)]),
    ...section('It comes after:', after, (each) => [`- ${cleanLine(lineOf(each))}`, ...outcome(each)]),
    ...section('It is a part of:', parent === undefined ? [] : [parent], (each) => [
      `- ${cleanLine(lineOf(each))}`,
      ...(each.description === '' ? [] : [`  ${clipped(cleanLine(each.description), maxLengths.result)}`]),
    ]),
    ...section('Its parts:', parts, (each) => [`- ${cleanLine(lineOf(each))}`]),
    ...section('Open questions:', questions, ({ question }) => [
      `- ${clipped(cleanLine(question), maxLengths.message)}`,
    ]),
    ...section('Latest messages:', messages, ({ role, content, timestamp }) => [
      `- ${isoTime(timestamp)} ${role}: ${clipped(cleanLine(content), maxLengths.message)}`,
    ]),
  ]
  return clipped(lines.join('\n'), characters)
}

function standing(task: BoardTask): string[] {
  const { status, canonicalStatus, taskId, priority, role, tags, workspace, progress, blocks } = task
  const lines = [
    `Status: ${[status, claimText(task)].filter((each) => each !== '').join(', ')}`,
    task.blockedBy.length > 0 && `Blocked by: ${task.blockedBy.join(', ')}`,
    blocks.length > 0 &&
      `Blocks: ${blocks.slice(0, maxNeighbours).join(', ')}${blocks.length > maxNeighbours ? ', …' : ''}`,
    priority !== 0 && `Priority: ${priority}`,
    role !== undefined && `For the role: ${role}`,
    tags.length > 0 && `Tags: ${tags.join(', ')}`,
    workspace !== undefined && `Workspace: ${workspace}`,
    progress !== undefined && `Progress: ${Math.round(progress.fraction * 100)} % ${progress.note ?? ''}`.trim(),
    ...outcome(task).map((line) => line.trim()),
    Object.keys(task.metadata).length > 0 && `Metadata: ${clipped(JSON.stringify(task.metadata), maxLengths.result)}`,
    `Id: ${taskId} (${canonicalStatus})`,
  ]
  return lines.filter((line) => line !== false).map(cleanLine)
}

/** The result or the error, as an indented line. */
function outcome({ result, error }: BoardTask): string[] {
  if (error !== undefined) return [`  Error: ${clipped(cleanLine(error.message), maxLengths.result)}`]
  if (result === undefined || result === null) return []
  const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? '')
  return [`  Result: ${clipped(cleanLine(text), maxLengths.result)}`]
}

function section<T>(title: string, items: readonly T[], linesOf: (item: T) => string[]): string[] {
  if (items.length === 0) return []
  const more = items.length > maxNeighbours ? ['- … and more'] : []
  return ['', title, ...items.slice(0, maxNeighbours).flatMap(linesOf), ...more]
}

// What only the board knows of a task: the words shown while it is done, the workspace that is bound to it, keys of a file that
// nothing here has a word for.

import { ErrandError } from '../core/errors.ts'
import { type BoardFields, boardStatusOf, stretchOf, workspaceOf } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { eventOf, type StepContext } from '../steps/step-context.ts'
import type { BoardTarget } from './board-host.ts'
import { type Found, notAllowed } from './task-ref.ts'

/** Undefined leaves a field as it is, null takes it away. */
export interface FieldChanges {
  activeForm?: string | null | undefined
  workspace?: string | null | undefined
  extra?: Record<string, unknown> | undefined
}

/** @throws ErrandError INVALID_TRANSITION for a workspace of a task that nobody works on, NOT_CLAIMABLE for one that is taken. */
export function* keepFields(
  tx: Tx,
  place: BoardTarget,
  found: Found,
  { activeForm, workspace, extra }: FieldChanges,
  ctx: StepContext,
): Op<void> {
  const { task, entry } = found
  if (entry === undefined) {
    if (activeForm == null && workspace == null && extra === undefined) return
    throw new ErrandError(
      'NOT_FOUND',
      `Task ${task.id} is not on the board "${place.board}", which alone could keep that of it: name a board that holds it`,
      { taskId: task.id, board: place.board },
    )
  }
  const next: BoardFields = { ...entry.fields }
  if (activeForm !== undefined) next.activeForm = activeForm ?? undefined
  if (extra !== undefined) next.extra = extra
  if (workspace === null || workspaceOf(task, next) === undefined) unbind(next)
  if (workspace != null && workspace !== next.workspace) {
    yield* requireFree(tx, place, found, workspace)
    Object.assign(next, { workspace, boundIn: stretchOf(task) })
  }
  if (JSON.stringify(next) === JSON.stringify(entry.fields)) return
  yield* tx.board.saveFields(place.board, entry.number, next)
  yield* tx.event.append(eventOf(ctx, 'task.updated', task, { changed: ['board'] }))
}

/** Binds a workspace to a task that has just been claimed. */
export function* bindWorkspace(
  tx: Tx,
  place: BoardTarget,
  task: TaskRecord,
  workspace: string,
  ctx: StepContext,
): Op<void> {
  const entry = yield* tx.board.entryOf(place.board, task.id)
  yield* keepFields(tx, place, { task, entry }, { workspace }, ctx)
}

function unbind(fields: BoardFields): void {
  delete fields.workspace
  delete fields.boundIn
}

/** A workspace is bound while a task is in progress, and to one at a time. Bindings that have ended are cleared away. */
function* requireFree(tx: Tx, { board }: BoardTarget, found: Found, workspace: string): Op<void> {
  const status = boardStatusOf(found.task)
  if (status !== 'in_progress') {
    const advice = 'a workspace is bound to a task that is in progress. Set status in_progress as well'
    throw notAllowed(found, 'bind', `is ${status}: ${advice}`)
  }
  for (;;) {
    const holder = yield* tx.board.boundTo(board, workspace)
    if (holder === undefined) return
    const held = holder.taskId === found.task.id ? undefined : yield* tx.task.get(holder.taskId)
    if (held !== undefined && workspaceOf(held, holder.fields) !== undefined) throw taken(workspace, holder.number)
    const fields = { ...holder.fields }
    unbind(fields)
    yield* tx.board.saveFields(board, holder.number, fields)
  }
}

function taken(workspace: string, number: number): ErrandError {
  return new ErrandError(
    'NOT_CLAIMABLE',
    `The workspace ${workspace} is bound to task ${number}, which is in progress: take another, or complete that task first`,
    { reason: 'workspace', workspace, number },
  )
}

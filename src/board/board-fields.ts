// Fields of a task that only the board stores: its active form, the workspace bound to it, and unknown keys of its file.

import { ErrandError } from '../core/errors.ts'
import { type BoardFields, boardStatusOf, stretchOf, workspaceOf } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { eventOf, refusePurged, type StepContext } from '../operations/steps/step-context.ts'
import type { BoardTarget } from './board-host.ts'
import { type Found, notAllowed } from './task-ref.ts'

/** Undefined leaves a field unchanged; null removes it. */
export interface FieldChanges {
  activeForm?: string | null | undefined
  workspace?: string | null | undefined
  extra?: Record<string, unknown> | undefined
}

/**
 * Saves the board's own fields of a task.
 * @throws ErrandError INVALID_TRANSITION for a workspace of a task that is not in progress, NOT_CLAIMABLE for one bound to another task,
 *   NOT_FOUND for a task that is not on this board.
 */
export function* saveBoardFields(
  tx: Tx,
  target: BoardTarget,
  found: Found,
  { activeForm, workspace, extra }: FieldChanges,
  ctx: StepContext,
): Op<void> {
  const { task, entry } = found
  if (entry === undefined) {
    if (activeForm == null && workspace == null && extra === undefined) return
    throw new ErrandError(
      'NOT_FOUND',
      `Task ${task.id} is not on the board "${target.board}", so its active form, workspace and extra keys cannot be saved there. Name a board that holds it.`,
      { taskId: task.id, board: target.board },
    )
  }
  const next: BoardFields = { ...entry.fields }
  if (activeForm !== undefined) next.activeForm = activeForm ?? undefined
  if (extra !== undefined) next.extra = extra
  if (workspace === null || workspaceOf(task, next) === undefined) unbind(next)
  if (workspace != null && workspace !== next.workspace) {
    yield* requireFreeWorkspace(tx, target, found, workspace)
    Object.assign(next, { workspace, boundIn: stretchOf(task) })
  }
  if (JSON.stringify(next) === JSON.stringify(entry.fields)) return
  yield* refusePurged(tx, task)
  yield* tx.board.saveFields(target.board, task.id, next)
  yield* tx.event.append(eventOf(ctx, 'task.updated', task, { changed: ['board'] }))
}

/** Binds a workspace to a task that has just been claimed. */
export function* bindWorkspace(
  tx: Tx,
  target: BoardTarget,
  task: TaskRecord,
  workspace: string,
  ctx: StepContext,
): Op<void> {
  const entry = yield* tx.board.entryOf(target.board, task.id)
  yield* saveBoardFields(tx, target, { task, entry }, { workspace }, ctx)
}

function unbind(fields: BoardFields): void {
  delete fields.workspace
  delete fields.boundIn
}

/** A workspace is bound to at most one task, while that is in progress. Bindings that have ended are removed. */
function* requireFreeWorkspace(tx: Tx, { board }: BoardTarget, found: Found, workspace: string): Op<void> {
  const status = boardStatusOf(found.task)
  if (status !== 'in_progress') {
    const advice = 'a workspace can be bound only to a task in progress. Set status in_progress as well'
    throw notAllowed(found, 'bind', `is ${status}: ${advice}`)
  }
  for (;;) {
    const holder = yield* tx.board.boundTo(board, workspace)
    if (holder === undefined) return
    const held = holder.taskId === found.task.id ? undefined : yield* tx.task.get(holder.taskId)
    if (held !== undefined && workspaceOf(held, holder.fields) !== undefined)
      throw workspaceTaken(workspace, holder.number)
    const fields = { ...holder.fields }
    unbind(fields)
    yield* tx.board.saveFields(board, holder.taskId, fields)
  }
}

function workspaceTaken(workspace: string, number: number): ErrandError {
  return new ErrandError(
    'NOT_CLAIMABLE',
    `The workspace ${workspace} is bound to task ${number}, which is in progress. Use another one, or complete that task first.`,
    { reason: 'workspace', workspace, number },
  )
}

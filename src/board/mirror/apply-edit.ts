// Applies an edit of a file to the board in one step, judged like any command, all or nothing.
import type { BoardFields } from '../../entities/board.ts'
import type { Op, Step, Tx } from '../../ledger/ledger.ts'
import type { StepContext } from '../../operations/steps/step-context.ts'
import type { BoardTarget } from '../board-host.ts'
import { viewTask } from '../board-view.ts'
import { withNumbers } from '../ids-as-numbers.ts'
import { type Found, findOnBoard } from '../task-ref.ts'
import { applyPatch } from '../update-task.ts'
import { type FileEdit, patchOf } from './file-edit.ts'
import { mirroredValue } from './file-image.ts'

/** @throws ErrandError, with nothing changed. */
export function applyEdit(target: BoardTarget, edit: FileEdit, ctx: StepContext): Step<void> {
  return {
    name: 'apply file edit',
    *decide(tx): Op<void> {
      yield* withNumbers(tx, target.board, change(tx, target, edit, ctx))
    },
  }
}

function* change(tx: Tx, target: BoardTarget, edit: FileEdit, ctx: StepContext): Op<void> {
  const found = yield* findOnBoard(tx, target, edit.number)
  const fields = found.entry?.fields ?? {}
  if (edit.changed.length > 0) {
    const now = mirroredValue(yield* viewTask(tx, target.board, found.task, found.entry), fields.file, 0)
    const { patch, writer } = patchOf(edit, now, fields.extra ?? {})
    yield* applyPatch(tx, { target, ref: edit.number, patch, writer, ctx })
  }
  yield* keepLineBreak(tx, target, edit, found)
}

function* keepLineBreak(tx: Tx, target: BoardTarget, { number, newline }: FileEdit, { task, entry }: Found): Op<void> {
  if (entry === undefined || (entry.fields.file?.newline ?? false) === newline) return
  const fields = (yield* tx.board.entry(target.board, number))?.fields ?? {}
  const { newline: _before, ...rest } = fields.file ?? { differs: {} }
  const next: BoardFields = { ...fields, file: { ...rest, ...(newline ? { newline } : {}) } }
  yield* tx.board.saveFields(target.board, task.id, next)
}

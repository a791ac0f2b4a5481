// Creates tasks from files, each under the number in its name, in one transaction. Values that the board cannot store (see
// import-plan.ts) are reported, and stored with the task so that an export restores the file.
import { ErrandError } from '../../core/errors.ts'
import { type BoardRef, type BoardStatus, boardStatusOf } from '../../entities/board.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import type { TaskDraft } from '../../operations/drafts/draft.ts'
import { create } from '../../operations/steps/create.ts'
import { block } from '../../operations/steps/dependencies.ts'
import type { StepContext } from '../../operations/steps/step-context.ts'
import { update } from '../../operations/steps/update.ts'
import { saveBoardFields } from '../board-fields.ts'
import type { BoardHost, BoardTarget } from '../board-host.ts'
import { type Numbered, viewTask } from '../board-view.ts'
import { textWithNumbers } from '../ids-as-numbers.ts'
import { moveToStatus } from '../move-to-status.ts'
import { changeBoard, giveNumber, loadBoard, openBoard } from '../numbering.ts'
import { findOnBoard } from '../task-ref.ts'
import { onBoard } from './file-texts.ts'
import { type FurtherKeys, parseSeven, readFurther, type SevenKeys } from './held-keys.ts'
import { dependentsFirst, planImport, type UnheldKey } from './import-plan.ts'
import { type FileValue, foreignKeysOf, importedFile, maxNewNumber } from './task-file.ts'

/** A readable file with an unused number. */
export interface NewFile {
  number: number
  text: string
  value: FileValue
  newline: boolean
}

/** A new file with the task to create. */
interface NewTask extends NewFile {
  seven: SevenKeys
  further: FurtherKeys
  draft: TaskDraft
}

export interface Imported {
  numbers: number[]
  refused: Array<{ number: number; why: string }>
  unheld: UnheldKey[]
}

/** Imports files; their texts are stored for `dir`, so that a mirror of that folder recognizes them. */
export async function importFiles(
  host: BoardHost,
  target: BoardTarget,
  dir: string,
  files: readonly NewFile[],
): Promise<Imported> {
  const refused: Imported['refused'] = []
  const unheld: UnheldKey[] = []
  const newTasks: NewTask[] = []
  for (const file of [...files].sort((a, b) => a.number - b.number)) {
    try {
      newTasks.push(newTaskOf(host, file, unheld))
    } catch (error) {
      if (!ErrandError.isInstance(error)) throw error
      refused.push({ number: file.number, why: error.message })
    }
  }
  if (newTasks.length === 0) return { numbers: [], refused, unheld }
  const done = await changeBoard(host, target, 'import files', function* (tx, ctx): Op<Imported> {
    const work = new Import(tx, host, target, ctx)
    yield* work.run(newTasks)
    const { numbers } = work.outcome
    for (const { number, text } of newTasks)
      if (numbers.includes(number)) yield* tx.mirror.keep({ dir, number, version: 0, text })
    return work.outcome
  })
  return {
    numbers: done.numbers,
    refused: [...refused, ...done.refused],
    unheld: [...unheld, ...done.unheld]
      .filter(({ number }) => done.numbers.includes(number))
      .sort((a, b) => a.number - b.number),
  }
}

function newTaskOf(host: BoardHost, file: NewFile, unheld: UnheldKey[]): NewTask {
  const { number, value } = file
  if (number > maxNewNumber) {
    throw new ErrandError(
      'INVALID_INPUT',
      `the number of a new task is at most ${maxNewNumber}, because the numbers below it are never assigned afterwards`,
      {},
    )
  }
  const seven = parseSeven(value)
  const { held: further, unheld: keys } = readFurther(value)
  for (const key of keys) unheld.push({ number, key, why: 'the board expects another type of value for this key' })
  const { priority, metadata, role, tags } = further
  const spec = { name: seven.subject, description: seven.description, priority, metadata, role, tags }
  // Agents write these files, so a task made of one may not run commands.
  const draft = { ...(host.drafter.draft(spec, 'the file')[0] as TaskDraft), mayRunCommands: false }
  return { ...file, seven, further, draft }
}

/** Why a number cannot be given to a new task. */
export function takenWhy(board: string, number: number, next: number): string {
  return `${number} is not a new number: the board "${board}" never assigns a number twice, and its next one is ${next}`
}

/** The writes of one import, with the ids of its tasks by number. */
class Import {
  readonly outcome: Imported = { numbers: [], refused: [], unheld: [] }
  readonly #tx: Tx
  readonly #host: BoardHost
  readonly #target: BoardTarget
  readonly #ctx: StepContext
  /** Ids of the tasks that edges and parents refer to, including the new ones. */
  readonly #ids = new Map<number, string>()

  constructor(tx: Tx, host: BoardHost, target: BoardTarget, ctx: StepContext) {
    this.#tx = tx
    this.#host = host
    this.#target = target
    this.#ctx = ctx
  }

  *run(newTasks: readonly NewTask[]): Op<void> {
    const { board } = this.#target
    // The main board may not be stored yet.
    const { parentId: top, nextNumber } =
      (yield* this.#tx.board.get(board)) ?? (yield* openBoard(this.#tx, board, null, this.#ctx.at))
    const files = newTasks.filter(({ number }) => number >= nextNumber)
    for (const { number } of newTasks)
      if (number < nextNumber) this.outcome.refused.push({ number, why: takenWhy(board, number, nextNumber) })
    const byNumber = new Map(files.map((file) => [file.number, file]))
    const named = files.map(({ number, seven, further }) => ({ number, ...seven, parent: further.parent }))
    const known = yield* this.#known(
      named.flatMap(({ blockedBy, blocks, parent }) => [...blockedBy, ...blocks, parent]),
    )
    const plan = planImport(named, known)
    for (const unheld of plan.unheld) this.outcome.unheld.push(unheld)
    for (const number of plan.creation)
      yield* this.#create(byNumber.get(number) as NewTask, plan.parents.get(number), top)
    const created = files.filter(({ number }) => this.#ids.has(number))
    for (const file of created) yield* this.#number(file)
    for (const number of dependentsFirst(plan)) yield* this.#connect(number, plan.edges.get(number) ?? [])
    for (const [number, status] of plan.states)
      if (this.#ids.has(number)) yield* this.#walk(byNumber.get(number) as NewTask, status)
    for (const file of created) yield* this.#remember(file)
  }

  /** Finds the existing tasks that the files refer to. */
  *#known(refs: ReadonlyArray<BoardRef | undefined>): Op<Map<number, BoardStatus>> {
    const known = new Map<number, BoardStatus>()
    for (const ref of new Set(refs)) {
      if (typeof ref !== 'number') continue
      const found = yield* onBoard(this.#tx, this.#target.board, ref)
      if (found === undefined) continue
      known.set(ref, boardStatusOf(found.task))
      this.#ids.set(ref, found.task.id)
    }
    return known
  }

  *#create(file: NewTask, parent: number | undefined, top: string | null): Op<void> {
    const { number, draft } = file
    const parentId = parent === undefined ? top : (this.#ids.get(parent) ?? top)
    const made = (parentId: string | null) =>
      create({ ...this.#ctx, trees: [[{ ...draft, parentId }]], treeLimits: this.#host.drafter.treeLimits }).decide(
        this.#tx,
      )
    const why = yield* this.#tryPart(made(parentId))
    if (why === undefined) this.#ids.set(number, draft.id)
    else if (parent !== undefined && (yield* this.#tryPart(made(top))) === undefined) {
      this.#ids.set(number, draft.id)
      this.outcome.unheld.push({ number, key: 'parent', why })
    } else this.outcome.refused.push({ number, why })
  }

  *#number({ number, draft, value, further }: NewTask): Op<void> {
    const { board } = this.#target
    const foreign = foreignKeysOf(value)
    const extra = Object.keys(foreign).length === 0 ? undefined : foreign
    const fields = { activeForm: further.activeForm, extra }
    yield* giveNumber(this.#tx, yield* loadBoard(this.#tx, board, this.#ctx.at), draft.id, fields, number)
    this.outcome.numbers.push(number)
  }

  /** Adds the edges one by one, so that a refused one is known. */
  *#connect(number: number, blockers: readonly number[]): Op<void> {
    const id = this.#ids.get(number)
    for (const blocker of blockers) {
      const blockerId = this.#ids.get(blocker)
      if (id === undefined || blockerId === undefined) continue
      const why = yield* this.#tryPart(block(id, [blockerId], this.#ctx).decide(this.#tx))
      if (why === undefined) continue
      const isNew = this.outcome.numbers.includes(number)
      this.outcome.unheld.push(isNew ? { number, key: 'blockedBy', why } : { number: blocker, key: 'blocks', why })
    }
  }

  /** Moves a new task to the status of its file, along legal edges, in the name of its owner. */
  *#walk({ number, seven, draft, further }: NewTask, status: BoardStatus): Op<void> {
    const why = yield* this.#tryPart(this.#moveToStatus(draft.id, number, status, seven.owner || undefined))
    if (why !== undefined) this.outcome.unheld.push({ number, key: 'status', why })
    // A workspace is bound only while the task is in progress; otherwise only the file keeps it.
    const found = yield* findOnBoard(this.#tx, this.#target, number)
    if (further.workspace === undefined || boardStatusOf(found.task) !== 'in_progress') return
    const { workspace } = further
    const bound = yield* this.#tryPart(saveBoardFields(this.#tx, this.#target, found, { workspace }, this.#ctx))
    if (bound !== undefined) this.outcome.unheld.push({ number, key: 'workspace', why: bound })
  }

  *#moveToStatus(id: string, number: number, status: BoardStatus, owner: string | undefined): Op<void> {
    const [tx, ctx] = [this.#tx, this.#ctx]
    const isUnclaimed = status === 'pending' || status === 'deleted'
    if (isUnclaimed && owner !== undefined) yield* update(id, { owner }, undefined, ctx).decide(tx)
    const change = { target: this.#target, ref: number, patch: { owner }, writer: { source: 'files' }, ctx }
    yield* moveToStatus(tx, status, change)
  }

  *#remember({ number, value, newline }: NewTask): Op<void> {
    const { board } = this.#target
    const { task, entry } = (yield* onBoard(this.#tx, board, number)) as Numbered
    const file = importedFile(value, newline, yield* viewTask(this.#tx, board, task, entry))
    if (file !== undefined) yield* this.#tx.board.saveFields(board, task.id, { ...entry.fields, file })
  }

  /** Runs a part of the step; returns why it was refused. Steps check before they write, so a refused part leaves nothing behind. */
  *#tryPart(part: Op<unknown>): Op<string | undefined> {
    try {
      yield* part
      return undefined
    } catch (error) {
      if (!ErrandError.isInstance(error)) throw error
      return yield* textWithNumbers(this.#tx as Reads, this.#target.board, error.message)
    }
  }
}

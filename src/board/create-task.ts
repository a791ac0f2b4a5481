// A new task on the board: the task, its number, its place in the graph, all in one transaction.

import { creatorOf, mayAffect, mayKnowOf } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import type { TaskDraft } from '../drafts/draft.ts'
import type { BoardRef, BoardTask } from '../entities/board.ts'
import type { Op, Step, Tx } from '../ledger/ledger.ts'
import { requireWithin } from '../steps/conditions.ts'
import { create } from '../steps/create.ts'
import { block } from '../steps/edges.ts'
import { requestedBy, type StepContext } from '../steps/step-context.ts'
import { update } from '../steps/update.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'
import { viewTask } from './board-view.ts'
import { withNumbers } from './ids-as-numbers.ts'
import { giveNumber, loadBoard, numberNewcomers, openBoard } from './numbering.ts'
import { findAllOnBoard, findOnBoard } from './task-ref.ts'

export interface NewBoardTask {
  subject: string
  description?: string | undefined
  activeForm?: string | undefined
  /** Who shall claim it. */
  owner?: string | undefined
  priority?: number | undefined
  metadata?: Record<string, unknown> | undefined
  role?: string | undefined
  tags?: string[] | undefined
  parent?: BoardRef | undefined
  blockedBy?: readonly BoardRef[] | undefined
  blocks?: readonly BoardRef[] | undefined
  /** Runs it as soon as nothing is in its way; without one it waits for somebody who claims it. */
  executor?: string | undefined
  input?: unknown
  /** Where a repetition comes to the task that was made first. */
  key?: string | undefined
  /** A number of its own; default: the next one. */
  number?: number | undefined
  extra?: Record<string, unknown> | undefined
}

/** Resolves to the task as it stands on the board. @throws ErrandError; then nothing of it is there. */
export async function createOnBoard(host: BoardHost, place: BoardTarget, given: NewBoardTask): Promise<BoardTask> {
  refuseExecutor(place, given)
  // One that comes with a number of its own is not to find it taken by a task that nobody has looked at yet.
  if (given.number === undefined) await numberNewcomers(host, place.board, place.caller)
  const ctx = requestedBy(await host.stepContext(), place.caller)
  const draft = draftOf(host, place, given)
  return host.step(creation(host, place, draft, given, ctx))
}

/** A task that is worked on from outside, or by an executor; never one that a model of the engine takes up by itself. */
function draftOf(host: BoardHost, { caller }: BoardTarget, given: NewBoardTask): TaskDraft {
  const { subject: name, description, priority, metadata, role, tags, executor, input, key } = given
  const spec = { name, description, priority, metadata, role, tags, executor, input, key }
  const [draft] = host.drafter.draft(spec, 'board:create')
  return { ...(draft as TaskDraft), ...creatorOf(caller) }
}

/** To name any executor would be to run any command: that is for programs. */
function refuseExecutor({ caller }: BoardTarget, { executor }: NewBoardTask): void {
  if (executor === undefined || caller.taskId === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `A model may not give work to the executor ${executor}. Leave \`executor\` out, and claim the task; or create one with a goal.`,
    { executor },
  )
}

function creation(
  host: BoardHost,
  place: BoardTarget,
  draft: TaskDraft,
  given: NewBoardTask,
  ctx: StepContext,
): Step<BoardTask> {
  return {
    name: 'create on board',
    *decide(tx): Op<BoardTask> {
      const { activeForm, extra } = given
      // Refuses a board that nobody has made, or that is not the caller's to add to; the main board is made here.
      const { parentId: top } = yield* loadBoard(tx, place.board, ctx.at, place.caller)
      const board = yield* openBoard(tx, place.board, top, ctx.at)
      const parentId = yield* parentOf(tx, place, top, given.parent)
      const blockedBy = (yield* findAllOnBoard(tx, place, given.blockedBy ?? [], mayKnowOf)).map((task) => task.id)
      const trees = [[{ ...draft, parentId, blockedBy }]]
      const making = create({ ...ctx, trees, treeLimits: host.drafter.treeLimits, by: place.caller }).decide(tx)
      const [made] = yield* withNumbers(tx, place.board, making)
      if (made === undefined) throw new Error('a creation came to no task')
      // A key may lead to a task that was made before.
      const known = yield* tx.board.entryOf(place.board, made.id)
      if (known !== undefined) return yield* viewTask(tx, place.board, made, known)
      // The next one after all that have been looked at is looked at by that.
      const seenSeq = made.seq === board.seenSeq + 1 ? made.seq : board.seenSeq
      yield* giveNumber(tx, { ...board, seenSeq }, made.id, { activeForm, extra }, given.number)
      if (given.owner !== undefined) yield* update(made.id, { owner: given.owner }, undefined, ctx).decide(tx)
      for (const dependent of yield* findAllOnBoard(tx, place, given.blocks ?? [], mayAffect)) {
        yield* withNumbers(tx, place.board, block(dependent.id, [made.id], ctx).decide(tx))
      }
      const { task, entry } = yield* findOnBoard(tx, place, made.id)
      return yield* viewTask(tx, place.board, task, entry)
    },
  }
}

/** Below the task that is named, else below the caller's own, else below the board's. */
function* parentOf(tx: Tx, place: BoardTarget, top: string | null, named: BoardRef | undefined): Op<string | null> {
  const parentId =
    named === undefined ? (place.caller.taskId ?? top) : (yield* findOnBoard(tx, place, named, mayAffect)).task.id
  if (top !== null && parentId !== null) yield* requireWithin(tx, top, [parentId])
  return parentId
}

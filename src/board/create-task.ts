// Creates a task on the board with its number and its dependencies, in one transaction.

import { creatorOf, mayAffect, mayKnowOf } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import type { BoardRef, BoardTask } from '../entities/board.ts'
import type { Op, Step, Tx } from '../ledger/ledger.ts'
import type { TaskDraft } from '../operations/drafts/draft.ts'
import { requireWithin } from '../operations/steps/conditions.ts'
import { create } from '../operations/steps/create.ts'
import { block } from '../operations/steps/dependencies.ts'
import { requestedBy, type StepContext } from '../operations/steps/step-context.ts'
import { update } from '../operations/steps/update.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'
import { viewTask } from './board-view.ts'
import { withNumbers } from './ids-as-numbers.ts'
import { giveNumber, loadBoard, numberNewTasks } from './numbering.ts'
import { findAllOnBoard, findOnBoard } from './task-ref.ts'

export interface NewBoardTask {
  subject: string
  description?: string | undefined
  activeForm?: string | undefined
  /** Who is to claim it. */
  owner?: string | undefined
  priority?: number | undefined
  metadata?: Record<string, unknown> | undefined
  role?: string | undefined
  tags?: string[] | undefined
  parent?: BoardRef | undefined
  blockedBy?: readonly BoardRef[] | undefined
  blocks?: readonly BoardRef[] | undefined
  /** The executor that runs the task as soon as it is ready. Without one, the task waits to be claimed. */
  executor?: string | undefined
  input?: unknown
  /** Idempotency key: a second creation with the same key returns the first task. */
  key?: string | undefined
  /** The number of the task. Default: the next one. */
  number?: number | undefined
  extra?: Record<string, unknown> | undefined
}

/** Creates a task and resolves to its view. @throws ErrandError, with nothing created. */
export async function createOnBoard(host: BoardHost, target: BoardTarget, given: NewBoardTask): Promise<BoardTask> {
  refuseExecutor(target, given)
  // With a given number, tasks without one are not numbered first: they must not take that number.
  if (given.number === undefined) await numberNewTasks(host, target.board, target.caller)
  const ctx = requestedBy(await host.stepContext(), target.caller)
  const draft = draftOf(host, target, given)
  return host.step(creation(host, target, draft, given, ctx))
}

/** The draft of a task that is worked on from outside or by the named executor; the engine's own agents never run it by default. */
function draftOf(host: BoardHost, { caller }: BoardTarget, given: NewBoardTask): TaskDraft {
  const { subject: name, description, priority, metadata, role, tags, executor, input, key } = given
  const spec = { name, description, priority, metadata, role, tags, executor, input, key }
  const [draft] = host.drafter.draft(spec, 'board:create')
  return { ...(draft as TaskDraft), ...creatorOf(caller) }
}

/** Naming an executor can run any command, so only programs may; a caller with a task is a model. */
function refuseExecutor({ caller }: BoardTarget, { executor }: NewBoardTask): void {
  if (executor === undefined || caller.taskId === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `A model may not use the executor ${executor}. Leave \`executor\` out, and claim the task; or create one with a goal.`,
    { executor },
  )
}

function creation(
  host: BoardHost,
  target: BoardTarget,
  draft: TaskDraft,
  given: NewBoardTask,
  ctx: StepContext,
): Step<BoardTask> {
  return {
    name: 'create on board',
    *decide(tx): Op<BoardTask> {
      const { activeForm, extra } = given
      // Throws for an unknown board and for one to which the caller may not add; the main board is created with its first number.
      const board = yield* loadBoard(tx, target.board, ctx.at, target.caller, 'toAdd')
      const top = board.parentId
      const parentId = yield* parentOf(tx, target, top, given.parent)
      const blockedBy = (yield* findAllOnBoard(tx, target, given.blockedBy ?? [], mayKnowOf)).map((task) => task.id)
      const trees = [[{ ...draft, parentId, blockedBy }]]
      const making = create({ ...ctx, trees, treeLimits: host.drafter.treeLimits, by: target.caller }).decide(tx)
      const [made] = yield* withNumbers(tx, target.board, making)
      if (made === undefined) throw new Error('the creation returned no task')
      // A key may have returned an existing task.
      const known = yield* tx.board.entryOf(target.board, made.id)
      if (known !== undefined) return yield* viewTask(tx, target.board, made, known)
      // If the new task directly follows the last task that was examined for numbering, it counts as examined.
      const seenSeq = made.seq === board.seenSeq + 1 ? made.seq : board.seenSeq
      yield* giveNumber(tx, { ...board, seenSeq }, made.id, { activeForm, extra }, given.number)
      if (given.owner !== undefined) yield* update(made.id, { owner: given.owner }, undefined, ctx).decide(tx)
      for (const dependent of yield* findAllOnBoard(tx, target, given.blocks ?? [], mayAffect)) {
        yield* withNumbers(tx, target.board, block(dependent.id, [made.id], ctx).decide(tx))
      }
      const { task, entry } = yield* findOnBoard(tx, target, made.id)
      return yield* viewTask(tx, target.board, task, entry)
    },
  }
}

/** The named parent, else the caller's own task, else that of the board. */
function* parentOf(tx: Tx, target: BoardTarget, top: string | null, named: BoardRef | undefined): Op<string | null> {
  const parentId =
    named === undefined ? (target.caller.taskId ?? top) : (yield* findOnBoard(tx, target, named, mayAffect)).task.id
  if (top !== null && parentId !== null) yield* requireWithin(tx, top, [parentId])
  return parentId
}

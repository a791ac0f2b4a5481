// The part of `why` that concerns other tasks: the children and the effect of the policies on them, and, for a ready task, the concurrency
// limit that keeps it from starting: that of its parent, or one shared by all engines. Both are counted as admission counts them, so that
// `why` names the actual reason.

import { isSettled, type TaskRecord } from '../../entities/task.ts'
import { idsInText } from '../../entities/task-id.ts'
import type { Why } from '../../entities/views.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { isBroken } from '../../machines/family.ts'
import { recordStateWord } from '../../machines/readiness.ts'
import { asShown, type LostRuns } from '../views/lost-runs.ts'
import { loadSharedLimits } from './limits.ts'

/** The maximum of tasks that one sentence lists. */
const maxListed = 5

/** The name and the id, which `numbered` or the board replaces by a number. */
export function nameOf(task: Pick<TaskRecord, 'id' | 'name'>): string {
  return `${task.name} (${task.id})`
}

/** The text with `#12 lines` for each task that `nameOf` has named. */
export function* numbered(tx: Reads, text: string): Op<string> {
  let result = text
  for (const id of idsInText(text)) {
    const task = yield* tx.task.get(id)
    if (task !== undefined) result = result.replaceAll(nameOf(task), () => `#${task.seq} ${task.name}`)
  }
  return result
}

export function listOf(items: readonly string[], between = ', '): string {
  const listed = items.slice(0, maxListed).join(between)
  return items.length > maxListed ? `${listed} and ${items.length - maxListed} more` : listed
}

/** Sentences that follow the reason of a live task, beginning with a space; empty when there are none. */
export function* familyText(tx: Reads, parent: TaskRecord, lost: LostRuns): Op<string> {
  if (parent.childCount === 0) return ''
  const children = (yield* tx.task.children(parent.id)).filter((child) => child.deletedAt === null)
  const open = children.filter((child) => !isSettled(child.status))
  const broken = children.filter((child) => isBroken(child.status))
  return [
    ...openSentences(
      parent,
      open.map((child) => asShown(child, lost)),
      broken,
    ),
    ...brokenSentences(parent, broken),
    ...policyText(parent, open),
    ...(yield* laneText(tx, parent, open)),
  ]
    .map((sentence) => ` ${sentence}`)
    .join('')
}

/** A group lists all open tasks in it, at any depth, in sentences of its own. */
function openSentences(parent: TaskRecord, open: TaskRecord[], broken: TaskRecord[]): string[] {
  if (parent.group || open.length === 0) return []
  const named = listOf(
    open.map((child) => `${nameOf(child)}, ${recordStateWord(child)}`),
    '; ',
  )
  const { autoComplete } = parent.policy
  const ends = autoComplete && (broken.length === 0 || autoComplete === 'all-settled')
  return [`${ends ? 'It completes with the last of its open children' : 'Open below it'}: ${named}.`]
}

function brokenSentences(parent: TaskRecord, broken: TaskRecord[]): string[] {
  if (broken.length === 0) return []
  const ended = listOf(
    broken.map((child) => `${nameOf(child)} ${child.status === 'failed' ? 'failed' : 'was canceled'}`),
  )
  if (parent.group) return [`${ended}, so the group fails when all its tasks have settled.`]
  if (parent.policy.autoComplete !== true) return [`${ended}.`]
  const help = broken.some((child) => child.status === 'failed')
    ? '`retry` gives a failed child a new attempt, `delete` removes it.'
    : '`delete` removes a canceled child.'
  return [`${ended}, so this task does not complete by itself. ${help}`]
}

function policyText(parent: TaskRecord, open: TaskRecord[]): string[] {
  if (open.length === 0) return []
  switch (parent.policy.onChildFailure) {
    case 'fail':
      return ['It fails with the first child that fails for good.']
    case 'cancel-siblings':
      return ['The first child that fails for good cancels the others.']
    case 'ignore':
    case undefined:
      return []
  }
}

function* laneText(tx: Reads, parent: TaskRecord, open: TaskRecord[]): Op<string[]> {
  const { concurrency } = parent.policy
  const queued = open.filter((child) => child.ready)
  if (concurrency === undefined || queued.length === 0) return []
  if ((yield* tx.task.openInLane(parent.id)) < concurrency) return []
  return [
    `Only ${concurrency} of its children may run at once: ${queued.length} more ${queued.length === 1 ? 'waits' : 'wait'} for a slot.`,
  ]
}

/** The concurrency limit that keeps a ready task from starting; undefined when none does. */
export function* explainLimits(tx: Reads, task: TaskRecord): Op<Pick<Why, 'reason' | 'message' | 'tasks'> | undefined> {
  // System tasks have slots of their own.
  if (task.system) return undefined
  return (yield* explainLane(tx, task)) ?? (yield* explainSharedLimit(tx, task.executor as string))
}

function* explainLane(tx: Reads, task: TaskRecord): Op<Pick<Why, 'reason' | 'message' | 'tasks'> | undefined> {
  if (task.lane === '') return undefined
  const parent = yield* tx.task.get(task.lane)
  const concurrency = parent?.policy.concurrency
  if (parent === undefined || concurrency === undefined) return undefined
  const open = yield* tx.task.openInLane(task.lane)
  if (open < concurrency) return undefined
  const running = yield* tx.task.list({ parentId: parent.id, statuses: ['working'] }, concurrency)
  const busy = running.filter((each) => each.runOpen)
  const who = busy.length === 0 ? '' : `: ${listOf(busy.map(nameOf))}`
  return {
    reason: 'lane',
    tasks: busy.map((each) => each.id),
    message: `It waits for a slot among its siblings: of the children of ${nameOf(parent)} only ${concurrency} may run at once, and ${open} ${open === 1 ? 'does' : 'do'}${who}.`,
  }
}

function* explainSharedLimit(tx: Reads, executor: string): Op<Pick<Why, 'reason' | 'message' | 'tasks'> | undefined> {
  const shared = yield* loadSharedLimits(tx)
  if (shared === undefined) return undefined
  const open = yield* tx.run.countOpen()
  const all = [...open.values()].reduce((sum, runs) => sum + runs, 0)
  const ofExecutor = open.get(executor) ?? 0
  const limit = shared.limits[executor]
  if (shared.maxConcurrent !== null && all >= shared.maxConcurrent) {
    return { reason: 'limit', tasks: [], message: limitText('', shared.maxConcurrent, all) }
  }
  if (limit !== undefined && ofExecutor >= limit) {
    return { reason: 'limit', tasks: [], message: limitText(` of the executor ${executor}`, limit, ofExecutor) }
  }
  return undefined
}

function limitText(of: string, limit: number, open: number): string {
  return `It is ready, but the engines on this ledger together may have only ${limit} open ${limit === 1 ? 'run' : 'runs'}${of}, and ${open} ${open === 1 ? 'is' : 'are'} open. \`setSharedLimits\` raises the limit.`
}

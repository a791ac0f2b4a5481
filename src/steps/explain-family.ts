// What the children of a task mean for it: which are open, which failed, and what its policies make of that.
import { isSettled, type TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { isBroken } from '../machines/family.ts'
import { isQueued } from '../machines/readiness.ts'
import { listOf, nameOf } from './explain-words.ts'

/** Sentences to follow what else is said of a live task, beginning with a space; empty when there is nothing to say. */
export function* familyWords(tx: Reads, parent: TaskRecord): Op<string> {
  if (parent.childCount === 0) return ''
  const children = (yield* tx.task.children(parent.id)).filter((child) => child.deletedAt === null)
  const open = children.filter((child) => !isSettled(child.status))
  const broken = children.filter((child) => isBroken(child.status))
  return [
    ...openWords(parent, open, broken),
    ...brokenWords(parent, broken),
    ...policyWords(parent, open),
    ...(yield* laneWords(tx, parent, open)),
  ]
    .map((sentence) => ` ${sentence}`)
    .join('')
}

/** A group tells of all that it holds, however deep, in words of its own. */
function openWords(parent: TaskRecord, open: TaskRecord[], broken: TaskRecord[]): string[] {
  if (parent.group || open.length === 0) return []
  const named = listOf(
    open.map((child) => `${nameOf(child)}, ${isQueued(child) ? 'queued' : child.status}`),
    '; ',
  )
  const { autoComplete } = parent.policy
  const ends = autoComplete && (broken.length === 0 || autoComplete === 'all-settled')
  return [`${ends ? 'It completes with the last of its open children' : 'Open below it'}: ${named}.`]
}

function brokenWords(parent: TaskRecord, broken: TaskRecord[]): string[] {
  if (broken.length === 0) return []
  const ended = listOf(
    broken.map((child) => `${nameOf(child)} ${child.status === 'failed' ? 'failed' : 'was canceled'}`),
  )
  if (parent.group) return [`${ended}, so it will fail once all have settled.`]
  if (parent.policy.autoComplete !== true) return [`${ended}.`]
  const retry = broken.some((child) => child.status === 'failed') ? '`retry` there gives a new attempt, ' : ''
  return [`${ended}, so it does not complete by itself: ${retry}\`delete\` there goes on without.`]
}

function policyWords(parent: TaskRecord, open: TaskRecord[]): string[] {
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

function* laneWords(tx: Reads, parent: TaskRecord, open: TaskRecord[]): Op<string[]> {
  const { concurrency } = parent.policy
  const queued = open.filter((child) => child.ready)
  if (concurrency === undefined || queued.length === 0) return []
  if ((yield* tx.task.openInLane(parent.id)) < concurrency) return []
  return [
    `Only ${concurrency} of its children may run at once: ${queued.length} more ${queued.length === 1 ? 'waits' : 'wait'} for a place.`,
  ]
}

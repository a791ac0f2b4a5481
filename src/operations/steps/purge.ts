// Purge: removes settled families from the ledger, with all their rows and events, and mail that has been read. A read finds the families,
// a step marks them if nothing of them has changed since, and further steps remove their rows.

import { ErrandError } from '../../core/errors.ts'
import {
  all,
  type Op,
  type Purgeable,
  type PurgePosition,
  type Reads,
  type Step,
  step,
  type Tx,
} from '../../ledger/ledger.ts'

const setting = 'purgedThrough'

/** The maximum of rows that one transaction removes: short transactions let others write in between. */
const maxRowsRemoved = 250
/** The maximum of tasks that one transaction removes. */
export const maxTasksRemoved = 200
/** The maximum of roots that one read examines. */
const maxRoots = 200
/** How many of them are examined at once: on a server they share its round trips. */
const inspectedTogether = 20
/** The maximum of events that the step which marks families may have to examine. */
const maxEventsBehind = 1_000

/** Families that may be purged, as of a position of the feed. */
export interface PurgeBatch {
  families: Purgeable[]
  asOf: number
}

/** Finds families; `next` is the position at which to continue, undefined when all roots were examined. */
export function* findFamilies(
  tx: Reads,
  before: number,
  after?: PurgePosition,
): Op<PurgeBatch & { next: PurgePosition | undefined }> {
  const found: PurgeBatch = { families: [], asOf: yield* tx.event.last() }
  const roots = yield* tx.purge.roots(before, maxRoots, after)
  let rows = 0
  for (let end = inspectedTogether; ; end += inspectedTogether) {
    const some = roots.slice(end - inspectedTogether, end)
    for (const family of yield* all(some.map(({ id }) => tx.purge.inspect(id, before)))) {
      if (family === undefined) continue
      found.families.push(family)
      rows += family.tasks + family.events
    }
    if (end >= roots.length) break
    const { completedAt, seq } = some.at(-1) as PurgePosition
    if (rows >= maxRowsRemoved) return { ...found, next: { completedAt, seq } }
  }
  const last = roots.at(-1)
  const next =
    last === undefined || roots.length < maxRoots ? undefined : { completedAt: last.completedAt, seq: last.seq }
  return { ...found, next }
}

/** The families of a batch of which nothing has changed since, as of the present position. */
export function* unchanged(tx: Reads, { families, asOf }: PurgeBatch): Op<PurgeBatch> {
  const last = yield* tx.event.last()
  const touched = new Set<string>()
  for (let after = asOf; after < last; after += maxEventsBehind) {
    const roots = families.map(({ root }) => root)
    for (const root of yield* tx.purge.touched(roots, after, Math.min(last, after + maxEventsBehind))) touched.add(root)
  }
  return { families: families.filter(({ root }) => !touched.has(root)), asOf: last }
}

/** Marks the families of a batch as being purged; undefined if too much has been written since the batch was found. */
export function beginPurge(batch: PurgeBatch): Step<Purgeable[] | undefined> {
  return step('purge', function* (tx) {
    if ((yield* tx.event.last()) - batch.asOf > maxEventsBehind) return undefined
    const { families } = yield* unchanged(tx, batch)
    const roots = yield* all(families.map(({ root }) => tx.task.get(root)))
    const begun = yield* all(families.map(({ root }) => tx.purge.includes(root)))
    // Another engine may have been faster.
    const marked = families.filter((_, at) => roots[at] !== undefined && !begun[at])
    if (marked.length === 0) return marked
    yield* tx.purge.begin(marked)
    yield* raisePurgedThrough(
      tx,
      marked.reduce((latest, family) => Math.max(latest, family.through), 0),
    )
    return marked
  })
}

/** Tasks of families that are being purged, the lower ones before those above them; none when all are removed. */
export function* tasksToRemove(tx: Reads): Op<string[]> {
  const roots = yield* tx.purge.begun(maxRoots)
  let tasks: string[] = []
  for (let at = 0; at < roots.length && tasks.length < maxTasksRemoved; at += inspectedTogether) {
    const some = roots.slice(at, at + inspectedTogether)
    const below = yield* all(some.map((root) => tx.task.idsBelow(root)))
    // Each list has parents before their children.
    tasks = tasks.concat(some.flatMap((root, nth) => [root, ...(below[nth] as string[])].reverse()))
  }
  return tasks
}

/** Removes rows of some tasks; returns whether there may be more. */
export function removeRows(tasks: readonly string[]): Step<boolean> {
  return step('remove purged rows', function* (tx) {
    // A step that does not bring a task back to life may have added an event since the purge began.
    yield* raisePurgedThrough(tx, yield* tx.purge.lastEvent(tasks))
    return yield* tx.purge.remove(tasks, maxRowsRemoved)
  })
}

function* raisePurgedThrough(tx: Tx, through: number): Op<void> {
  if (through > (yield* purgedThrough(tx))) yield* tx.setting.put(setting, through)
}

/** Removes read mail; returns whether there may be more. */
export function forgetMail(before: number): Step<boolean> {
  return step('forget mail', function* (tx: Tx) {
    return (yield* tx.mail.forget(before, maxRowsRemoved)) === maxRowsRemoved
  })
}

export function* purgedThrough(tx: Reads): Op<number> {
  return ((yield* tx.setting.get(setting)) as number | undefined) ?? 0
}

/**
 * @throws ErrandError CURSOR_AHEAD for a position that the ledger has not reached. A reader that waited there would miss the events
 * whose numbers are used again after an older copy was restored.
 */
export function* requireReached(tx: Reads, after: number): Op<void> {
  // The last events may have been purged.
  const latest = Math.max(yield* tx.event.last(), yield* purgedThrough(tx))
  if (after <= latest) return
  throw new ErrandError(
    'CURSOR_AHEAD',
    `Position ${after} is beyond the last event (${latest}): the ledger was replaced by an older copy, or the position is that of another ledger. Begin anew: read the state with \`list\`, and follow without a position, or from 0.`,
    { after, latest },
  )
}

/** @throws ErrandError CURSOR_TOO_OLD for a position after which events have been deleted. 0 is the oldest kept event. */
export function* requireCursor(tx: Reads, after: number): Op<void> {
  const through = yield* purgedThrough(tx)
  if (after === 0 || after >= through) return
  throw new ErrandError(
    'CURSOR_TOO_OLD',
    `Events after position ${after} have left the ledger with their tasks (up to ${through}). Start again: read the state with \`list\`, and follow from 0 or from the present.`,
    { after, oldest: through },
  )
}

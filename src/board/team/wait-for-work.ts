// Waits for work for a member: checks its inbox, then the board, then sleeps until the ledger changes or the time is over. A check is
// a read; a transaction begins only when there is something to take.

import { sleep } from '../../core/signals.ts'
import type { BoardTask } from '../../entities/board.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { claimSearching } from '../../operations/steps/claim-search.ts'
import type { BoardTarget, TeamHost } from '../board-host.ts'
import { claimBest, claimFilterOf, type NextClaim } from '../claim-task.ts'
import { changeBoard, numberNewTasks } from '../numbering.ts'
import { giveBackClaim } from '../owned-task.ts'
import { type Inbox, returnMail, takeMail } from './mail.ts'

/** What a wait returned. */
export type AwaitedWork = ({ kind: 'mail' } & Inbox) | { kind: 'task'; task: BoardTask } | { kind: 'idle' }

export interface WaitLimits {
  /** Maximum time between checks, in milliseconds: leases and due times end without an event. */
  pollMs: number
  /** How long to wait, in milliseconds. */
  timeoutMs: number
}

/** Messages taken at once. */
const mailBatchSize = 50

/**
 * Waits for mail or a task. The signal is checked inside the transaction, so that nothing is taken for a caller that has left.
 * @throws the reason of the signal; ErrandError ENGINE_CLOSED, NOT_FOUND for an unknown parent or board.
 */
export async function waitForWork(
  host: TeamHost,
  target: BoardTarget,
  wanted: NextClaim,
  { pollMs, timeoutMs }: WaitLimits,
  signal: AbortSignal,
): Promise<AwaitedWork> {
  // A parent may be named by its number before anything has read the board. Throws for an unknown board.
  await numberNewTasks(host, target.board)
  const over = new AbortController()
  // A single check.
  if (timeoutMs === 0) over.abort()
  const timer = host.clock.setTimeout(() => over.abort(), timeoutMs)
  try {
    for (;;) {
      const round = new AbortController()
      const awake = AbortSignal.any([signal, over.signal, round.signal])
      // Before the check, so that a change between the check and the sleep is not missed.
      const moved = host.moved(awake)
      moved.catch(() => {})
      try {
        const isLast = over.signal.aborted
        const work = await takeWork(host, target, wanted, signal)
        if (signal.aborted && work !== null)
          await giveBackWork(host, target, work, wanted, 'the caller stopped waiting')
        else if (work !== null) return work
        signal.throwIfAborted()
        if (isLast) return { kind: 'idle' }
        await Promise.race([moved, sleep(host.clock, pollMs, awake)])
      } finally {
        round.abort()
      }
    }
  } finally {
    host.clock.clearTimeout(timer)
  }
}

async function takeWork(
  host: TeamHost,
  target: BoardTarget,
  wanted: NextClaim,
  signal: AbortSignal,
): Promise<AwaitedWork | null> {
  const { at } = await host.stepContext()
  if (!(await host.read((tx) => hasWork(tx, target, wanted, at)))) return null
  return claimSearching(host, (among) =>
    changeBoard(host, target, 'take work', function* (tx, ctx): Op<AwaitedWork | null> {
      if (signal.aborted) return null
      const inbox = yield* takeMail(tx, target.board, wanted.as, mailBatchSize, ctx.at)
      if (inbox.mail.length > 0) return { kind: 'mail', ...inbox }
      const task = yield* claimBest(tx, target, { ...wanted, among }, ctx)
      return task === null ? null : { kind: 'task', task }
    }),
  )
}

/** Gives back what a wait took for its caller. Returns the released task, if it was one. */
export async function giveBackWork(
  host: TeamHost,
  target: BoardTarget,
  work: AwaitedWork,
  wanted: NextClaim,
  reason: string,
): Promise<{ task: BoardTask } | undefined> {
  if (work.kind === 'task') return giveBackClaim(host, target, work.task, wanted, reason)
  if (work.kind === 'mail') await returnMail(host, target.board, wanted.as, work.mail)
  return undefined
}

/** Whether there is mail, a claimable task, or a task that an expired lease or a due time may make claimable. */
function* hasWork(tx: Reads, target: BoardTarget, wanted: NextClaim, at: number): Op<boolean> {
  return (
    (yield* tx.mail.unread(target.board, wanted.as, 1)).length > 0 ||
    (yield* tx.task.claimable(yield* claimFilterOf(tx, target, wanted)))?.length === 1 ||
    (yield* tx.task.lapsed(at, 1)).length > 0 ||
    (yield* tx.task.due(at, 1)).length > 0
  )
}

// An idle member: it looks into its inbox, then at the board, then rests until something has been written, and gives up after a
// while. Looking costs no transaction: only where there is something to get is it taken.

import { readForProgram } from '../../bus/reader.ts'
import { rest } from '../../core/signals.ts'
import type { BoardTask } from '../../entities/board.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import type { BoardTarget, TeamHost } from '../board-host.ts'
import { claimBest, claimFilterOf, type NextClaim } from '../claim-task.ts'
import { releaseOnBoard } from '../hold-task.ts'
import { changeBoard, numberNewcomers } from '../numbering.ts'
import { type Inbox, takeMail } from './mail.ts'

/** What an idle member came by. */
export type AwaitedWork = ({ kind: 'mail' } & Inbox) | { kind: 'task'; task: BoardTask } | { kind: 'idle' }

export interface Patience {
  /** It looks at least so often, in milliseconds: for leases and times that are over with nobody there to tell. */
  pollMs: number
  /** How long it waits, in milliseconds. */
  timeoutMs: number
}

/** Messages that are taken at once. */
const mailAtOnce = 50

/**
 * Nothing is taken for one who has gone: the signal is asked in the transaction itself.
 * @throws the reason of the signal; ErrandError ENGINE_CLOSED, NOT_FOUND for a parent or a board that is not there.
 */
export async function waitForWork(
  host: TeamHost,
  place: BoardTarget,
  wanted: NextClaim,
  { pollMs, timeoutMs }: Patience,
  signal: AbortSignal,
): Promise<AwaitedWork> {
  // Whoever names a task by its number may be the first to look at the board. Refuses one that is not there.
  await numberNewcomers(host, place.board)
  const over = new AbortController()
  // Only to look.
  if (timeoutMs === 0) over.abort()
  const timer = host.clock.setTimeout(() => over.abort(), timeoutMs)
  try {
    for (;;) {
      const round = new AbortController()
      const awake = AbortSignal.any([signal, over.signal, round.signal])
      // Before it looks: what is written between the look and the rest must not be slept through.
      const moved = host.moved(awake)
      moved.catch(() => {})
      try {
        const isLast = over.signal.aborted
        const work = await takeWork(host, place, wanted, signal)
        if (signal.aborted && work?.kind === 'task') await giveBack(host, place, work.task, wanted)
        else if (work !== null) return work
        signal.throwIfAborted()
        if (isLast) return { kind: 'idle' }
        await Promise.race([moved, rest(host.clock, pollMs, awake)])
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
  place: BoardTarget,
  wanted: NextClaim,
  signal: AbortSignal,
): Promise<AwaitedWork | null> {
  const { at } = await host.stepContext()
  if (!(await host.read((tx) => hasSomething(tx, place, wanted, at)))) return null
  return changeBoard(host, place, 'take work', function* (tx, ctx): Op<AwaitedWork | null> {
    if (signal.aborted) return null
    const inbox = yield* takeMail(tx, place.board, wanted.as, mailAtOnce, ctx.at)
    if (inbox.mail.length > 0) return { kind: 'mail', ...inbox }
    const task = yield* claimBest(tx, place, wanted, ctx)
    return task === null ? null : { kind: 'task', task }
  })
}

/** The client left in the moment in which the task was claimed for it. */
async function giveBack(host: TeamHost, place: BoardTarget, { taskId, fence }: BoardTask, { as, source }: NextClaim) {
  await readForProgram(() =>
    releaseOnBoard(host, place, taskId, 'the client that waited has left', { as, fence, source }),
  )
}

/** Mail, a task that may be claimed, or one that may be once its lease or its time is found to be over. */
function* hasSomething(tx: Reads, place: BoardTarget, wanted: NextClaim, at: number): Op<boolean> {
  return (
    (yield* tx.mail.unread(place.board, wanted.as, 1)).length > 0 ||
    (yield* tx.task.claimable(yield* claimFilterOf(tx, place, wanted))) !== undefined ||
    (yield* tx.task.lapsed(at, 1)).length > 0 ||
    (yield* tx.task.due(at, 1)).length > 0
  )
}

// The laws, checked inside the transaction of every step, before another step can repair what it leaves. Complaints are
// collected and not thrown, so that a law does not itself roll back what broke it.
import type { TaskEvent } from '../../../src/entities/event.ts'
import type { SharedLimits } from '../../../src/entities/limits.ts'
import { awaitsChildren, isSettled, isTerminal, type TaskRecord, type TaskStatus } from '../../../src/entities/task.ts'
import type { Op, Reads, Step, Tx } from '../../../src/ledger/ledger.ts'
import { isClaimable, isReady } from '../../../src/machines/readiness.ts'
import { eventBetween } from '../../../src/machines/task-edges.ts'
import { dependencyVerdict, parentVerdict } from '../../machines/verdicts.ts'

export interface EngineLimits {
  maxConcurrent: number
  narrow: number
}

/** The sender of a write. */
export interface Sender {
  taskId: string
  owner: string
  fence: number
}

/** What was true for the sender of a step when it was issued. */
export interface Issued {
  limits: EngineLimits
  sender: Sender | undefined
}

export class Audit {
  readonly broken: string[] = []
  /** Tasks of this sequence, in order of creation. */
  ids: string[] = []
  readonly rows = new Map<string, TaskRecord>()
  /** The status that the events of a task have led to. */
  readonly #published = new Map<string, TaskStatus>()
  cursor = 0

  /** Forgets the tasks of the previous sequence. */
  begin(): void {
    this.ids = []
    this.rows.clear()
    this.#published.clear()
    this.broken.length = 0
  }

  /** The step, with the laws checked at its end. */
  watch(step: Step, issued: Issued): Step {
    // The most frequent step, which concerns no task.
    if (step.name === 'renew instance') return step
    const ask = (tx: Tx): Op<void> => this.#afterStep(tx, step.name, issued)
    return {
      ...step,
      *decide(tx) {
        const result: unknown = yield* step.decide(tx)
        yield* ask(tx)
        return result
      },
    }
  }

  #complain(complaint: string, where: string): void {
    this.broken.push(`${complaint} (after "${where}")`)
  }

  *#afterStep(tx: Tx, name: string, { limits, sender }: Issued): Op<void> {
    const events = yield* tx.event.after(this.cursor, 100_000)
    this.cursor = events.at(-1)?.seq ?? this.cursor
    for (const event of events) this.#replay(event, name)
    if (sender !== undefined) this.#checkSender(sender, name)
    const touched = new Set(events.map((event) => event.taskId).filter((id) => this.#published.has(id)))
    if (sender !== undefined) touched.add(sender.taskId)
    const claimed = new Set(events.filter(({ type }) => type === 'task.claimed').map(({ taskId }) => taskId))
    for (const id of touched) yield* this.#checkTask(tx, id, name, claimed.has(id))
    for (const { type, taskId } of events) if (type === 'task.canceled') yield* this.#checkBelow(tx, taskId, name)
    for (const event of events) {
      if (event.type === 'task.started' && typeof event.data.run === 'number')
        yield* this.#checkAdmission(tx, event, limits, name)
    }
  }

  /** The laws on every task of the sequence, and those on the relations between them. */
  *all(tx: Reads, where: string): Op<void> {
    for (const id of this.ids) {
      yield* this.#checkTask(tx, id, where, false)
      yield* this.#checkRelatives(tx, id, where)
    }
  }

  // ── single laws ──

  /** Every change of status is an edge of the table. */
  #replay({ taskId, type, data }: TaskEvent, where: string): void {
    const before = this.#published.get(taskId)
    const status = data.status as TaskStatus
    if (before === undefined) {
      if (type !== 'task.created') return
      this.ids.push(taskId)
      if (status !== 'submitted') this.#complain(`${taskId} was born ${status}`, where)
    } else if (before !== status && eventBetween(before, status) === undefined) {
      this.#complain(`${taskId} went from ${before} to ${status} by ${type}`, where)
    }
    this.#published.set(taskId, status)
  }

  /** An accepted write came from the owner of the task at that time. */
  #checkSender({ taskId, owner, fence }: Sender, where: string): void {
    const before = this.rows.get(taskId)
    if (before !== undefined && (before.owner !== owner || before.fence !== fence))
      this.#complain(
        `a stale claim took effect: ${owner} (${fence}) wrote to ${taskId}, which is ${before.owner}'s (${before.fence})`,
        where,
      )
  }

  *#checkTask(tx: Reads, id: string, where: string, claimed: boolean): Op<void> {
    const row = yield* tx.task.get(id)
    if (row === undefined) return this.#complain(`${id} has no row`, where)
    const before = this.rows.get(id)
    this.rows.set(id, row)
    const complain = (law: boolean, complaint: string): void => {
      if (!law) this.#complain(`${id} ${complaint}`, where)
    }
    complain(this.#published.get(id) === row.status, `is ${row.status}, and its events say ${this.#published.get(id)}`)
    complain(row.ready === isReady(row), `is${row.ready ? '' : ' not'} marked ready`)
    complain(row.claimable === isClaimable(row), `is${row.claimable ? '' : ' not'} marked claimable`)
    const blockers = yield* tx.dependency.openBlockers(id)
    complain(
      blockers.length === row.openBlockers,
      `counts ${row.openBlockers} open blockers and has ${blockers.length}`,
    )
    checkOutcome(row, before, complain)
    checkOwner(row, before, claimed, complain)
    yield* checkRuns(tx, row, blockers.length, complain)
    for (const entry of yield* tx.call.open(id)) {
      if (entry.kind === 'call') complain(row.runOpen, `has an open call and no open run`)
      else complain(!isSettled(row.status), `is ${row.status} and has an open ${entry.kind}`)
    }
  }

  /** Nothing lives below a canceled task in the commit that canceled it. */
  *#checkBelow(tx: Reads, id: string, where: string): Op<void> {
    if (this.#published.get(id) !== 'canceled') return
    for (const each of yield* tx.task.subtree(id)) {
      if (!isSettled(each.status) && each.deletedAt === null)
        this.#complain(`${each.id} lives on (${each.status}) below ${id}, which was canceled`, where)
    }
  }

  /** A run that starts finds room in every limit, as it was set then. */
  *#checkAdmission(tx: Reads, event: TaskEvent, limits: EngineLimits, where: string): Op<void> {
    const row = (yield* tx.task.get(event.taskId)) as TaskRecord
    const shared = (yield* tx.setting.get('limits')) as SharedLimits | undefined
    const open = yield* tx.run.countOpen()
    const total = [...open.values()].reduce((sum, runs) => sum + runs, 0)
    const executor = row.executor as string
    const within = (runs: number, limit: number | null | undefined, what: string): void => {
      if (typeof limit === 'number' && runs > limit)
        this.#complain(`${runs} runs are open ${what}, the limit is ${limit}`, where)
    }
    within(total, shared?.maxConcurrent, 'in all engines')
    within(open.get(executor) ?? 0, shared?.limits[executor], `of ${executor} in all engines`)
    const mine = yield* tx.run.openOf(event.instanceId)
    within(mine.length, limits.maxConcurrent, 'in one engine')
    let narrow = 0
    for (const run of mine) if ((yield* tx.task.get(run.taskId))?.executor === 'narrow') narrow++
    within(narrow, limits.narrow, 'of narrow in one engine')
    if (row.lane === '') return
    const parent = yield* tx.task.get(row.lane)
    within(yield* tx.task.openInLane(row.lane), parent?.policy.concurrency, `below ${row.lane}`)
  }

  /** A row says that it is stuck exactly if what it waits for cannot complete by itself. */
  *#checkStuck(tx: Reads, id: string, where: string): Op<void> {
    const row = (yield* tx.task.get(id)) as TaskRecord
    if (row.group || row.deletedAt !== null || isSettled(row.status)) return
    const children = yield* tx.task.childFacts(id)
    const blocked = (yield* tx.dependency.stuckBehind(id)) !== undefined
    const awaits = awaitsChildren(row) && !children.movable && (children.stuck ?? children.broken) !== null
    const stuck = blocked || awaits
    if (stuck !== (row.stuckBy !== null)) this.#complain(`${id} is stuck behind ${row.stuckBy}, and ${stuck}`, where)
  }

  /** A task that its children settle has settled, and dependents have been notified of the end. */
  *#checkRelatives(tx: Reads, id: string, where: string): Op<void> {
    const row = (yield* tx.task.get(id)) as TaskRecord
    if (row.group || row.policy.autoComplete) {
      const verdict = parentVerdict(row, yield* tx.task.childFacts(id))
      if (verdict !== null) this.#complain(`${id} is ${row.status}, its children say ${verdict}`, where)
    }
    if (row.deletedAt !== null || isSettled(row.status)) return
    if (row.group) {
      for (const { id: child } of yield* tx.task.children(id)) yield* this.#checkStuck(tx, child, where)
    } else yield* this.#checkStuck(tx, id, where)
    for (const blockerId of yield* tx.dependency.openBlockers(id)) {
      const blocker = yield* tx.task.get(blockerId)
      const verdict = blocker && dependencyVerdict(row, blocker)
      if (verdict)
        this.#complain(`${id} comes after ${blockerId}, which is ${blocker.status}: ${verdict} is owed`, where)
    }
  }
}

type Complain = (law: boolean, complaint: string) => void

/** A settled task has exactly one outcome, and one that is completed or canceled keeps it. */
function checkOutcome(row: TaskRecord, before: TaskRecord | undefined, complain: Complain): void {
  complain((row.completedAt !== null) === isSettled(row.status), `is ${row.status} with completedAt ${row.completedAt}`)
  if (row.status === 'completed') complain(row.error === null, 'is completed with an error')
  if (row.status === 'failed') complain(row.error !== null, 'has failed without an error')
  if (before === undefined || !isTerminal(before.status)) return
  const outcome = ({ status, result, error, statusReason, completedAt }: TaskRecord): string =>
    JSON.stringify([status, result, error, statusReason, completedAt])
  complain(outcome(before) === outcome(row), `was ${outcome(before)} and is ${outcome(row)}`)
}

function checkOwner(row: TaskRecord, before: TaskRecord | undefined, claimed: boolean, complain: Complain): void {
  const had = before?.fence ?? 0
  complain(row.fence >= had, `had the fence ${had} and has ${row.fence}`)
  complain(row.fence === had || claimed || before === undefined, `has another fence (${row.fence}) without a claim`)
  const leased = row.status === 'working' && row.owner !== null && row.leaseMs !== null
  complain((row.leaseUntil !== null) === leased, `is ${row.status} with the lease ${row.leaseUntil} of ${row.owner}`)
  complain(row.owner !== null || row.leaseMs === null, 'has a lease and no owner')
  complain(!row.claimable || row.owner === null, `may be claimed and is ${row.owner}'s`)
  complain(row.owner === null || row.executor === null, 'has an owner and an executor')
}

/** Never two open runs of one task; numbers rise; nothing blocked runs. */
function* checkRuns(tx: Reads, row: TaskRecord, blockers: number, complain: Complain): Op<void> {
  const runs = yield* tx.run.list(row.id)
  const open = runs.filter((run) => run.status !== 'closed')
  complain(open.length <= 1, `has ${open.length} open runs`)
  complain(row.runOpen === open.length > 0, `says that its run is ${row.runOpen ? 'open' : 'closed'}, and it is not`)
  complain(
    runs.every((run, index) => run.number === index + 1) && row.run === runs.length,
    `is at run ${row.run} of ${runs.map((run) => run.number).join(', ')}`,
  )
  const live = open.find((run) => run.status === 'live')
  complain(live === undefined || row.status === 'working', `is ${row.status} and has a live run`)
  if (row.status !== 'working' || row.group) return
  complain(row.executor === null || live !== undefined, 'is working without a live run')
  complain(blockers === 0, `is working and comes after ${blockers} open tasks`)
}

// The laws of the search. Complaints are collected and raised by the search, so that a law changes nothing of what it
// observes. They read the ledger itself, below every fault, and write nothing: no law can wake a sleeping task.
import type { TaskEvent } from '../../../src/entities/event.ts'
import type { TaskRecord } from '../../../src/entities/task.ts'
import { isSettled } from '../../../src/entities/task.ts'
import type { Op, Reads } from '../../../src/ledger/ledger.ts'
import { abortGraceMs, type Host, maxConcurrent, type Opening, shutdownTimeoutMs } from './host.ts'
import type { Body, Execution } from './program.ts'
import type { World } from './world.ts'

/**
 * Maximum delay of a timer or of the start of a ready task on an unobstructed engine: twice its own check interval of
 * 200 ms.
 */
export const latestMs = 400
/** Maximum delay after which an engine retries what a fault refused: a read of the feed, and the outcome of a run. */
const feedPauseMs = 5_000
export const outcomePauseMs = 10_000

export class Laws {
  readonly broken: string[] = []
  /** The durable events, in order, as the ledger published them at each commit. */
  readonly events: TaskEvent[] = []
  readonly bodies: Body[] = []
  readonly executions: Execution[] = []
  readonly openings: Opening[] = []
  readonly #world: World
  readonly #completed = new Set<string>()
  /** By task: since when it has been ready beside a free slot. */
  readonly #readySince = new Map<string, number>()
  /** By task and run: since when an executor has been working for an ended run. */
  readonly #staleSince = new Map<Body, number>()

  constructor(world: World) {
    this.#world = world
  }

  complain(complaint: string): void {
    this.broken.push(complaint)
  }

  // ── checked at each commit ──

  /** A commit, right after it has become durable. */
  committed(events: readonly TaskEvent[]): void {
    for (const event of events) {
      this.events.push(event)
      if (event.type === 'call.completed' || event.type === 'call.failed') this.#callCloses(event)
    }
  }

  begins(body: Body): void {
    for (const other of this.bodies) {
      if (other.taskId === body.taskId && !other.over && !this.#isGivenUp(other.opening))
        this.complain(`run ${body.run} of ${body.taskId} began while run ${other.run} was still at work`)
    }
    this.bodies.push(body)
  }

  executes(execution: Execution): void {
    const { callId, taskId, key, attempt, onInterrupt } = execution
    if (this.#completed.has(`${taskId} ${key}`))
      this.complain(`call ${key} of ${taskId} was made after it was completed`)
    for (const other of this.executions) {
      if (other.callId === callId) this.complain(`${callId} was executed twice`)
      if (other.taskId !== taskId || other.key !== key) continue
      if (onInterrupt === 'fail' && other.attempt === attempt)
        this.complain(`call ${key} of ${taskId} was made twice in attempt ${attempt}, and may not be made again`)
      if (!other.settled && !this.#mayBeClosed(other))
        this.complain(`call ${key} of ${taskId} was made while its function still ran`)
    }
    this.executions.push(execution)
  }

  /** A call is closed when its function has settled, or when its grace is over. */
  #callCloses({ type, taskId, data }: TaskEvent): void {
    const execution = this.executions.find((each) => each.callId === data.callId)
    if (execution === undefined) return
    if (type === 'call.completed') this.#completed.add(`${taskId} ${execution.key}`)
    if (!execution.settled && !this.#mayBeClosed(execution))
      this.complain(`${execution.callId} of ${taskId} was closed (${type}) while its function still ran`)
  }

  #mayBeClosed({ abortedAt, opening }: Execution): boolean {
    if (this.#isGivenUp(opening)) return true
    return abortedAt !== undefined && this.#world.clock.now() - abortedAt >= abortGraceMs
  }

  /** An engine that closes gives up what has not settled in time. */
  #isGivenUp({ closingAt }: Opening): boolean {
    return closingAt !== undefined && this.#world.clock.now() - closingAt >= shutdownTimeoutMs
  }

  // ── checked after each step of time ──

  async inspect(): Promise<void> {
    const { hosts, clock } = this.#world
    const now = clock.now()
    const view = await this.#world.read((tx) => this.#view(tx, now))
    const fair = hosts.filter((host) => host.fairMs >= latestMs)
    if (fair.length > 0) for (const late of view.late) this.complain(`${late} was due more than ${latestMs} ms ago`)
    this.#checkReady(view.tasks, view.open, now)
    this.#checkEnded(view.tasks, now)
    const durable = this.events.findLast((event) => event.at <= now - latestMs)?.seq ?? 0
    for (const host of hosts) {
      const { received, from } = host.opening ?? {}
      if (received === undefined || from === undefined || !host.isSettled(latestMs, feedPauseMs)) continue
      const seen = received.at(-1)?.seq ?? from
      if (seen < durable) this.complain(`engine ${host.number} notified its subscribers up to ${seen} of ${durable}`)
    }
  }

  *#view(tx: Reads, now: number): Op<{ late: string[]; tasks: TaskRecord[]; open: Map<Host, number> }> {
    const before = now - latestMs
    const late: string[] = []
    for (const call of yield* tx.call.due(before, 5)) late.push(`the ${call.kind} ${call.id} of ${call.taskId}`)
    for (const task of yield* tx.task.due(before, 5)) late.push(`the start of ${task.id}`)
    const own = { instanceId: '', executors: ['work'] }
    for (const run of yield* tx.run.due(before, 5, own)) late.push(`the time-out of run ${run.number} of ${run.taskId}`)
    const open = new Map<Host, number>()
    for (const host of this.#world.hosts) {
      const id = host.opening?.engine.instanceId
      if (id !== undefined) open.set(host, (yield* tx.run.openOf(id)).length)
    }
    return { late, tasks: yield* allTasks(tx), open }
  }

  /** A ready task starts soon where a slot is free. */
  #checkReady(tasks: readonly TaskRecord[], open: ReadonlyMap<Host, number>, now: number): void {
    const isFree = (host: Host): boolean =>
      host.isSettled(latestMs, feedPauseMs) && (open.get(host) ?? maxConcurrent) < maxConcurrent
    const free = this.#world.hosts.find(isFree)
    for (const task of tasks) {
      // A task suspected of crashes waits until no other such task runs.
      if (!task.ready || free === undefined || task.crashes > 1) this.#readySince.delete(task.id)
      else if (!this.#readySince.has(task.id)) this.#readySince.set(task.id, now)
      else if (now - (this.#readySince.get(task.id) as number) > latestMs)
        this.complain(`${task.id} (${task.status}) is ready, and engine ${free.number} has had a slot for it`)
    }
  }

  /** The executor of an ended run is aborted soon. */
  #checkEnded(tasks: readonly TaskRecord[], now: number): void {
    for (const body of this.bodies) {
      if (body.over || body.signal.aborted) continue
      const task = tasks.find((each) => each.id === body.taskId)
      const host = this.#world.hosts.find((each) => each.opening === body.opening)
      const isLive = task?.status === 'working' && task.run === body.run
      if (isLive || !host?.isSettled(latestMs, feedPauseMs)) this.#staleSince.delete(body)
      else if (!this.#staleSince.has(body)) this.#staleSince.set(body, now)
      else if (now - (this.#staleSince.get(body) as number) > latestMs)
        this.complain(`run ${body.run} of ${body.taskId} is over, and its executor was not aborted`)
    }
  }

  // ── checked at the end ──

  /** Lists what has not ended; empty when everything has. */
  async unrest(): Promise<string[]> {
    const left = await this.#world.read(function* (tx) {
      const found: string[] = []
      for (const task of yield* allTasks(tx)) {
        if (!isSettled(task.status) && task.deletedAt === null) found.push(`${task.id} is ${describe(task)}`)
        if (task.runOpen) found.push(`run ${task.run} of ${task.id} is open`)
        for (const call of yield* tx.call.open(task.id))
          if (isSettled(task.status))
            found.push(`${call.kind} ${call.id} of ${task.id} (${task.status}) is ${call.status}`)
      }
      return found
    })
    for (const body of this.bodies) {
      if (!body.over && body.opening.closingAt === undefined)
        left.push(`the executor of run ${body.run} of ${body.taskId} is at work`)
    }
    return left
  }

  /** Subscribers and readers of the feed got exactly what is in the ledger, once each and in order. */
  async checkDelivery(): Promise<void> {
    const events = await this.#world.read((tx) => tx.event.after(0, 1_000_000))
    for (const opening of this.openings) {
      const isOpen = this.#world.hosts.some((host) => host.opening === opening)
      for (const [what, seen] of [
        ['subscribers', opening.received],
        ['readers of the feed', opening.pulled],
      ] as const) {
        const first = what === 'subscribers' ? (seen[0]?.seq ?? events.length + 1) : opening.from + 1
        const expected = events.slice(first - 1, isOpen ? undefined : first - 1 + seen.length)
        const wrong = expected.findIndex((event, index) => JSON.stringify(event) !== JSON.stringify(seen[index]))
        if (wrong >= 0 || seen.length > expected.length)
          this.complain(
            `${what} of ${opening.engine.instanceId} received ${brief(seen.at(wrong))}, the ledger has ${brief(expected[wrong])}`,
          )
      }
    }
  }

  /** The read model equals a fresh count. */
  async checkStatus(): Promise<void> {
    const counted = await this.#world.read(function* (tx) {
      return { tasks: yield* tx.task.countByStatus(), queue: yield* tx.task.countQueued() }
    })
    for (const { opening, number } of this.#world.hosts) {
      const status = opening?.engine.status.get().context
      if (status === undefined) continue
      if (JSON.stringify(status.tasks) !== JSON.stringify(counted.tasks) || status.queued !== counted.queue.ready)
        this.complain(
          `the status of engine ${number} is ${JSON.stringify([status.tasks, status.queued])}, there are ${JSON.stringify(counted)}`,
        )
      if (status.slots.used !== 0) this.complain(`engine ${number} says that ${status.slots.used} slots are used`)
    }
  }
}

/** Deleted ones too. */
function* allTasks(tx: Reads): Op<TaskRecord[]> {
  const found: TaskRecord[] = []
  for (let seq = 1; ; seq++) {
    const task = yield* tx.task.getBySeq(seq)
    if (task === undefined) return found
    found.push(task)
  }
}

function describe({ status, statusReason, ready, held, openBlockers, wakes }: TaskRecord): string {
  return JSON.stringify({ status, statusReason, ready, held, openBlockers, wakes })
}

function brief(event: TaskEvent | undefined): string {
  return event === undefined ? 'nothing' : `#${event.seq} ${event.type} of ${event.taskId}`
}

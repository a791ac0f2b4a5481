// Keeps teams in step with the tasks that work in them: an agent whose task has ended is completed, and the team of a
// completed task is closed. Off the critical path: nothing it does, or fails to do, changes a task. Every working
// engine does it for all tasks, whichever engine wrote the end; what is already done is not repeated.

import { ErrandError } from '../core/errors.ts'
import { waitAtMost } from '../core/signals.ts'
import { clipped } from '../core/storable-text.ts'
import type { TaskEvent } from '../entities/event.ts'
import { failureSuffix, isSettled, type TaskRecord } from '../entities/task.ts'
import type { StintRecord, TeamRecord } from '../entities/team.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import type { EngineHost } from './engine-host.ts'

/** Changes of a team, each in one step that checks again whether it is due. */
export interface TeamWork {
  /** Completes the agent of a worker that has settled; false when it was already completed. */
  completeAgent(stint: StintRecord, summary: string | undefined): Promise<boolean>
  /** Consolidates the memory of a completed task for good. */
  closeTeam(team: TeamRecord, summary: string | undefined): Promise<void>
}

export type TeamReconcilerHost = TeamWork & Pick<EngineHost, 'ledger' | 'clock' | 'feed' | 'report'>

/** Tasks checked in one transaction. */
const pageSize = 100
/** Milliseconds that a run waits at most for the agents before it. */
const maxWaitMs = 10_000
/** Milliseconds until a refused change is retried: an embedding model may be unavailable for a while. */
const retryAfterMs = 30_000
/** Maximum length of the summary of an agent, in characters. */
const maxSummaryLength = 2_000

/** Errors that mean another engine was faster or the change is no longer due: not reported. */
const doneAlready: ReadonlySet<string> = new Set(['NOT_ACTIVE', 'AGENTS_ACTIVE', 'NOT_FOUND'])

type Due =
  /** The task is undefined when the worker has been purged. */
  | { what: 'complete an agent'; task: TaskRecord | undefined; stint: StintRecord }
  | { what: 'close a team'; task: TaskRecord; team: TeamRecord }

export class TeamReconciler {
  readonly #host: TeamReconcilerHost
  /** Tasks whose end may concern a team. */
  readonly #waiting = new Set<string>()
  /** Callers that wait until everything known by now has been processed. */
  readonly #waiters: Array<() => void> = []
  #work: Promise<void> | undefined
  #catchingUp: Promise<void> | undefined
  #unlisten: (() => void) | undefined
  /** The timer of the next retry after an error. */
  #retry: unknown
  #givenUp = false

  constructor(host: TeamReconcilerHost) {
    this.#host = host
  }

  /** Follows the feed from now on, and processes what ended while no engine was working. */
  start(): void {
    this.#unlisten = this.#host.feed.listen((event) => this.#onEvent(event))
    this.#catchingUp = this.#catchUp()
  }

  /**
   * Resolves when everything that has ended by now is processed: all that this engine has seen, and all that ended in
   * this team; at the latest after `maxWaitMs`. Never rejects.
   */
  async accountFor(teamTaskId: string | undefined): Promise<void> {
    if (teamTaskId !== undefined) {
      const stints = await this.#read((tx) => tx.team.activeStints(teamTaskId))
      for (const { workerId } of stints ?? []) if (workerId !== null) this.#enqueue(workerId)
    }
    const pending = [this.#catchingUp]
    // Later ends are not waited for: in a busy engine they never stop.
    if (this.#work !== undefined) pending.push(new Promise<void>((resolve) => void this.#waiters.push(resolve)))
    await this.#within(maxWaitMs, pending)
  }

  /** Resolves when everything is processed, or after the timeout. Starts nothing new. */
  async close(timeoutMs: number): Promise<void> {
    this.#unlisten?.()
    await this.#within(timeoutMs, [this.#catchingUp, this.#work])
    this.#givenUp = true
    if (this.#retry !== undefined) this.#host.clock.clearTimeout(this.#retry)
  }

  #onEvent({ type, taskId, data }: TaskEvent): void {
    // The events of tasks that are canceled with others do not carry the team.
    const isOurs = data['team'] !== undefined || type === 'task.canceled'
    const isEnd = type === 'task.completed' || type === 'task.canceled' || type === 'task.failed'
    // The last agent has left: a task that was completed before can be closed now.
    if (isOurs && ((isEnd && data['willRetry'] !== true) || type === 'agent.completed')) this.#enqueue(taskId)
  }

  #enqueue(taskId: string): void {
    this.#waiting.add(taskId)
    this.#work ??= this.#processAll()
  }

  async #catchUp(): Promise<void> {
    const known = new Set<string>()
    for (let after = 0; !this.#givenUp; ) {
      const found = await this.#read(function* (tx) {
        // Agents that could not be completed are found again, so the page grows by what is known.
        const stints = yield* tx.team.abandoned(pageSize + known.size)
        const teams = yield* tx.team.unclosed(pageSize, after)
        return {
          teams,
          taskIds: [...stints.map(({ workerId }) => workerId as string), ...teams.map((each) => each.taskId)],
        }
      })
      const fresh = (found?.taskIds ?? []).filter((id) => !known.has(id))
      if (fresh.length === 0) break
      for (const id of fresh) {
        known.add(id)
        this.#enqueue(id)
      }
      after = found?.teams.at(-1)?.seq ?? after
      await this.#work
    }
    this.#catchingUp = undefined
  }

  async #processAll(): Promise<void> {
    // Ends that are published together are checked together.
    await Promise.resolve()
    while (this.#waiting.size > 0 && !this.#givenUp) {
      const waitersBefore = this.#waiters.splice(0)
      const taskIds = [...this.#waiting]
      this.#waiting.clear()
      for (let at = 0; at < taskIds.length; at += pageSize) await this.#settle(taskIds.slice(at, at + pageSize))
      for (const resolve of waitersBefore) resolve()
    }
    this.#work = undefined
    for (const resolve of this.#waiters.splice(0)) resolve()
  }

  /**
   * One after the other, in the order in which the tasks ended; what follows from the end of an agent is done at once.
   */
  async #settle(taskIds: readonly string[]): Promise<void> {
    for (const due of (await this.#read((tx) => dueAmong(tx, taskIds))) ?? []) {
      if (this.#givenUp) return
      const teamTaskId = await this.#apply(due)
      if (teamTaskId !== undefined) await this.#settle([teamTaskId])
    }
  }

  /** Resolves to the task of a team that may have become due by the end of an agent. */
  async #apply(due: Due): Promise<string | undefined> {
    try {
      if (due.what === 'close a team') await this.#host.closeTeam(due.team, summaryOf(due.task))
      else if (await this.#host.completeAgent(due.stint, due.task && summaryOf(due.task))) {
        return due.stint.taskId
      }
    } catch (error) {
      if (ErrandError.isInstance(error) && doneAlready.has(error.code)) return undefined
      const taskId = due.what === 'close a team' ? due.task.id : (due.stint.workerId as string)
      this.#host.report(error, { taskId, doing: due.what })
      this.#retryLater()
    }
    return undefined
  }

  /** Without a retry, the change would wait until the next engine opens. */
  #retryLater(): void {
    if (this.#givenUp) return
    this.#retry ??= this.#host.clock.setTimeout(() => {
      this.#retry = undefined
      this.#catchingUp ??= this.#catchUp()
    }, retryAfterMs)
  }

  async #read<R>(query: (tx: Reads) => Op<R>): Promise<R | undefined> {
    try {
      return await this.#host.ledger.read(query)
    } catch (error) {
      this.#host.report(error, { doing: 'read teams' })
      return undefined
    }
  }

  async #within(timeoutMs: number, given: ReadonlyArray<Promise<void> | undefined>): Promise<void> {
    const work = given.filter((each) => each !== undefined)
    if (work.length > 0) await waitAtMost(this.#host.clock, timeoutMs, Promise.all(work))
  }
}

function* dueAmong(tx: Reads, taskIds: readonly string[]): Op<Due[]> {
  const due: Due[] = []
  for (const taskId of taskIds) {
    const task = yield* tx.task.get(taskId)
    // A task that has or belongs to a team carries it in its own row: the end of any other costs only this read.
    if (task !== undefined && (task.policy.team === undefined || !isSettled(task.status))) continue
    const stint = yield* tx.team.stintOfWorker(taskId)
    if (stint !== undefined) due.push({ what: 'complete an agent', task, stint })
    if (task?.status !== 'completed') continue
    const team = yield* tx.team.get(taskId)
    if (team === undefined || team.closedAt !== null) continue
    // Active agents may still add to the memory; the end of the last one makes the team due.
    if ((yield* tx.team.activeStints(taskId)).length === 0) due.push({ what: 'close a team', task, team })
  }
  return due
}

/** The result of a task as a short text; undefined without one. */
function summaryOf({ status, result, error, statusReason }: TaskRecord): string | undefined {
  const resultText = result === null ? undefined : typeof result === 'string' ? result : JSON.stringify(result)
  const reason = statusReason === null ? '' : `: ${statusReason}`
  const text =
    status === 'completed' ? resultText : `${status}${status === 'failed' ? failureSuffix(error?.message) : reason}`
  return text === undefined || text.trim() === '' ? undefined : clipped(text, maxSummaryLength)
}

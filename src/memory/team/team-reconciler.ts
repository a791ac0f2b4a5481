// Keeps teams in step with the tasks that work in them: an agent whose task has ended is completed, and the team of a
// completed task is closed. Off the critical path: nothing it does, or fails to do, changes a task. Every working
// engine does it for all tasks, whichever engine wrote the end; what is already done is not repeated. Events only cause
// a check, which reads from the ledger what is due.

import type { EngineHost } from '../../actors/engine-host.ts'
import { ErrandError } from '../../core/errors.ts'
import { waitAtMost } from '../../core/signals.ts'
import { clipped } from '../../core/storable-text.ts'
import { nextTurn, Rounds } from '../../core/turns.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { failureSuffix, type TaskRecord } from '../../entities/task.ts'
import type { StintRecord, TeamRecord } from '../../entities/team.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'

/** Changes of a team, each in one step that checks again whether it is due. */
export interface TeamWork {
  /** Completes the agent of a worker that has settled; false when it was already completed. */
  completeAgent(stint: StintRecord, summary: string | undefined): Promise<boolean>
  /** Consolidates the memory of a completed task for good. */
  closeTeam(team: TeamRecord, summary: string | undefined): Promise<void>
}

export type TeamReconcilerHost = TeamWork & Pick<EngineHost, 'clock' | 'feed' | 'report'>

/** Changes read at a time. */
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
  readonly #checks = new Rounds(() => this.#check())
  /** The workers and the team tasks whose change was refused: left out until the retry. */
  readonly #refused = new Set<string>()
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
    void this.#checks.ask()
  }

  /**
   * Resolves when everything that has ended by now is processed: all that this engine has seen, and all that ended in
   * this team; at the latest after `maxWaitMs`. Never rejects.
   */
  async accountFor(teamTaskId: string | undefined): Promise<void> {
    await this.#within(maxWaitMs, teamTaskId === undefined ? this.#checks.pending : this.#checks.ask())
  }

  /** Resolves when everything is processed, or after the timeout. Starts nothing new. */
  async close(timeoutMs: number): Promise<void> {
    this.#unlisten?.()
    await this.#within(timeoutMs, this.#checks.pending)
    this.#givenUp = true
    if (this.#retry !== undefined) this.#host.clock.clearTimeout(this.#retry)
  }

  #onEvent({ type, data }: TaskEvent): void {
    // The events of tasks that are canceled with others do not carry the team.
    const isOurs = data['team'] !== undefined || type === 'task.canceled'
    const isEnd = type === 'task.completed' || type === 'task.canceled' || type === 'task.failed'
    // The last agent has left: a task that was completed before can be closed now.
    if (isOurs && ((isEnd && data['willRetry'] !== true) || type === 'agent.completed')) void this.#checks.ask()
  }

  /** Agents first: the end of the last one makes a team due. What ends meanwhile is left to the next check. */
  async #check(): Promise<void> {
    await this.#applyAll(dueStints)
    await this.#applyAll(dueTeams)
  }

  async #applyAll(read: (tx: Reads, limit: number) => Op<Due[]>): Promise<void> {
    const known = new Set(this.#refused)
    for (let isMore = true; isMore && !this.#givenUp; ) {
      // Those that could not be done are found again, so the page grows by what is known.
      const limit = pageSize + known.size
      await nextTurn()
      const found = await this.#host.feed.read((tx) => read(tx, limit), 'read teams')
      const fresh = (found ?? []).filter((due) => !known.has(idOf(due)))
      for (const due of fresh) {
        if (this.#givenUp) return
        known.add(idOf(due))
        await this.#apply(due)
      }
      isMore = found?.length === limit && fresh.length > 0
    }
  }

  async #apply(due: Due): Promise<void> {
    try {
      if (due.what === 'close a team') await this.#host.closeTeam(due.team, summaryOf(due.task))
      else await this.#host.completeAgent(due.stint, due.task && summaryOf(due.task))
    } catch (error) {
      if (ErrandError.isInstance(error) && doneAlready.has(error.code)) return
      const taskId = idOf(due)
      this.#refused.add(taskId)
      this.#host.report(error, { taskId, doing: due.what })
      this.#retryLater()
    }
  }

  #retryLater(): void {
    if (this.#givenUp) return
    this.#retry ??= this.#host.clock.setTimeout(() => {
      this.#retry = undefined
      this.#refused.clear()
      void this.#checks.ask()
    }, retryAfterMs)
  }

  async #within(timeoutMs: number, work: Promise<void> | undefined): Promise<void> {
    if (work !== undefined) await waitAtMost(this.#host.clock, timeoutMs, work)
  }
}

/** The task whose end a change is about. */
function idOf(due: Due): string {
  return due.what === 'close a team' ? due.task.id : (due.stint.workerId as string)
}

/** Agents whose task has ended, in the order in which it did. */
function* dueStints(tx: Reads, limit: number): Op<Due[]> {
  const due: Array<Extract<Due, { stint: StintRecord }>> = []
  for (const stint of yield* tx.team.abandoned(limit)) {
    due.push({ what: 'complete an agent', stint, task: yield* tx.task.get(stint.workerId as string) })
  }
  return due.sort((a, b) => (a.task?.completedAt ?? 0) - (b.task?.completedAt ?? 0))
}

/** The open teams of completed tasks in which no agent is active: one may still add to the memory. */
function* dueTeams(tx: Reads, limit: number): Op<Due[]> {
  const due: Due[] = []
  for (const { taskId } of yield* tx.team.unclosed(limit)) {
    const task = yield* tx.task.get(taskId)
    const team = yield* tx.team.get(taskId)
    if (task !== undefined && team !== undefined) due.push({ what: 'close a team', task, team })
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

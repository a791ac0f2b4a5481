// Keeps teams in step with the tasks that work in them: an agent whose task has ended is completed, a team whose task is completed is
// closed. Off the critical path: nothing it does, or fails to do, changes a task. Every working engine does it for all, whoever wrote
// the end, and what has been done already is done once.

import { ErrandError } from '../core/errors.ts'
import { waitAtMost } from '../core/signals.ts'
import { clipped } from '../core/storable-text.ts'
import type { TaskEvent } from '../entities/event.ts'
import { failureSuffix, isSettled, type TaskRecord } from '../entities/task.ts'
import type { StintRecord, TeamRecord } from '../entities/team.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import type { EngineHost } from './engine-host.ts'

/** What is done to a team, each in one step that looks again whether it is due. */
export interface TeamWork {
  /** Completes the agent of a worker that has settled; false where there was nothing to complete any more. */
  completeAgent(stint: StintRecord, summary: string | undefined): Promise<boolean>
  /** Consolidates the memory of a completed task for good. */
  closeTeam(team: TeamRecord, summary: string | undefined): Promise<void>
}

export type TeamReconcilerHost = TeamWork & Pick<EngineHost, 'ledger' | 'clock' | 'feed' | 'report'>

/** Tasks that are looked at in one transaction. */
const pageSize = 100
/** A run does not wait any longer for those before it, in milliseconds. */
const maxWaitMs = 10_000
/** What memory refused is tried again after so long, in milliseconds: a model that embeds may be out of reach for a while. */
const retryAfterMs = 30_000
/** Characters of what a task came to, as the agent's summary. */
const maxSummaryLength = 2_000

/** Somebody else was first, or it is not due any more: nothing to tell anybody of. */
const doneAlready: ReadonlySet<string> = new Set(['NOT_ACTIVE', 'AGENTS_ACTIVE', 'NOT_FOUND'])

type Due =
  /** Without the task of a worker that has been purged. */
  | { what: 'complete an agent'; task: TaskRecord | undefined; stint: StintRecord }
  | { what: 'close a team'; task: TaskRecord; team: TeamRecord }

export class TeamReconciler {
  readonly #host: TeamReconcilerHost
  /** Tasks whose end may concern a team. */
  readonly #waiting = new Set<string>()
  /** Who wants to know when what is known by now has been dealt with. */
  readonly #asking: Array<() => void> = []
  #work: Promise<void> | undefined
  #takingUp: Promise<void> | undefined
  #unlisten: (() => void) | undefined
  /** The timer of the next try, after something went wrong. */
  #retry: unknown
  #givenUp = false

  constructor(host: TeamReconcilerHost) {
    this.#host = host
  }

  /** Follows the feed from now on, and takes up what nobody was there for. */
  start(): void {
    this.#unlisten = this.#host.feed.listen((event) => this.#onEvent(event))
    this.#takingUp = this.#takeUp()
  }

  /**
   * Resolves when what has ended by now is accounted for: all that this engine has heard of, and whatever ended in this team; after
   * a while in any case. Never rejects.
   */
  async accountFor(teamTaskId: string | undefined): Promise<void> {
    if (teamTaskId !== undefined) {
      const stints = await this.#read((tx) => tx.team.activeStints(teamTaskId))
      for (const { workerId } of stints ?? []) if (workerId !== null) this.#look(workerId)
    }
    const asked = [this.#takingUp]
    // What ends from now on is not waited for: in a busy engine there is no end of that.
    if (this.#work !== undefined) asked.push(new Promise<void>((resolve) => void this.#asking.push(resolve)))
    await this.#within(maxWaitMs, asked)
  }

  /** Resolves when all is done, or after so long. Nothing is begun any more. */
  async close(timeoutMs: number): Promise<void> {
    this.#unlisten?.()
    await this.#within(timeoutMs, [this.#takingUp, this.#work])
    this.#givenUp = true
    if (this.#retry !== undefined) this.#host.clock.clearTimeout(this.#retry)
  }

  #onEvent({ type, taskId, data }: TaskEvent): void {
    // Of tasks that are canceled with others nothing is said but that they are.
    const isOurs = data['team'] !== undefined || type === 'task.canceled'
    const isEnd = type === 'task.completed' || type === 'task.canceled' || type === 'task.failed'
    // The last agent has left: a task that was completed before can be closed now.
    if (isOurs && ((isEnd && data['willRetry'] !== true) || type === 'agent.completed')) this.#look(taskId)
  }

  #look(taskId: string): void {
    this.#waiting.add(taskId)
    this.#work ??= this.#doAll()
  }

  async #takeUp(): Promise<void> {
    const known = new Set<string>()
    for (let after = 0; !this.#givenUp; ) {
      const found = await this.#read(function* (tx) {
        // What could not be completed is still among them, and hides nothing.
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
        this.#look(id)
      }
      after = found?.teams.at(-1)?.seq ?? after
      await this.#work
    }
    this.#takingUp = undefined
  }

  async #doAll(): Promise<void> {
    // The ends that are told of together are looked at together.
    await Promise.resolve()
    while (this.#waiting.size > 0 && !this.#givenUp) {
      const askedBefore = this.#asking.splice(0)
      const taskIds = [...this.#waiting]
      this.#waiting.clear()
      for (let at = 0; at < taskIds.length; at += pageSize) await this.#settle(taskIds.slice(at, at + pageSize))
      for (const answer of askedBefore) answer()
    }
    this.#work = undefined
    for (const answer of this.#asking.splice(0)) answer()
  }

  /** One after the other, in the order in which the tasks ended; what follows from the end of an agent at once. */
  async #settle(taskIds: readonly string[]): Promise<void> {
    for (const due of (await this.#read((tx) => dueAmong(tx, taskIds))) ?? []) {
      if (this.#givenUp) return
      const teamTaskId = await this.#do(due)
      if (teamTaskId !== undefined) await this.#settle([teamTaskId])
    }
  }

  /** The task of a team that the end of an agent may have made due. */
  async #do(due: Due): Promise<string | undefined> {
    try {
      if (due.what === 'close a team') await this.#host.closeTeam(due.team, summaryOf(due.task))
      else if (await this.#host.completeAgent(due.stint, due.task && summaryOf(due.task))) {
        return due.stint.taskId
      }
    } catch (error) {
      if (ErrandError.isInstance(error) && doneAlready.has(error.code)) return undefined
      const taskId = due.what === 'close a team' ? due.task.id : (due.stint.workerId as string)
      this.#host.report(error, { taskId, doing: due.what })
      this.#tryAgain()
    }
    return undefined
  }

  /** Nothing else would tell of it before the next engine opens. */
  #tryAgain(): void {
    if (this.#givenUp) return
    this.#retry ??= this.#host.clock.setTimeout(() => {
      this.#retry = undefined
      this.#takingUp ??= this.#takeUp()
    }, retryAfterMs)
  }

  async #read<R>(query: (tx: Reads) => Op<R>): Promise<R | undefined> {
    try {
      return await this.#host.ledger.read(query)
    } catch (error) {
      this.#host.report(error, { doing: 'look after teams' })
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
    // Who has a team, or works in one, says so in its own row: the end of any other costs no more than this look.
    if (task !== undefined && (task.policy.team === undefined || !isSettled(task.status))) continue
    const stint = yield* tx.team.stintOfWorker(taskId)
    if (stint !== undefined) due.push({ what: 'complete an agent', task, stint })
    if (task?.status !== 'completed') continue
    const team = yield* tx.team.get(taskId)
    if (team === undefined || team.closedAt !== null) continue
    // An agent that is still at work will have something to add. Its end is heard of.
    if ((yield* tx.team.activeStints(taskId)).length === 0) due.push({ what: 'close a team', task, team })
  }
  return due
}

/** What a task came to, in a few words; undefined where it said nothing. */
function summaryOf({ status, result, error, statusReason }: TaskRecord): string | undefined {
  const said = result === null ? undefined : typeof result === 'string' ? result : JSON.stringify(result)
  const reason = statusReason === null ? '' : `: ${statusReason}`
  const text =
    status === 'completed' ? said : `${status}${status === 'failed' ? failureSuffix(error?.message) : reason}`
  return text === undefined || text.trim() === '' ? undefined : clipped(text, maxSummaryLength)
}

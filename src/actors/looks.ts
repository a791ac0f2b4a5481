// When an engine reads what is due and what is ready: after each change, unless an admission in the same commit has read it.
import type { TaskEvent } from '../entities/event.ts'
import { all } from '../ledger/ledger.ts'
import type { Admitted } from '../steps/admit.ts'
import type { Admission } from './admission.ts'
import type { EngineHost } from './engine-host.ts'
import type { Maintenance } from './maintenance.ts'

export interface LooksHost extends EngineHost {
  readonly admission: Pick<Admission, 'admit' | 'freeExecutors' | 'trees'>
  readonly maintenance: Pick<Maintenance, 'arm'>
  readonly stopped: AbortSignal
  /** Called at the end of each turn in which something has changed, before the look. */
  changed(): void
}

export class Looks {
  readonly #host: LooksHost
  #isWoken = false
  /** Something may be due or ready of which no admission knows. */
  #isDue = false
  /** Steps of this engine have changed something since an admission has seen all that its commit writes. */
  #isDueByOwn = false
  /** Tasks of other engines that were created in this turn and not started. */
  readonly #createdByOthers = new Set<string>()
  #count = 0
  /** The number of the look that has armed the timer. Those before it may have read less. */
  #armedBy = 0

  constructor(host: LooksHost) {
    this.#host = host
  }

  /** The number of looks that have begun so far, those of admissions included. */
  get count(): number {
    return this.#count
  }

  /** Something may have become due or ready. */
  wake(): void {
    this.#isDue = true
    this.#wakeAfterTurn()
  }

  /** Something may have become due or ready by a step of this engine: an admission in its commit would know. */
  wakeByOwn(): void {
    this.#isDueByOwn = true
    this.#wakeAfterTurn()
  }

  /**
   * Called for each event of another engine. Most tasks start in the commit that creates them, which leaves nothing for this engine: what is
   * due at their time is read at its next look, and by the engine that runs them.
   */
  wakeByOther({ type, taskId }: TaskEvent): void {
    if (type === 'task.created') this.#createdByOthers.add(taskId)
    else if (type === 'task.started') this.#createdByOthers.delete(taskId)
    else this.#isDue = true
    this.#wakeAfterTurn()
  }

  /**
   * Called with the result of each admission; `count` was that of the looks when it was decided. A look that has begun since may know what
   * other engines have written, but not what the commit of the admission has: then neither counts as the latest, and a new one follows.
   */
  noteAdmitted({ nextDue }: Admitted, count: number): void {
    if (nextDue === null || count !== this.#count) return
    this.#isDueByOwn = false
    this.#arm(nextDue, ++this.#count)
  }

  #wakeAfterTurn(): void {
    if (this.#isWoken || this.#host.stopped.aborted) return
    this.#isWoken = true
    queueMicrotask(() => {
      const isDue = this.#isDue || this.#isDueByOwn || this.#createdByOthers.size > 0
      this.#createdByOthers.clear()
      this.#isWoken = this.#isDue = this.#isDueByOwn = false
      this.#host.changed()
      if (isDue && this.#host.actors.isWorking) void this.#look()
    })
  }

  async #look(): Promise<void> {
    const { ledger, instanceId, executors, report, admission } = this.#host
    const free = admission.freeExecutors()
    const { trees } = admission
    const own = { instanceId, executors: [...executors.keys()] }
    const number = ++this.#count
    try {
      const [due, isAnyReady] = await ledger.read((tx) =>
        all([tx.task.nextDue(own), tx.task.anyReady(free.all, free.named, trees)]),
      )
      this.#arm(due, number)
      if (isAnyReady) admission.admit()
    } catch (error) {
      // Maintenance wakes the supervisor again soon.
      report(error, { doing: 'check for work' })
    }
  }

  #arm(dueAt: number | undefined, number: number): void {
    if (number < this.#armedBy) return
    this.#armedBy = number
    this.#host.maintenance.arm(dueAt)
  }
}

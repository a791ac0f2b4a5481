// Which step of a group may go on: the rows that each has taken, what must be locked before it reads them, and for which steps it waits. The
// result is that of the steps one after the other.
import type { Request } from '../statement.ts'
import { StatementFailed } from './client.ts'
import { boardKey, concernOf, idsAt, keyPrefix, namesOf } from './concerns.ts'
import { type LedgerLocks, type WideLock, wideLocks } from './ledger-locks.ts'
import { BeginsAgain, OutOfOrder, RunsAlone } from './wave-errors.ts'
import type { Send } from './wave-flight.ts'
import type { WaveStep } from './wave-step.ts'

/** What is locked in the first flight, because it was needed before. */
export interface Learned {
  /** What earlier attempts of this group have locked. */
  readonly rows: Iterable<string>
  readonly keys: Iterable<string>
  readonly wide: Iterable<WideLock>
  readonly habits: Habits
}

/** By lock: the names of steps that have needed it, of all groups. This one adds to them. */
export type Habits = Readonly<Record<(typeof habitual)[number], Set<string>>>
const habitual = ['limits', 'creation', 'claims'] as const

export class RowLocks {
  readonly #steps: readonly WaveStep[]
  /** By id, or key with a prefix. */
  readonly #owners = new Map<string, WaveStep>()
  /** By name: the places of the steps that have read a branch. Several may. */
  readonly #readers = new Map<string, Set<number>>()
  readonly #locked = new Set<string>()
  readonly #habits: Habits
  readonly #wide: Set<WideLock>
  #isOpen = false
  /** Rows and keys to be locked in the next flight. */
  #toLock: Set<string>
  #keysToLock: Set<string>
  #tried: Promise<unknown[]> | undefined

  constructor(steps: readonly WaveStep[], { rows, keys, wide, habits }: Learned) {
    this.#steps = steps
    this.#toLock = new Set(rows)
    this.#keysToLock = new Set(keys)
    this.#habits = habits
    this.#wide = new Set(wide)
    for (const lock of habitual) {
      if (steps.some(({ name }) => habits[lock].has(name))) this.#wide.add(lock)
    }
  }

  /** The keys that were taken. */
  get keys(): string[] {
    return [...this.#owners.keys()].flatMap((id) => (id.startsWith(keyPrefix) ? [id.slice(keyPrefix.length)] : []))
  }

  /** The ids of all tasks that were taken. */
  get tasks(): string[] {
    return [...this.#owners.keys()].filter((id) => !id.startsWith(keyPrefix))
  }

  /** After a flight. @throws StatementFailed if another process holds one of the keys that it asked for */
  async requireKeys(): Promise<void> {
    const tried = (await this.#tried) as ReadonlyArray<{ taken: boolean }> | undefined
    this.#tried = undefined
    if (tried?.every(({ taken }) => taken) === false)
      throw StatementFailed.met('another process looks for the same key')
  }

  /** What the one step has taken, the other has. */
  replace(step: WaveStep, by: WaveStep): void {
    for (const [name, owner] of this.#owners) if (owner === step) this.#owners.set(name, by)
  }

  /** Sends the locks that the next requests need. Later flights do not wait for keys and rows: they hold some for which others may wait. */
  lock(locks: LedgerLocks, send: Send, isFirst: boolean): void {
    if (isFirst) for (const lock of wideLocks) if (this.#wide.has(lock)) void send(...locks.wide[lock])
    this.#isOpen = true
    const keys = [...this.#keysToLock]
    if (keys.length > 0 && isFirst) void send(...locks.keys(keys))
    else if (keys.length > 0) this.#tried = send(...locks.tryKeys(keys))
    if (this.#toLock.size > 0) void send(locks.rows(isFirst), [[...this.#toLock]])
    for (const id of this.#toLock) this.#locked.add(id)
    for (const key of this.#keysToLock) this.#locked.add(keyPrefix + key)
    this.#toLock = new Set()
    this.#keysToLock = new Set()
  }

  /** Whether a deferred write may be kept now. */
  accepts(step: WaveStep, write: Request): boolean {
    const { of, places } = concernOf(write)
    if (write.appends === 'unseen') throw new RunsAlone(step.at)
    if (of === 'unshared') return true
    if (of === 'calls') return this.#ownsCalls(step, write, places)
    if (of === 'board' && idsAt(write, places).every((name) => this.#locked.has(boardKey(name)))) return true
    if (of === 'keys' && namesOf(write).every((name) => this.#locked.has(name))) return this.#own(step, namesOf(write))
    if (of !== 'tasks') throw new RunsAlone(step.at)
    const { inserts, byKey, changes } = write.statement ?? {}
    const isNew = inserts === 'task'
    if (inserts === 'call' && byKey !== undefined) step.calls.add((write.values as { id: string }).id)
    if (isNew) {
      step.createsTasks = true
      this.#need('creation', step)
    }
    const ids = idsAt(write, places)
    // A row that was judged before it was locked may have changed.
    const isOfRow = changes === 'task' || changes === 'board_task'
    if (isOfRow && byKey !== undefined && !ids.every((id) => this.#locked.has(id))) throw new RunsAlone(step.at)
    if (changes === 'branch' && !this.#ownBranch(step, write, ids)) return false
    return this.#ownParents(step, write) && this.#lockTasks(step, ids, isNew)
  }

  /** The branch of a task is changed by a step that has locked the task; such a step reads the branch after that. */
  #ownBranch(step: WaveStep, { values }: Request, tasks: readonly string[]): boolean {
    if (!tasks.every((id) => this.#locked.has(id) && this.#owners.get(id) === step)) throw new RunsAlone(step.at)
    return this.#own(step, [keyPrefix + (values as { name: string }).name])
  }

  /**
   * What is written to a child changes what is read about the children of its parent, at once: the writes of a transaction are visible to
   * all of its steps. An earlier step must not see those of a later one.
   */
  #ownParents(step: WaveStep, request: Request): boolean {
    const { statement } = request
    if (statement?.changes !== 'task') return true
    const { places } = concernOf(request)
    return this.#own(
      step,
      idsAt(request, places).flatMap((id) => step.parents.get(id) ?? []),
    )
  }

  /** Whether all of these requests may be sent now. Names are taken for all of them, or for none. */
  mayRead(step: WaveStep, requests: readonly Request[]): boolean {
    if (requests.length > 1 && !this.#areFree(step, requests.flatMap(namesOf))) return false
    return requests.every((request) => this.#mayRead(step, request))
  }

  #mayRead(step: WaveStep, request: Request): boolean {
    const { of, places } = concernOf(request)
    switch (of) {
      case 'all':
        throw new RunsAlone(step.at)
      case 'unshared':
        return true
      case 'tasks':
        return this.#ownParents(step, request) && this.#lockTasks(step, idsAt(request, places), false)
      case 'calls':
        return this.#ownsCalls(step, request, places)
      case 'keys':
        return this.#lockKeys(step, namesOf(request))
      case 'branches':
        return this.#share(step, namesOf(request))
      case 'heads':
      case 'queue':
      case 'limits':
        step.isBarrier = true
        if (of === 'limits') this.#need('limits', step)
        return (step.mayReadEarly && this.#mayReadBeside(step)) || this.#isAloneNow(step)
      default:
        return this.#mayReadAny(step, request)
    }
  }

  /** Boards, observations, and lists of any tasks: read when the steps before this one have ended, and before the steps after it begin. */
  #mayReadAny(step: WaveStep, request: Request): boolean {
    const { of, places } = concernOf(request)
    step.isBarrier = true
    if (of === 'claimable') this.#need('claims', step)
    if (of === 'numbering') this.#need('numbering', step)
    if (!this.#isAloneNow(step)) return false
    if (of === 'board' || of === 'numbering') return this.#lockKeys(step, idsAt(request, places).map(boardKey))
    return of !== 'neighbours' || this.#lockTasks(step, idsAt(request, places), false)
  }

  /** @throws BeginsAgain */
  #need(lock: WideLock, step: WaveStep): void {
    if (lock !== 'numbering') this.#habits[lock].add(step.name)
    const isHeld = this.#wide.has(lock)
    this.#wide.add(lock)
    if (!isHeld && this.#isOpen) throw new BeginsAgain(lock)
  }

  /** Whether all steps before this one have ended, or have written and wait for replies, which may be the last; none after it has begun. */
  #mayReadBeside(step: WaveStep): boolean {
    return this.#steps.every((each) => {
      if (each.at < step.at) return each.isDone || (each.isSent && each.waiting.length > 0)
      return each === step || !each.isStarted
    })
  }

  /** Whether all steps before this one have ended, and none after it has begun. */
  #isAloneNow(step: WaveStep): boolean {
    const later = this.#steps.slice(step.at + 1).find((each) => each.isStarted)
    if (later !== undefined) throw new OutOfOrder(later.at)
    return this.#steps.slice(0, step.at).every((each) => each.isDone)
  }

  /** Tasks are numbered in the order of their steps: those before it that may create any have sent theirs. */
  mayNumber(step: WaveStep): boolean {
    if (!step.createsTasks) return true
    const later = this.#steps.slice(step.at + 1).find((each) => each.hasNumberedTasks)
    if (later !== undefined) throw new OutOfOrder(later.at)
    return this.#steps
      .slice(0, step.at)
      .every((each) => each.isDone || each.hasNumberedTasks || !this.#habits.creation.has(each.name))
  }

  /** Journal entries belong to tasks of the step: known ones, or one that is about to be read. */
  #ownsCalls(step: WaveStep, { parameters, want, statement }: Request, places: readonly number[]): boolean {
    const isRead = want === 'rows' && statement?.byKey !== undefined
    const isOwn = places.every((place) => step.calls.has(parameters[place] as string))
    if (!isOwn && !(isRead && step.ownsTasks)) throw new RunsAlone(step.at)
    return true
  }

  #lockTasks(step: WaveStep, ids: readonly string[], areNew: boolean): boolean {
    if (!this.#own(step, ids)) return false
    if (ids.length > 0) step.ownsTasks = true
    for (const id of ids) {
      if (areNew) this.#locked.add(id)
      else if (!this.#locked.has(id)) this.#toLock.add(id)
    }
    return true
  }

  #lockKeys(step: WaveStep, names: readonly string[]): boolean {
    if (!this.#own(step, names)) return false
    for (const name of names) if (!this.#locked.has(name)) this.#keysToLock.add(name.slice(keyPrefix.length))
    return true
  }

  #own(step: WaveStep, names: readonly string[]): boolean {
    if (!this.#areFree(step, names)) return false
    const readers = this.#steps.filter(({ at }) => names.some((name) => this.#readers.get(name)?.has(at)))
    const later = readers.find(({ at }) => at > step.at)
    if (later !== undefined) throw new OutOfOrder(later.at)
    // What a flight writes is there before what it reads.
    if (readers.some(({ at, isDone }) => at < step.at && !isDone)) return false
    for (const name of names) this.#owners.set(name, step)
    return true
  }

  #share(step: WaveStep, names: readonly string[]): boolean {
    if (!this.#areFree(step, names)) return false
    for (const name of names) this.#readers.set(name, (this.#readers.get(name) ?? new Set()).add(step.at))
    return true
  }

  #areFree(step: WaveStep, names: readonly string[]): boolean {
    for (const name of names) {
      const owner = this.#owners.get(name)
      if (owner === undefined || owner === step) continue
      if (owner.at > step.at) throw new OutOfOrder(owner.at)
      if (!owner.isDone) return false
    }
    return true
  }

  /** Notes what a step has learned about its rows. @throws RunsAlone */
  noteReplies(step: WaveStep): void {
    // They may be rows of steps before it, until these have ended.
    if (step.readAfter !== undefined) return
    for (const [request, reply] of step.takeReplies()) this.#noteReply(step, request, reply)
  }

  #noteReply(step: WaveStep, request: Request, reply: unknown): void {
    const { of } = concernOf(request)
    if (!Array.isArray(reply)) return
    for (const { id, taskId, parentId } of reply as Array<Record<'id' | 'taskId' | 'parentId', unknown>>) {
      if (typeof id === 'string' && typeof parentId === 'string') step.parents.set(id, parentId)
      if (of === 'heads' && typeof id === 'string') {
        this.#locked.add(id)
        this.#owners.set(id, step)
        step.ownsTasks = true
      }
      if (typeof id !== 'string' || typeof taskId !== 'string') continue
      if (this.#owners.get(taskId) === step) step.calls.add(id)
      else if (of === 'calls') throw new RunsAlone(step.at)
    }
  }
}

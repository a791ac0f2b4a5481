// Which step of a group may go on: the rows that each has claimed, what must be locked before it reads them, and for which steps it waits. The
// result is that of the steps one after the other.
import type { Request } from '../statement.ts'
import { StatementFailed } from './client.ts'
import { boardKey, concernOf, idsAt, keyPrefix, namesOf } from './concerns.ts'
import { type LedgerLocks, type WideLock, wideLocks } from './ledger-locks.ts'
import { BeginsAgain, OutOfOrder, RunsAlone } from './wave-errors.ts'
import type { Send } from './wave-flight.ts'
import type { Lane } from './wave-lane.ts'

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

export class WaveClaims {
  readonly #lanes: readonly Lane[]
  /** By id, or key with a prefix. */
  readonly #owners = new Map<string, Lane>()
  /** By name: the places of the lanes that have read a branch. Several may. */
  readonly #readers = new Map<string, Set<number>>()
  readonly #locked = new Set<string>()
  readonly #habits: Habits
  readonly #wide: Set<WideLock>
  #isOpen = false
  /** Rows and keys to be locked in the next flight. */
  #toLock: Set<string>
  #keysToLock: Set<string>
  #tried: Promise<unknown[]> | undefined

  constructor(lanes: readonly Lane[], { rows, keys, wide, habits }: Learned) {
    this.#lanes = lanes
    this.#toLock = new Set(rows)
    this.#keysToLock = new Set(keys)
    this.#habits = habits
    this.#wide = new Set(wide)
    for (const lock of habitual) {
      if (lanes.some(({ name }) => habits[lock].has(name))) this.#wide.add(lock)
    }
  }

  /** The keys that were claimed. */
  get keys(): string[] {
    return [...this.#owners.keys()].flatMap((id) => (id.startsWith(keyPrefix) ? [id.slice(keyPrefix.length)] : []))
  }

  /** The ids of all tasks that were claimed. */
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

  /** What the one lane has claimed, the other has. */
  replace(lane: Lane, by: Lane): void {
    for (const [name, owner] of this.#owners) if (owner === lane) this.#owners.set(name, by)
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
  accepts(lane: Lane, write: Request): boolean {
    const { of, places } = concernOf(write)
    if (write.appends === 'unseen') throw new RunsAlone(lane.at)
    if (of === 'unshared') return true
    if (of === 'calls') return this.#ownsCalls(lane, write, places)
    if (of === 'board' && idsAt(write, places).every((name) => this.#locked.has(boardKey(name)))) return true
    if (of === 'keys' && namesOf(write).every((name) => this.#locked.has(name))) return this.#own(lane, namesOf(write))
    if (of !== 'tasks') throw new RunsAlone(lane.at)
    const { inserts, byKey, changes } = write.statement ?? {}
    const isNew = inserts === 'task'
    if (inserts === 'call' && byKey !== undefined) lane.calls.add((write.values as { id: string }).id)
    if (isNew) {
      lane.createsTasks = true
      this.#need('creation', lane)
    }
    const ids = idsAt(write, places)
    // A row that was judged before it was locked may have changed.
    const isOfRow = changes === 'task' || changes === 'board_task'
    if (isOfRow && byKey !== undefined && !ids.every((id) => this.#locked.has(id))) throw new RunsAlone(lane.at)
    if (changes === 'branch' && !this.#ownBranch(lane, write, ids)) return false
    return this.#ownParents(lane, write) && this.#claim(lane, ids, isNew)
  }

  /** The branch of a task is changed by a step that has locked the task; such a step reads the branch after that. */
  #ownBranch(lane: Lane, { values }: Request, tasks: readonly string[]): boolean {
    if (!tasks.every((id) => this.#locked.has(id) && this.#owners.get(id) === lane)) throw new RunsAlone(lane.at)
    return this.#own(lane, [keyPrefix + (values as { name: string }).name])
  }

  /**
   * What is written to a child changes what is read about the children of its parent, at once: the writes of a transaction are visible to
   * all of its steps. An earlier step must not see those of a later one.
   */
  #ownParents(lane: Lane, request: Request): boolean {
    const { statement } = request
    if (statement?.changes !== 'task') return true
    const { places } = concernOf(request)
    return this.#own(
      lane,
      idsAt(request, places).flatMap((id) => lane.parents.get(id) ?? []),
    )
  }

  /** Whether all of these requests may be sent now. Names are claimed for all of them, or for none. */
  mayRead(lane: Lane, requests: readonly Request[]): boolean {
    if (requests.length > 1 && !this.#areFree(lane, requests.flatMap(namesOf))) return false
    return requests.every((request) => this.#mayRead(lane, request))
  }

  #mayRead(lane: Lane, request: Request): boolean {
    const { of, places } = concernOf(request)
    switch (of) {
      case 'all':
        throw new RunsAlone(lane.at)
      case 'unshared':
        return true
      case 'tasks':
        return this.#ownParents(lane, request) && this.#claim(lane, idsAt(request, places), false)
      case 'calls':
        return this.#ownsCalls(lane, request, places)
      case 'keys':
        return this.#claimKeys(lane, namesOf(request))
      case 'branches':
        return this.#share(lane, namesOf(request))
      case 'heads':
      case 'queue':
      case 'limits':
        lane.isBarrier = true
        if (of === 'limits') this.#need('limits', lane)
        return (lane.mayReadEarly && this.#mayReadBeside(lane)) || this.#isAloneNow(lane)
      default:
        return this.#mayReadAny(lane, request)
    }
  }

  /** Boards, observations, and lists of any tasks: read when the steps before this one have ended, and before the steps after it begin. */
  #mayReadAny(lane: Lane, request: Request): boolean {
    const { of, places } = concernOf(request)
    lane.isBarrier = true
    if (of === 'claimable') this.#need('claims', lane)
    if (of === 'numbering') this.#need('numbering', lane)
    if (!this.#isAloneNow(lane)) return false
    if (of === 'board' || of === 'numbering') return this.#claimKeys(lane, idsAt(request, places).map(boardKey))
    return of !== 'neighbours' || this.#claim(lane, idsAt(request, places), false)
  }

  /** @throws BeginsAgain */
  #need(lock: WideLock, lane: Lane): void {
    if (lock !== 'numbering') this.#habits[lock].add(lane.name)
    const isHeld = this.#wide.has(lock)
    this.#wide.add(lock)
    if (!isHeld && this.#isOpen) throw new BeginsAgain(lock)
  }

  /** Whether all lanes before this one have ended, or have written and wait for replies, which may be the last; none after it has begun. */
  #mayReadBeside(lane: Lane): boolean {
    return this.#lanes.every((each) => {
      if (each.at < lane.at) return each.isDone || (each.isSent && each.waiting.length > 0)
      return each === lane || !each.isStarted
    })
  }

  /** Whether all lanes before this one have ended, and none after it has begun. */
  #isAloneNow(lane: Lane): boolean {
    const later = this.#lanes.slice(lane.at + 1).find((each) => each.isStarted)
    if (later !== undefined) throw new OutOfOrder(later.at)
    return this.#lanes.slice(0, lane.at).every((each) => each.isDone)
  }

  /** Tasks are numbered in the order of their steps: those before it that may create any have sent theirs. */
  mayNumber(lane: Lane): boolean {
    if (!lane.createsTasks) return true
    const later = this.#lanes.slice(lane.at + 1).find((each) => each.hasNumberedTasks)
    if (later !== undefined) throw new OutOfOrder(later.at)
    return this.#lanes
      .slice(0, lane.at)
      .every((each) => each.isDone || each.hasNumberedTasks || !this.#habits.creation.has(each.name))
  }

  /** Journal entries belong to tasks of the lane: known ones, or one that is about to be read. */
  #ownsCalls(lane: Lane, { parameters, want, statement }: Request, places: readonly number[]): boolean {
    const isRead = want === 'rows' && statement?.byKey !== undefined
    const isOwn = places.every((place) => lane.calls.has(parameters[place] as string))
    if (!isOwn && !(isRead && lane.ownsTasks)) throw new RunsAlone(lane.at)
    return true
  }

  #claim(lane: Lane, ids: readonly string[], areNew: boolean): boolean {
    if (!this.#own(lane, ids)) return false
    if (ids.length > 0) lane.ownsTasks = true
    for (const id of ids) {
      if (areNew) this.#locked.add(id)
      else if (!this.#locked.has(id)) this.#toLock.add(id)
    }
    return true
  }

  #claimKeys(lane: Lane, names: readonly string[]): boolean {
    if (!this.#own(lane, names)) return false
    for (const name of names) if (!this.#locked.has(name)) this.#keysToLock.add(name.slice(keyPrefix.length))
    return true
  }

  #own(lane: Lane, names: readonly string[]): boolean {
    if (!this.#areFree(lane, names)) return false
    const readers = this.#lanes.filter(({ at }) => names.some((name) => this.#readers.get(name)?.has(at)))
    const later = readers.find(({ at }) => at > lane.at)
    if (later !== undefined) throw new OutOfOrder(later.at)
    // What a flight writes is there before what it reads.
    if (readers.some(({ at, isDone }) => at < lane.at && !isDone)) return false
    for (const name of names) this.#owners.set(name, lane)
    return true
  }

  #share(lane: Lane, names: readonly string[]): boolean {
    if (!this.#areFree(lane, names)) return false
    for (const name of names) this.#readers.set(name, (this.#readers.get(name) ?? new Set()).add(lane.at))
    return true
  }

  #areFree(lane: Lane, names: readonly string[]): boolean {
    for (const name of names) {
      const owner = this.#owners.get(name)
      if (owner === undefined || owner === lane) continue
      if (owner.at > lane.at) throw new OutOfOrder(owner.at)
      if (!owner.isDone) return false
    }
    return true
  }

  /** Notes what a lane has learned about its rows. @throws RunsAlone */
  noteReplies(lane: Lane): void {
    // They may be rows of steps before it, until these have ended.
    if (lane.readAfter !== undefined) return
    for (const [request, reply] of lane.takeReplies()) this.#noteReply(lane, request, reply)
  }

  #noteReply(lane: Lane, request: Request, reply: unknown): void {
    const { of } = concernOf(request)
    if (!Array.isArray(reply)) return
    for (const { id, taskId, parentId } of reply as Array<Record<'id' | 'taskId' | 'parentId', unknown>>) {
      if (typeof id === 'string' && typeof parentId === 'string') lane.parents.set(id, parentId)
      if (of === 'heads' && typeof id === 'string') {
        this.#locked.add(id)
        this.#owners.set(id, lane)
        lane.ownsTasks = true
      }
      if (typeof id !== 'string' || typeof taskId !== 'string') continue
      if (this.#owners.get(taskId) === lane) lane.calls.add(id)
      else if (of === 'calls') throw new RunsAlone(lane.at)
    }
  }
}

// One flight of a group: what its steps write and ask for, merged, and sent without waiting for any reply in between.
import type { Request } from '../statement.ts'
import { StatementFailed } from './client.ts'
import { concernOf, idsAt } from './concerns.ts'
import { manyReads, manyWrites, type Reply, readKey } from './merged-statements.ts'
import type { ServerConnection } from './server-connection.ts'
import type { WaveStep } from './wave-step.ts'

/** Sends a statement of the flight; its rows. */
export type Send = (sql: string, parameters?: unknown[]) => Promise<unknown[]>

interface Write {
  step: WaveStep
  request: Request
}

interface Batch {
  sql: string
  writes: Write[]
  /** The ids of the rows that it writes by key: a second write to one needs a batch of its own. */
  keys: Set<string>
}

export class Flight {
  readonly #connection: ServerConnection
  readonly #batches: Batch[] = []
  readonly #reads: Write[] = []
  readonly #replies: Array<Promise<unknown>> = []
  /** The first batch that may write to a task: behind what was written to it before. */
  readonly #floors = new Map<string, number>()
  /** By step: the batch of its last write that is about no task in particular, and of its latest write. */
  readonly #ownFloors = new Map<WaveStep, { floor: number; latest: number }>()

  /** The batch of the latest new task: tasks are numbered in the order in which they are added. */
  #taskFloor = 0
  readonly #locksHeads: boolean

  constructor(connection: ServerConnection, { locksHeads }: { locksHeads: boolean }) {
    this.#connection = connection
    this.#locksHeads = locksHeads
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0 && this.#reads.length === 0
  }

  /** Into the first batch of the same statement that comes after what the step has written to the same tasks. */
  addWrite(step: WaveStep, request: Request): void {
    const { statement, parameters } = request
    const subjects = subjectsOf(request)
    const own = this.#ownFloors.get(step) ?? { floor: 0, latest: 0 }
    this.#ownFloors.set(step, own)
    // A write about no task in particular keeps its place among all writes of the step.
    let floor = subjects.length === 0 ? own.latest : own.floor
    for (const each of subjects) floor = Math.max(floor, this.#floors.get(each) ?? 0)
    const numbersTask = statement?.wantsSeq === true && statement.inserts === 'task'
    if (numbersTask) floor = Math.max(floor, this.#taskFloor)
    const key = statement?.inserts
      ? undefined
      : JSON.stringify(
          statement?.byKey?.places.map((at) => parameters[at]) ?? (subjects.length > 0 ? subjects : parameters),
        )
    let at = this.#batches.findIndex(
      (batch, index) => index >= floor && batch.sql === request.sql && (key === undefined || !batch.keys.has(key)),
    )
    if (at === -1) at = this.#batches.push({ sql: request.sql, writes: [], keys: new Set() }) - 1
    const batch = this.#batches[at] as Batch
    batch.writes.push({ step, request })
    if (key !== undefined) batch.keys.add(key)
    own.latest = Math.max(own.latest, at)
    if (numbersTask) this.#taskFloor = at
    if (subjects.length === 0) own.floor = at
    for (const each of subjects) this.#floors.set(each, at)
  }

  addRead(step: WaveStep, request: Request): void {
    this.#reads.push({ step, request })
  }

  /** Resolves when all replies are there. @throws StatementFailed */
  async send(first: (send: Send) => void, last = first): Promise<void> {
    this.#connection.flight(() => {
      first((sql, parameters) => this.#send(sql, parameters))
      for (const batch of this.#batches) this.#sendBatch(batch)
      for (const reads of Map.groupBy(this.#reads, ({ request }) => readKey(request)).values()) this.#sendReads(reads)
      if (last !== first) last((sql, parameters) => this.#send(sql, parameters))
    })
    const settled = await Promise.allSettled(this.#replies)
    const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as StatementFailed] : []))
    // After the first failure the server refuses all that follow.
    const failure = failures.find(({ sqlState }) => sqlState !== '25P02') ?? failures[0]
    if (failure !== undefined) throw failure
  }

  #send(sql: string, parameters?: unknown[]): Promise<unknown[]> {
    const reply = this.#connection.query(sql, parameters).then(
      ({ rows }) => rows,
      (error: unknown) => {
        throw new StatementFailed(error)
      },
    )
    this.#replies.push(reply)
    return reply
  }

  #sendBatch({ writes }: Batch): void {
    const requests = writes.map(({ request }) => request)
    const many = requests.length > 1 ? manyWrites(requests) : undefined
    if (many === undefined) {
      for (const write of writes) this.#sendOne(write)
      return
    }
    const replied = this.#send(many.sql, many.parameters).then((rows) => {
      for (const [at, reply] of many.repliesOf(rows).entries()) answer(writes[at] as Write, reply)
    })
    this.#replies.push(replied)
  }

  #sendReads(reads: Write[]): void {
    if (reads.length === 1 || this.#locks(reads[0] as Write)) {
      for (const read of reads) this.#sendOne(read)
      return
    }
    const many = manyReads(reads.map(({ request }) => request))
    const replied = this.#send(many.sql, many.parameters).then((rows) => {
      for (const [at, reply] of many.repliesOf(rows).entries()) answer(reads[at] as Write, reply)
    })
    this.#replies.push(replied)
  }

  #locks({ request }: Write): boolean {
    return this.#locksHeads && concernOf(request).of === 'heads'
  }

  #sendOne(write: Write): void {
    const { sql, parameters } = write.request
    const locking = this.#locks(write) ? ' for no key update skip locked' : ''
    const replied = this.#connection.query(sql + locking, [...parameters]).then(
      ({ rows, affectedRows }) => answer(write, { rows, changes: affectedRows }),
      (error: unknown) => {
        throw new StatementFailed(error)
      },
    )
    this.#replies.push(replied)
  }
}

/** The tasks that a write concerns; none if it is about others. */
function subjectsOf(request: Request): string[] {
  const { of, places } = concernOf(request)
  return of === 'tasks' ? idsAt(request, places) : []
}

/** Rows that a list found in no task of the step are not known to it: they are not locked, and are read again before they are judged. */
function isOfRow(request: Request): boolean {
  const { of } = concernOf(request)
  return of !== 'overdue' && (request.records !== 'task' || request.statement?.byKey !== undefined || of === 'heads')
}

function answer({ step, request }: Write, { rows, changes }: Reply): void {
  const { want } = request
  const reply = want === 'rows' ? rows : want === 'seq' ? (rows[0] as { seq: number } | undefined)?.seq : changes
  if (isOfRow(request)) step.buffer.noteReply(request, reply)
  step.noteReply(request, reply)
}

// All data of the open task, kept current: it is read again when an event concerns it, and the live output of its run is followed.

import { batch, signal } from '@preact/signals'
import { LiveText } from '../model/conversation.ts'
import { latest, type OutputPiece, pieceIn, unstored } from '../model/output.ts'
import { atMostEvery, type FrameClock } from '../model/throttle.ts'
import type {
  Call,
  EventPage,
  Fact,
  FactPage,
  Message,
  Problem,
  RunRecord,
  ShownTask,
  StreamItem,
  TaskEvent,
  TaskMachine,
  TaskRowsPage,
  TeamContext,
  Why,
} from '../model/wire.ts'
import { type ApiClient, ApiError, isLostPosition, problemOf } from './api-client.ts'
import { followSource, type SourceTimers } from './event-source.ts'

const readEveryMs = 300
const pageSize = 1_000
const factsPerPage = 20
const maxForks = 50

type Page<Name extends string, Row> = { [N in Name]: Row[] } & { next: number | null }

/** Reads all pages, because rows of earlier pages may have changed. */
async function readPages<Name extends string, Row>(
  read: (query: object) => Promise<Page<Name, Row>>,
  name: Name,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let after: number | null = 0; after !== null; ) {
    const page: Page<Name, Row> = await read({ after, limit: pageSize })
    rows.push(...page[name])
    after = page.next
  }
  return rows
}

export class TaskSession {
  readonly id: string
  readonly shown = signal<ShownTask | null>(null)
  readonly why = signal<Why | null>(null)
  readonly runs = signal<RunRecord[]>([])
  readonly calls = signal<Call[]>([])
  readonly messages = signal<Message[]>([])
  readonly events = signal<TaskEvent[]>([])
  /** Ids of the tasks that were forked from it, as many as are shown. */
  readonly forks = signal<string[]>([])
  /** Null for a task without a machine. */
  readonly machine = signal<TaskMachine | null>(null)
  readonly team = signal<TeamContext | null>(null)
  /** Newest first, as many as have been requested. */
  readonly facts = signal<Fact[]>([])
  /** Position of older facts; null if all are loaded. */
  readonly olderFacts = signal<number | null>(null)
  /** Why the task, or a part of it, cannot be shown. */
  readonly problem = signal<Problem | null>(null)
  /** Unfinished messages, by id. */
  readonly liveTexts = signal<LiveText['texts']>(new Map())
  /** Output that the events do not have. */
  readonly liveOutput = signal<OutputPiece[]>([])
  readonly #live = new LiveText()
  readonly #api: ApiClient
  readonly #clock: FrameClock & SourceTimers
  readonly #closed = new AbortController()
  readonly #readSoon: () => void
  #closeStream: () => void = () => {}
  #streaming = false
  #reading: Promise<void> | undefined
  #queued: Promise<void> | undefined
  #lastMessage = 0

  constructor(id: string, api: ApiClient, clock: FrameClock & SourceTimers) {
    this.id = id
    this.#api = api
    this.#clock = clock
    this.#readSoon = atMostEvery(clock, readEveryMs, () => void this.read())
    void this.read()
    void this.#readForks()
  }

  close(): void {
    this.#closed.abort()
    this.#closeStream()
  }

  /** Handles an event of this task, or of a new fork of it. */
  handleEvent(event: TaskEvent): void {
    if (event.taskId === this.id) this.#readSoon()
    if (event.data['forkedFrom'] === this.id) void this.#readForks()
  }

  /** Reads what has changed. A request during a read leads to one more read, because the running one may have missed the change. */
  read(): Promise<void> {
    if (this.#reading === undefined) {
      this.#reading = this.#readOnce().finally(() => {
        this.#reading = undefined
      })
      return this.#reading
    }
    this.#queued ??= this.#reading.then(() => {
      this.#queued = undefined
      return this.read()
    })
    return this.#queued
  }

  async #readOnce(): Promise<void> {
    if (this.#closed.signal.aborted) return
    try {
      await this.#readParts().catch((error: unknown) => {
        if (!isLostPosition(problemOf(error))) throw error
        this.#forget()
        return this.#readParts()
      })
      this.problem.value = null
    } catch (error) {
      if (!this.#closed.signal.aborted) this.problem.value = problemOf(error)
    }
  }

  /** What was read page by page is of a ledger that an older copy has replaced. */
  #forget(): void {
    this.#lastMessage = 0
    this.messages.value = []
    this.events.value = []
    this.liveOutput.value = []
  }

  async #readParts(): Promise<void> {
    const path = `tasks/${encodeURIComponent(this.id)}`
    const get = <T>(part: string, query = {}) => this.#api.get<T>(`${path}${part}`, query, this.#closed.signal)
    const shown = await get<ShownTask>('')
    this.shown.value = shown
    const { generation } = shown.task
    const reads = [
      get<Why>('/why'),
      readPages((query) => get<Page<'runs', RunRecord>>('/runs', { ...query, generation }), 'runs'),
      readPages((query) => get<Page<'calls', Call>>('/calls', { ...query, generation }), 'calls'),
      this.#readMessages(get),
      this.#readEvents(get),
      this.#readTeam(get),
    ] as const
    // When one is refused, none is left that would add to what is read again.
    await Promise.allSettled(reads)
    const [why, runs, calls] = await Promise.all(reads)
    await this.#readMachine(get)
    this.why.value = why
    this.runs.value = runs
    this.calls.value = calls
    this.#listen(shown)
  }

  async #readMessages(get: <T>(part: string, query?: object) => Promise<T>): Promise<void> {
    for (;;) {
      const page = await get<{ messages: Message[]; next: number }>('/messages', {
        after: this.#lastMessage,
        limit: pageSize,
      })
      if (page.messages.length > 0) this.messages.value = [...this.messages.value, ...page.messages]
      this.#lastMessage = page.next
      if (page.messages.length < pageSize) return
    }
  }

  async #readEvents(get: <T>(part: string, query?: object) => Promise<T>): Promise<void> {
    for (;;) {
      const after = this.events.value.at(-1)?.seq ?? 0
      const page = await get<EventPage>('/events', { after, limit: pageSize })
      if (page.events.length > 0) {
        batch(() => {
          this.events.value = [...this.events.value, ...page.events]
          this.liveOutput.value = unstored(this.liveOutput.value, this.events.value)
        })
      }
      if (page.next === null) return
    }
  }

  async #readMachine(get: <T>(part: string) => Promise<T>): Promise<void> {
    if (!this.events.value.some(({ type }) => type === 'machine.moved')) return
    this.machine.value = (await get<{ machine: TaskMachine | null }>('/machine')).machine
  }

  async #readForks(): Promise<void> {
    try {
      const query = { forkedFrom: this.id, limit: maxForks }
      const { tasks } = await this.#api.get<TaskRowsPage>('tasks', query, this.#closed.signal)
      this.forks.value = tasks.map(({ id }) => id)
    } catch (error) {
      // The task is shown without its forks.
      if (!this.#closed.signal.aborted) console.warn('Could not read the forks:', problemOf(error))
    }
  }

  /** Memory may be disabled or not allowed for this token; the rest of the page does not depend on it. */
  async #readTeam(get: <T>(part: string) => Promise<T>): Promise<void> {
    try {
      this.team.value = await get<TeamContext>('/context')
      await this.#readFacts()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.team.value = null
    }
  }

  /** Reads the latest facts, as many as are shown. Older ones beyond one response are kept as they were. */
  async #readFacts(): Promise<void> {
    const known = this.facts.value
    const { facts, next } = await this.#factPage(Math.min(Math.max(known.length, factsPerPage), pageSize))
    const fresh = new Set(facts.map(({ id }) => id))
    const older = next === null ? [] : known.filter(({ id }) => !fresh.has(id))
    this.facts.value = [...facts, ...older]
    if (older.length === 0) this.olderFacts.value = next
  }

  /** @throws ApiError */
  async showOlderFacts(): Promise<void> {
    const before = this.olderFacts.value
    if (before === null) return
    const { facts, next } = await this.#factPage(factsPerPage, before)
    const known = new Set(this.facts.value.map(({ id }) => id))
    this.facts.value = [...this.facts.value, ...facts.filter(({ id }) => !known.has(id))]
    this.olderFacts.value = next
  }

  /** Facts of the task's own memory branch; without one, facts found while working on it. */
  #factPage(limit: number, before?: number): Promise<FactPage> {
    const branch = this.team.value?.task.branch ?? null
    const scope = branch === null ? { taskId: this.id } : { branch }
    return this.#api.call('mem:facts', { ...scope, limit, ...(before === undefined ? {} : { before }) })
  }

  /** Follows the live output from the position that was read. A task that has ended has none. */
  #listen({ task, seq }: ShownTask): void {
    const ended = task.completedAt !== null
    if (this.#streaming || ended || this.#closed.signal.aborted) return
    this.#streaming = true
    const over = () => {
      this.#streaming = false
    }
    this.#closeStream = followSource({
      lastId: String(seq),
      open: (lastId, signal) =>
        this.#api.send('GET', `tasks/${encodeURIComponent(this.id)}/stream`, {
          query: { after: lastId },
          headers: { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) },
          signal,
        }),
      onEvent: ({ data }) => this.#take(JSON.parse(data) as StreamItem),
      onRefused: (problem) => {
        over()
        if (isLostPosition(problem)) void this.read()
      },
      onEnd: over,
      clock: this.#clock,
    })
  }

  #showText(item: StreamItem): void {
    if (this.#live.apply(item)) this.liveTexts.value = new Map(this.#live.texts)
  }

  /** A stored message is read before its chunks are dropped, so that the text does not flicker. */
  #take(item: StreamItem): void {
    const piece = pieceIn(item)
    if (piece !== undefined) {
      this.liveOutput.value = latest([...this.liveOutput.value, ...unstored([piece], this.events.value)])
    } else if (item.type === 'content') {
      this.#showText(item)
    } else if (item.type === 'message' || item.type === 'end') {
      void this.read().finally(() => {
        this.#showText(item)
      })
    }
  }
}

// The composition root: options are parsed, the ledger is opened, feed, actors and supervisor are introduced to each other,
// and the public methods are steps and reads over them. No rule of the engine is written here.
import { hostname } from 'node:os'
import { followEvents } from './actors/event-stream.ts'
import { Feed } from './actors/feed.ts'
import { LiveActors } from './actors/live-actors.ts'
import type { RunHost } from './actors/live-run.ts'
import { awaitSettlement } from './actors/settlement.ts'
import { Subscriptions } from './actors/subscriptions.ts'
import { engineClosed, Supervisor } from './actors/supervisor.ts'
import { LiveOutput, streamTask } from './actors/task-stream.ts'
import type { Engine, EngineOptions, Executors, TaskRef, Why } from './api.ts'
import { type Clock, systemClock } from './clock.ts'
import { type CallRecord, toCall } from './entities/call.ts'
import type { TaskEvent } from './entities/event.ts'
import { toMessage } from './entities/message.ts'
import type { Question } from './entities/question.ts'
import { type Outcome, type Task, type TaskRecord, toTask } from './entities/task.ts'
import { ErrandError, nearestName, TaskCanceledError, TaskFailedError } from './errors.ts'
import type { AnyExecutor } from './executor.ts'
import { processGroupOf, reclaim } from './executors/process-group.ts'
import { createRandomIds, type Ids } from './ids.ts'
import { checkText, fromJson, toJson } from './json.ts'
import type { AnyStep, Ledger, Op, Reads } from './ledger/ledger.ts'
import { writing } from './ledger/ledger.ts'
import { openLedger } from './ledger/open-ledger.ts'
import {
  answerOptionsSchema,
  type CreateSpec,
  createSpecSchema,
  deleteOptionsSchema,
  engineOptionsSchema,
  eventsOptionsSchema,
  eventTypeSchema,
  failOptionsSchema,
  type ListOptions,
  listOptionsSchema,
  settleOptionsSchema,
  streamOptionsSchema,
  type TaskPatch,
  timeoutOptionsSchema,
  updateSchema,
} from './options.ts'
import { kindOf, parse, requireFunction, requireText } from './parse.ts'
import { requireRuntime } from './runtime.ts'
import { cancel } from './steps/cancel.ts'
import { type CreateRequest, create } from './steps/create.ts'
import { deleteTask } from './steps/delete.ts'
import { checkedInput, type DraftContext, executorName, toDrafts } from './steps/draft.ts'
import { dependenciesOf, explain, openQuestions } from './steps/explain.ts'
import { findTask } from './steps/find-task.ts'
import { type Moment, requireTask } from './steps/moment.ts'
import { recover } from './steps/recover.ts'
import { update } from './steps/update.ts'
import * as verbs from './steps/verbs.ts'

/**
 * Opens a ledger and an engine on it; with `work` (the default) it recovers what dead engines left and begins.
 *
 * @example
 * await using engine = await createEngine({ ledger: 'errand.db', executors: { greet: (task) => `Hello ${task.input.name}` } })
 * const task = await engine.create({ executor: 'greet', input: { name: 'Ada' } })
 * console.log(await engine.result(task))
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT for bad options; UNSUPPORTED_RUNTIME; LEDGER_* and NOT_OFFERED for a ledger
 *   that cannot be opened.
 */
export async function createEngine<const E extends Executors = Executors>(
  options: EngineOptions<E> = {},
): Promise<Engine<E>> {
  requireRuntime()
  const parsed = parse(engineOptionsSchema, options, 'createEngine')
  refuseUnknownLimits(parsed.limits, Object.keys(parsed.executors))
  const clock = (parsed.clock as Clock | undefined) ?? systemClock
  const ownsLedger = typeof parsed.ledger === 'string'
  const ledger = ownsLedger ? await openLedger(parsed.ledger as string) : (parsed.ledger as Ledger)
  const engine = new TaskEngine({
    ledger,
    ownsLedger,
    clock,
    ids: (parsed.ids as Ids | undefined) ?? createRandomIds(),
    executors: new Map(Object.entries(parsed.executors as Executors)),
    options: parsed,
  })
  try {
    await engine.open()
    if (parsed.work) await engine.work()
  } catch (error) {
    await engine.close()
    throw error
  }
  return engine as unknown as Engine<E>
}

function refuseUnknownLimits(limits: Record<string, number>, executors: string[]): void {
  for (const name of Object.keys(limits)) {
    if (executors.includes(name)) continue
    const nearest = nearestName(name, executors)
    throw new ErrandError(
      'UNKNOWN_EXECUTOR',
      `limits names "${name}", which is no executor of this engine.${nearest ? ` Did you mean "${nearest}"?` : ''}`,
      {
        executor: name,
        nearest,
        known: executors,
      },
    )
  }
}

type ParsedOptions = ReturnType<typeof parse<import('zod').output<typeof engineOptionsSchema>>>

interface Parts {
  ledger: Ledger
  ownsLedger: boolean
  clock: Clock
  ids: Ids
  executors: Map<string, AnyExecutor>
  options: ParsedOptions
}

class TaskEngine {
  readonly instanceId: string
  readonly #parts: Parts
  readonly #ledger: Ledger
  readonly #feed: Feed
  readonly #actors: LiveActors
  readonly #supervisor: Supervisor
  readonly #subscriptions: Subscriptions
  readonly #output = new LiveOutput()
  #working: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #failure: unknown

  constructor(parts: Parts) {
    const { ledger, clock, ids, executors, options } = parts
    this.#parts = parts
    this.#ledger = ledger
    this.instanceId = ids.next('instance')
    this.#feed = new Feed(ledger, this.#report, (error) => this.#fail(error))
    this.#actors = new LiveActors(this.#report, options.inspect)
    this.#subscriptions = new Subscriptions(this.#feed, ledger, this.#report)
    const host: Omit<RunHost, 'arm'> = {
      clock,
      onInterrupt: options.onInterrupt,
      nextId: (prefix) => ids.next(prefix),
      moment: () => this.#moment(),
      step: (step) => this.#ledger.step(step),
      read: (query) => this.#ledger.read(query),
      draft: (specs, parentId) => specs.map((spec) => this.#draft(spec, 'run.spawn', parentId)),
      live: (taskId, content, messageId) =>
        this.#output.publish(taskId, { content, ...(messageId === undefined ? {} : { messageId }) }),
      views: (records) => this.#views(records),
      report: this.#report,
    }
    this.#supervisor = new Supervisor({
      ledger,
      feed: this.#feed,
      actors: this.#actors,
      clock,
      instanceId: this.instanceId,
      executors,
      maxConcurrent: options.maxConcurrent,
      limits: options.limits,
      onInterrupt: options.onInterrupt,
      maxCrashes: options.maxCrashes,
      abortGraceMs: options.abortGraceMs,
      shutdownTimeoutMs: options.shutdownTimeoutMs,
      host,
      reclaim: (call) => this.#reclaim(call),
      report: this.#report,
    })
  }

  async open(): Promise<void> {
    await this.#feed.start()
  }

  work(): Promise<void> {
    this.#requireOpen()
    this.#working ??= this.#beginWork()
    return this.#working
  }

  async #beginWork(): Promise<void> {
    const { instanceId } = this
    await this.#ledger.enlist(instanceId)
    const { at } = this.#moment()
    await this.#ledger.step(
      writing('enlist', function* (tx) {
        yield* tx.instance.insert({ id: instanceId, pid: process.pid, host: hostname(), startedAt: at, endedAt: null })
      }),
    )
    await this.#supervisor.work()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { instanceId } = this
    if (this.#working) {
      await this.#working.catch(() => {})
      await this.#supervisor.drain()
      if (this.#failure === undefined) await this.#discharge()
      this.#ledger.discharge(instanceId)
    }
    await this.#subscribersHeard()
    this.#feed.stop()
    this.#actors.stop()
    if (this.#parts.ownsLedger) await this.#ledger.close()
  }

  /** Whatever is still open of ours by now is let go. When this cannot be written, others take it for a death. */
  async #discharge(): Promise<void> {
    const { instanceId } = this
    const { options, ids } = this.#parts
    try {
      await this.#ledger.step(
        recover({
          ...this.#moment(),
          by: instanceId,
          maxCrashes: options.maxCrashes,
          reason: 'released',
          nextId: (prefix) => ids.next(prefix),
        }),
      )
    } catch (error) {
      this.#report(error, { doing: 'leave the ledger', instance: instanceId })
    }
  }

  /** For as long as runs are waited for, and no longer: the one who closes may be a subscriber. */
  async #subscribersHeard(): Promise<void> {
    const { clock, options } = this.#parts
    let timer: unknown
    const late = new Promise<void>((resolve) => {
      timer = clock.setTimeout(() => resolve(), options.shutdownTimeoutMs)
    })
    await Promise.race([this.#subscriptions.settled(), late])
    clock.clearTimeout(timer)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  // ── creating and reading ──

  async create(given: unknown): Promise<unknown> {
    this.#requireOpen()
    const many = Array.isArray(given)
    const trees = (many ? given : [given]).map((each: unknown) => this.#draft(each, 'create'))
    const roots = trees.length === 0 ? [] : await this.#ledger.step(create({ ...this.#moment(), trees }))
    const views = await this.#views(roots)
    return many ? views : views[0]
  }

  async get(ref: TaskRef): Promise<Task | null> {
    const id = idOf(ref)
    const record = await this.#read((tx) => tx.task.get(id))
    return record === undefined || record.deletedAt !== null ? null : ((await this.#views([record]))[0] as Task)
  }

  /** A task by its id, by `#seq`, or by a prefix of its id that no other task shares (with or without `task-`). */
  async find(ref: string): Promise<Task | null> {
    const record = await this.#read((tx) => findTask(tx, requireText(ref, 'the task reference')))
    return record === undefined ? null : ((await this.#views([record]))[0] as Task)
  }

  async list(options: ListOptions = {}): Promise<{ tasks: Task[]; total: number; next: string | null }> {
    const { limit, after, status, ...rest } = parse(listOptionsSchema, options, 'list')
    const filter = {
      ...(status === undefined ? {} : { statuses: Array.isArray(status) ? status : [status] }),
      ...(Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as object),
    }
    const position = after === undefined ? undefined : readPosition(after)
    const { found, total } = await this.#read(function* (tx) {
      return { found: yield* tx.task.list(filter, limit + 1, position), total: yield* tx.task.count(filter) }
    })
    const page = found.slice(0, limit)
    const last = page.at(-1)
    return {
      tasks: await this.#views(page),
      total,
      next: found.length > limit && last !== undefined ? `${last.priority}:${last.seq}` : null,
    }
  }

  async children(ref: TaskRef): Promise<Task[]> {
    return this.#views(await this.#of(ref, (tx, id) => tx.task.children(id)))
  }

  async subtree(ref: TaskRef): Promise<Task[]> {
    return this.#views(await this.#of(ref, (tx, id) => tx.task.subtree(id)))
  }

  async dependencies(ref: TaskRef): Promise<Task[]> {
    return this.#views(await this.#of(ref, dependenciesOf))
  }

  async calls(ref: TaskRef): Promise<unknown[]> {
    return (await this.#of(ref, (tx, id) => tx.call.list(id, ['call']))).map(toCall)
  }

  async messages(ref: TaskRef): Promise<unknown[]> {
    return (await this.#of(ref, (tx, id) => tx.message.list(id))).map(toMessage)
  }

  runs(ref: TaskRef): Promise<unknown[]> {
    return this.#of(ref, (tx, id) => tx.run.list(id))
  }

  // ── verbs ──

  async update(ref: TaskRef, patch: TaskPatch): Promise<Task> {
    const parsed = parse(updateSchema, patch, 'update')
    const texts = Object.fromEntries(
      (['name', 'goal', 'description'] as const).flatMap((field) => {
        const text = parsed[field]
        return typeof text === 'string' ? [[field, checkText(text, `the ${field}`)]] : []
      }),
    )
    const metadata =
      parsed.metadata === undefined
        ? {}
        : { metadata: fromJson<Record<string, unknown>>(toJson(parsed.metadata, 'the metadata')) }
    if (parsed.executor !== undefined) executorName(parsed.executor, this.#draftContext())
    const input =
      'input' in parsed && parsed.input !== undefined ? { input: await this.#updatedInput(ref, parsed) } : {}
    return this.#verb(ref, (id) => update(id, { ...parsed, ...texts, ...metadata, ...input }, this.#moment()))
  }

  async #updatedInput(ref: TaskRef, patch: TaskPatch): Promise<unknown> {
    const task = await this.get(ref)
    return checkedInput(
      patch.executor ?? task?.executor ?? null,
      patch.input,
      task?.name ?? idOf(ref),
      this.#draftContext(),
    )
  }

  delete(ref: TaskRef, options: unknown = {}): Promise<boolean> {
    this.#requireOpen()
    const { children } = parse(deleteOptionsSchema, options, 'delete')
    return this.#ledger.step(deleteTask(idOf(ref), children, this.#moment()))
  }

  start(ref: TaskRef): Promise<Task> {
    return this.#verb(ref, (id) => verbs.start(id, this.#moment()))
  }

  pause(ref: TaskRef): Promise<Task> {
    return this.#verb(ref, (id) => verbs.pause(id, this.#moment()))
  }

  resume(ref: TaskRef): Promise<Task> {
    return this.#verb(ref, (id) => verbs.resume(id, this.#moment()))
  }

  async cancel(ref: TaskRef, reason?: string): Promise<Task> {
    const text = reason === undefined ? null : requireText(reason, 'the reason')
    return this.#verb(ref, (id) => cancel(id, text, this.#moment()))
  }

  retry(ref: TaskRef): Promise<Task> {
    return this.#verb(ref, (id) => verbs.retry(id, this.#moment()))
  }

  async complete(ref: TaskRef, result?: unknown, options: unknown = {}): Promise<Task> {
    parse(settleOptionsSchema, options, 'complete')
    const image = fromJson(toJson(result, 'the result'))
    return this.#verb(ref, (id) => verbs.complete(id, image, this.#moment()))
  }

  async fail(ref: TaskRef, reason: string, options: unknown = {}): Promise<Task> {
    const { code } = parse(failOptionsSchema, options, 'fail')
    const text = requireText(reason, 'the reason')
    return this.#verb(ref, (id) => verbs.fail(id, text, code, this.#moment()))
  }

  async answer(ref: TaskRef, value?: unknown, options: unknown = {}): Promise<Task> {
    const { question } = parse(answerOptionsSchema, options, 'answer')
    const given = value === undefined ? {} : { value: { given: fromJson(toJson(value, 'the answer')) } }
    return this.#verb(ref, (taskId) => verbs.answer({ ...this.#moment(), taskId, questionId: question, ...given }))
  }

  async why(ref: TaskRef): Promise<Why> {
    const id = idOf(ref)
    const known = [...this.#parts.executors.keys()]
    return this.#read((tx) => explain(tx, id, this.#supervisor.isWorking ? known : null))
  }

  // ── following ──

  async result(ref: TaskRef, options: unknown = {}): Promise<unknown> {
    const id = idOf(ref)
    const outcome = await this.settled(ref, options)
    if (outcome.status === 'failed') throw new TaskFailedError(id, outcome.error)
    if (outcome.status === 'canceled') throw new TaskCanceledError(id, outcome.statusReason)
    return outcome.result
  }

  async settled(ref: TaskRef, options: unknown = {}): Promise<Outcome> {
    this.#requireOpen()
    const { timeoutMs } = parse(timeoutOptionsSchema, options, 'settled')
    return awaitSettlement(
      this.#ledger,
      this.#feed,
      this.#parts.clock,
      idOf(ref),
      timeoutMs,
      () => this.#failure ?? engineClosed(),
    )
  }

  stream(ref: TaskRef, options: unknown = {}): AsyncGenerator<unknown, void, void> {
    this.#requireOpen()
    const { after, signal } = parse(streamOptionsSchema, options, 'stream')
    return streamTask(this.#ledger, this.#feed, this.#output, idOf(ref), { after, signal })
  }

  events(options: unknown = {}): AsyncGenerator<TaskEvent, void, void> {
    this.#requireOpen()
    return followEvents(this.#ledger, this.#feed, parse(eventsOptionsSchema, options, 'events'))
  }

  subscribe(type: never, handler: never): () => void {
    this.#requireOpen()
    return this.#subscriptions.subscribe(
      parse(eventTypeSchema, type, 'subscribe'),
      requireFunction(handler, 'the handler of subscribe'),
    )
  }

  async schedule(): Promise<Task[]> {
    this.#requireOpen()
    const ids = await this.#ledger.step(verbs.startHeld([...this.#parts.executors.keys()], this.#moment()))
    await this.idle()
    return this.#views(
      await this.#read(function* (tx) {
        const found: TaskRecord[] = []
        for (const id of ids) found.push((yield* tx.task.get(id)) as TaskRecord)
        return found
      }),
    )
  }

  async idle(): Promise<void> {
    const executors = [...this.#parts.executors.keys()]
    for (;;) {
      this.#requireOpen()
      const moved = this.#feed.moved()
      if (!(await this.#read((tx) => tx.task.anyAwake(executors)))) return
      await moved
    }
  }

  activity(): unknown {
    return this.#supervisor.activity()
  }

  watch(listener: never): () => void {
    return this.#supervisor.watch(requireFunction(listener, 'the listener of watch'))
  }

  // ── inside ──

  readonly #report = (error: unknown, context: Record<string, unknown>): void => {
    const { onError } = this.#parts.options
    if (onError !== undefined) {
      try {
        onError(error, context)
        return
      } catch (thrown) {
        // A reporter that throws must not become the engine's own failure; both are told.
        console.error('errand: onError threw', thrown)
      }
    }
    console.error('errand:', error, context)
  }

  #fail(error: unknown): void {
    this.#failure = error
    this.#supervisor.abort()
    this.#report(error, { doing: 'use the ledger' })
    this.#feed.stop()
  }

  #moment(): Moment {
    return { at: this.#parts.clock.now(), instanceId: this.instanceId }
  }

  #requireOpen(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#closing) throw engineClosed()
  }

  #draftContext(): DraftContext {
    const { ids, executors, options } = this.#parts
    return {
      nextId: (prefix) => ids.next(prefix),
      executors,
      anyExecutor: !options.work,
      autoStart: options.autoStart,
      autoComplete: options.autoComplete,
    }
  }

  #draft(given: unknown, what: string, parentId?: string): CreateRequest['trees'][number] {
    const spec = parse(createSpecSchema, given as CreateSpec, what)
    return toDrafts(parentId === undefined ? spec : { ...spec, parentId }, this.#draftContext())
  }

  async #verb(ref: TaskRef, stepOf: (id: string) => AnyStep): Promise<Task> {
    this.#requireOpen()
    const id = idOf(ref)
    await this.#ledger.step(stepOf(id))
    const record = await this.#ledger.read((tx) => tx.task.get(id))
    return (await this.#views([record as TaskRecord]))[0] as Task
  }

  #read<R>(query: (tx: Reads) => Op<R>): Promise<R> {
    if (this.#closing && this.#parts.ownsLedger) return Promise.reject(engineClosed())
    return this.#ledger.read(query)
  }

  #of<R>(ref: TaskRef, query: (tx: Reads, id: string) => Op<R>): Promise<R> {
    const id = idOf(ref)
    return this.#read(function* (tx) {
      requireTask(yield* tx.task.get(id), id)
      return yield* query(tx, id)
    })
  }

  async #views(records: readonly TaskRecord[]): Promise<Task[]> {
    if (records.every((record) => record.openBlockers === 0 && record.status !== 'input_required')) {
      return records.map((record) => toTask(record, [], []))
    }
    return this.#ledger.read(function* (tx) {
      const views: Task[] = []
      for (const record of records) {
        const blockers = record.openBlockers === 0 ? [] : yield* tx.dependency.openBlockers(record.id)
        const questions: Question[] = record.status === 'input_required' ? yield* openQuestions(tx, record.id) : []
        views.push(toTask(record, blockers, questions))
      }
      return views
    })
  }

  async #reclaim(call: CallRecord): Promise<void> {
    const group = processGroupOf(call.details)
    if (group === undefined || group === null) return
    const outcome = await reclaim(group)
    if (outcome === 'unproven') {
      this.#report(
        new Error(`A process group of call ${call.id} may still be running: it could not be told from a foreign one.`),
        {
          callId: call.id,
          taskId: call.taskId,
        },
      )
    }
  }
}

function idOf(ref: TaskRef): string {
  const id = typeof ref === 'string' ? ref : ref?.id
  if (typeof id === 'string') return checkText(id, 'the task id')
  const given = kindOf(ref) === 'object' ? `an object whose id is ${kindOf(id)}` : kindOf(ref)
  throw new ErrandError('INVALID_INPUT', `Expected a task or its id, got ${given}.`, {})
}

function readPosition(after: string): { priority: number; seq: number } {
  const match = /^(-?\d+):(\d+)$/.exec(after)
  if (match) return { priority: Number(match[1]), seq: Number(match[2]) }
  throw new ErrandError('INVALID_INPUT', `"${after}" is not a position: pass the \`next\` of the page before.`, {
    after,
  })
}

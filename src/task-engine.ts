// The engine's methods: each parses what it is given, runs a step or a read, and returns what people see. No rule of the engine
// is written here.
import { type AbilityMethods, abilityMethods } from './ability-methods.ts'
import { followEvents } from './actors/event-stream.ts'
import type { Lifecycle } from './actors/lifecycle.ts'
import { awaitSettlement } from './actors/settlement.ts'
import { streamTask } from './actors/task-stream.ts'
import type { Limits, StatusStore, TaskGraph, TaskRef, Why } from './api.ts'
import type { Bus } from './bus/bus.ts'
import { libraryCaller } from './bus/caller.ts'
import { asOwner, asWriter, quoteOf } from './claimed-task.ts'
import type { Drafter, TaskDraft } from './drafts/draft.ts'
import { refuseUnfitInput } from './drafts/executor-input.ts'
import { executorName, requireExecutors } from './drafts/known-executors.ts'
import { toCall } from './entities/call.ts'
import type { TaskEvent } from './entities/event.ts'
import { noSharedLimits } from './entities/limits.ts'
import { type Message, toMessage } from './entities/message.ts'
import type { Outcome, Task, TaskRecord } from './entities/task.ts'
import { ErrandError, TaskCanceledError, TaskFailedError } from './errors.ts'
import { checkText, fromJson, toJson } from './json.ts'
import type { Op, PurgePosition, Reads, Step } from './ledger/ledger.ts'
import { type Bounds, boundDrafts, forProgramsOnly, likeTheCaller, requireAgent } from './model-bounds.ts'
import {
  answerOptionsSchema,
  type ClaimOptions,
  claimOptionsSchema,
  deleteOptionsSchema,
  eventsOptionsSchema,
  eventTypeSchema,
  failOptionsSchema,
  graphOptionsSchema,
  inspectionObserverSchema,
  inspectOptionsSchema,
  type LimitsPatch,
  type ListOptions,
  limitsSchema,
  listOptionsSchema,
  purgeOptionsSchema,
  quoteOptionsSchema,
  releaseOptionsSchema,
  retryOptionsSchema,
  type SharedLimitsPatch,
  sendOptionsSchema,
  sharedLimitsSchema,
  streamOptionsSchema,
  type TaskPatch,
  taskIdsSchema,
  timeoutOptionsSchema,
  updateSchema,
  versionSchema,
} from './options.ts'
import { kindOf, parse, requireFunction, requireText } from './parse.ts'
import { createHandler, type Handled, type HandleOptions } from './routing/handle.ts'
import type { HandlerEngine } from './routing/handler-engine.ts'
import { answer } from './steps/answer.ts'
import { cancel } from './steps/cancel.ts'
import { claim, heartbeat, release } from './steps/claim.ts'
import { create } from './steps/create.ts'
import { deleteTask } from './steps/delete.ts'
import { block, unblock } from './steps/edges.ts'
import { expecting } from './steps/expect-version.ts'
import { dependenciesOf, explain } from './steps/explain.ts'
import { findTask } from './steps/find-task.ts'
import { graphOf } from './steps/graph.ts'
import { loadSharedLimits, setSharedLimits } from './steps/limits.ts'
import { requireTask } from './steps/moment.ts'
import { purge } from './steps/purge.ts'
import { retry } from './steps/retry.ts'
import { send } from './steps/send.ts'
import { update } from './steps/update.ts'
import * as verbs from './steps/verbs.ts'
import { requireWithin, within } from './steps/within.ts'

export class TaskEngine {
  readonly instanceId: string
  readonly bus: Bus
  readonly #life: Lifecycle
  readonly #drafter: Drafter
  /** A model acts: it touches its own task and what is below it, and nothing else. Null for everybody else. */
  readonly #bounds: Bounds | null

  /** Abilities as methods, by the same names: `agent`, `objective`, `task`, `mem`. */
  readonly agent: AbilityMethods['agent']
  readonly objective: AbilityMethods['objective']
  readonly task: AbilityMethods['task']
  readonly mem: AbilityMethods['mem']

  constructor(life: Lifecycle, drafter: Drafter, bus: Bus, bounds: Bounds | null = null) {
    this.instanceId = life.instanceId
    this.bus = bus
    const caller = bounds === null ? libraryCaller : { surface: 'library', ...bounds }
    ;({ agent: this.agent, objective: this.objective, task: this.task, mem: this.mem } = abilityMethods(bus, caller))
    this.#life = life
    this.#drafter = drafter
    this.#bounds = bounds
  }

  /** The same engine in the hands of a task's model. What it creates is bound by the same lists of abilities. */
  static within(engine: TaskEngine, taskId: string, abilities: Bounds['abilities'] = []): TaskEngine {
    return new TaskEngine(engine.#life, engine.#drafter, engine.bus, { taskId, abilities })
  }

  work(): Promise<void> {
    forProgramsOnly(this.#bounds, 'work')
    return this.#life.work()
  }

  close(): Promise<void> {
    forProgramsOnly(this.#bounds, 'close')
    return this.#life.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  // ── creating and reading ──

  async create(given: unknown): Promise<unknown> {
    this.#life.requireOpen()
    const many = Array.isArray(given)
    const likeItself = await likeTheCaller(this.#life, this.#drafter, this.#bounds)
    const trees = (many ? given : [given]).map((each: unknown) =>
      boundDrafts(this.#drafter.draft(likeItself(each), 'create'), this.#drafter, this.#bounds),
    )
    const roots =
      trees.length === 0
        ? []
        : await this.#step(
            create({ ...this.#life.moment(), trees, treeLimits: this.#drafter.treeLimits }),
            relativesOf(trees),
          )
    // A key may lead to a task that somebody else has made.
    const ids = roots.map((root) => root.id)
    if (this.#bounds !== null) await this.#read(ids, noRows)
    const views = await this.#life.views(roots)
    return many ? views : views[0]
  }

  async get(ref: TaskRef): Promise<Task | null> {
    const id = idOf(ref)
    const record = await this.#read([id], (tx) => tx.task.get(id))
    return record === undefined || record.deletedAt !== null ? null : ((await this.#life.views([record]))[0] as Task)
  }

  /** A task by its id, by `#seq`, or by a prefix of its id that no other task shares (with or without `task-`). */
  async find(ref: string): Promise<Task | null> {
    const text = requireText(ref, 'the task reference')
    const bounds = this.#bounds
    const record = await this.#life.read(function* (tx) {
      const found = yield* findTask(tx, text)
      if (found !== undefined && bounds !== null) yield* requireWithin(tx, bounds.taskId, [found.id])
      return found
    })
    return record === undefined ? null : ((await this.#life.views([record]))[0] as Task)
  }

  async list(options: ListOptions = {}): Promise<{ tasks: Task[]; total: number; next: string | null }> {
    const { limit, after, status, ...rest } = parse(listOptionsSchema, options, 'list')
    const filter = {
      ...(status === undefined ? {} : { statuses: Array.isArray(status) ? status : [status] }),
      ...(Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as object),
    }
    const position = after === undefined ? undefined : readPosition(after)
    // A model lists the children of a task of its own; nothing else is its business.
    const scope = typeof rest.parentId === 'string' ? [rest.parentId] : ['the list of all tasks']
    const { found, total } = await this.#read(scope, function* (tx) {
      return { found: yield* tx.task.list(filter, limit + 1, position), total: yield* tx.task.count(filter) }
    })
    const page = found.slice(0, limit)
    const last = page.at(-1)
    return {
      tasks: await this.#life.views(page),
      total,
      next: found.length > limit && last !== undefined ? `${last.priority}:${last.seq}` : null,
    }
  }

  async children(ref: TaskRef): Promise<Task[]> {
    return this.#life.views(await this.#of(ref, (tx, id) => tx.task.children(id)))
  }

  async subtree(ref: TaskRef): Promise<Task[]> {
    return this.#life.views(await this.#of(ref, (tx, id) => tx.task.subtree(id)))
  }

  async dependencies(ref: TaskRef): Promise<Task[]> {
    return this.#life.views(await this.#of(ref, dependenciesOf))
  }

  async calls(ref: TaskRef): Promise<unknown[]> {
    return (await this.#of(ref, (tx, id) => tx.call.list(id, ['call']))).map(toCall)
  }

  async messages(ref: TaskRef): Promise<Message[]> {
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
    const metadata = parsed.metadata && fromJson<Record<string, unknown>>(toJson(parsed.metadata, 'the metadata'))
    if (parsed.executor !== undefined) {
      executorName(parsed.executor, this.#drafter.context)
      if (this.#bounds !== null) requireAgent(parsed.executor, this.#drafter)
    }
    const input = parsed.input === undefined ? undefined : fromJson(toJson(parsed.input, `the input of "${idOf(ref)}"`))
    const quote = quoteOf(ref)
    const checkInput = (executor: string | null, given: unknown, name: string) =>
      refuseUnfitInput(executor, given, name, this.#drafter.context)
    return this.#verb(
      ref,
      (id) => update(id, { ...parsed, ...texts, metadata, input }, quote, this.#life.moment(), checkInput),
      quote,
      parsed.blockedBy,
    )
  }

  delete(ref: TaskRef, options: unknown = {}): Promise<boolean> {
    this.#life.requireOpen()
    const { children } = parse(deleteOptionsSchema, options, 'delete')
    const id = idOf(ref)
    return this.#step(expecting(deleteTask(id, children, this.#life.moment()), id, versionIn(ref)), [id])
  }

  start(ref: TaskRef): Promise<Task> {
    return this.#verb(ref, (id) => verbs.start(id, this.#life.moment()))
  }

  pause(ref: TaskRef): Promise<Task> {
    return this.#verb(ref, (id) => verbs.pause(id, this.#life.moment()))
  }

  resume(ref: TaskRef): Promise<Task> {
    return this.#verb(ref, (id) => verbs.resume(id, this.#life.moment()))
  }

  async cancel(ref: TaskRef, reason?: string): Promise<Task> {
    const text = reason === undefined ? null : requireText(reason, 'the reason')
    return this.#verb(ref, (id) => cancel(id, text, this.#life.moment()))
  }

  async retry(ref: TaskRef, options: unknown = {}): Promise<Task> {
    const { divergence } = parse(retryOptionsSchema, options, 'retry')
    return this.#verb(ref, (id) => retry(id, this.#life.moment(), divergence))
  }

  async complete(ref: TaskRef, result?: unknown, options: unknown = {}): Promise<Task> {
    const quote = quoteOf(ref, parse(quoteOptionsSchema, options, 'complete'))
    const image = fromJson(toJson(result, 'the result'))
    return this.#verb(ref, (id) => verbs.complete(id, image, quote, this.#life.moment()))
  }

  async fail(ref: TaskRef, reason: string, options: unknown = {}): Promise<Task> {
    const { code, ...who } = parse(failOptionsSchema, options, 'fail')
    const quote = quoteOf(ref, who)
    const text = requireText(reason, 'the reason')
    return this.#verb(ref, (id) => verbs.fail(id, { reason: text, code }, quote, this.#life.moment()))
  }

  /** Appends a message from outside to the task's conversation, with what it sets off. */
  async send(ref: TaskRef, message: string, options: unknown = {}): Promise<Task> {
    const { delivery, retry } = parse(sendOptionsSchema, options, 'send')
    const content = requireText(message, 'the message')
    return this.#verb(ref, (taskId) =>
      send({ ...this.#life.moment(), taskId, messageId: this.#life.nextId('msg'), content, delivery, retry }),
    )
  }

  async handle(message: string, options: HandleOptions = {}): Promise<Handled> {
    this.#life.requireOpen()
    return createHandler({ engine: this as unknown as HandlerEngine, bus: this.bus })(message, options)
  }

  async answer(ref: TaskRef, value?: unknown, options: unknown = {}): Promise<Task> {
    const { question } = parse(answerOptionsSchema, options, 'answer')
    const given = value === undefined ? {} : { value: { given: fromJson(toJson(value, 'the answer')) } }
    return this.#verb(ref, (taskId) =>
      answer({
        ...this.#life.moment(),
        taskId,
        questionId: question,
        ...given,
        byModel: this.#bounds !== null,
      }),
    )
  }

  async why(ref: TaskRef): Promise<Why> {
    const id = idOf(ref)
    const known = [...this.#drafter.context.executors.keys()]
    return this.#read([id], (tx) => explain(tx, id, this.#life.supervisor.isWorking ? known : null))
  }

  // ── work from outside ──

  async claim(ref: TaskRef | null, options: ClaimOptions): Promise<Task | null> {
    const { leaseMs, ...claimed } = parse(claimOptionsSchema, options, 'claim')
    const taskId = ref === null ? null : idOf(ref)
    const task = await this.#step(claim({ ...this.#life.moment(), ...claimed, taskId, leaseMs }), [
      taskId ?? claimed.parentId ?? 'whatever task there is',
    ])
    return task === null ? null : asOwner((await this.#life.views([task]))[0] as Task)
  }

  async heartbeat(ref: TaskRef, options: unknown = {}): Promise<Task> {
    const quote = quoteOf(ref, parse(quoteOptionsSchema, options, 'heartbeat'))
    const step = expecting(heartbeat(idOf(ref), quote, this.#life.moment()), idOf(ref), versionIn(ref))
    const task = await this.#step(step, [idOf(ref)])
    return asWriter((await this.#life.views([task]))[0] as Task, quote)
  }

  async release(ref: TaskRef, options: unknown = {}): Promise<Task> {
    const { reason = null, ...who } = parse(releaseOptionsSchema, options, 'release')
    const quote = quoteOf(ref, who)
    return this.#verb(ref, (id) => release(id, reason, quote, this.#life.moment()))
  }

  async block(ref: TaskRef, blockers: TaskRef | readonly TaskRef[]): Promise<Task> {
    const ids = idsOf(blockers)
    return this.#verb(ref, (id) => block(id, ids, this.#life.moment()), undefined, ids)
  }

  async unblock(ref: TaskRef, blockers: TaskRef | readonly TaskRef[]): Promise<Task> {
    const ids = idsOf(blockers)
    return this.#verb(ref, (id) => unblock(id, ids, this.#life.moment()), undefined, ids)
  }

  async graph(options: unknown = {}): Promise<TaskGraph> {
    const { parentId } = parse(graphOptionsSchema, options, 'graph')
    const found = await this.#read([parentId ?? 'the graph of all tasks'], (tx) => graphOf(tx, parentId))
    return { order: await this.#life.views(found.order), critical: found.critical }
  }

  // ── limits and retention ──

  async limits(): Promise<Limits> {
    const shared = await this.#life.read(loadSharedLimits)
    return { engine: this.#life.supervisor.limits, shared: shared ?? noSharedLimits }
  }

  async setLimits(given: LimitsPatch): Promise<Limits> {
    forProgramsOnly(this.#bounds, 'setLimits')
    this.#life.requireOpen()
    const { maxConcurrent, limits = {} } = parse(limitsSchema, given, 'setLimits')
    requireExecutors(Object.keys(limits), [...this.#drafter.context.executors.keys()], 'setLimits')
    this.#life.supervisor.setLimits(maxConcurrent, limits)
    return this.limits()
  }

  async setSharedLimits(given: SharedLimitsPatch): Promise<Limits> {
    forProgramsOnly(this.#bounds, 'setSharedLimits')
    await this.#life.step(setSharedLimits(parse(sharedLimitsSchema, given, 'setSharedLimits')))
    this.#life.supervisor.wake()
    return this.limits()
  }

  async purge(options: unknown): Promise<{ tasks: number; families: number; events: number }> {
    forProgramsOnly(this.#bounds, 'purge')
    const { before } = parse(purgeOptionsSchema, options, 'purge')
    const sum = { tasks: 0, families: 0, events: 0 }
    for (let after: PurgePosition | undefined; ; ) {
      const purged = await this.#life.step(purge(before, after))
      sum.tasks += purged.tasks
      sum.families += purged.families
      sum.events += purged.events
      if (purged.next === undefined) break
      after = purged.next
    }
    await this.#life.status.count()
    return sum
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
    this.#life.requireOpen()
    const until = parse(timeoutOptionsSchema, options, 'settled')
    if (this.#bounds !== null) await this.#read([idOf(ref)], noRows)
    return awaitSettlement(this.#life.ledger, this.#life.feed, this.#life.clock, idOf(ref), until, () =>
      this.#life.whyStopped(),
    )
  }

  stream(ref: TaskRef, options: unknown = {}): AsyncGenerator<unknown, void, void> {
    this.#life.requireOpen()
    const { after, signal } = parse(streamOptionsSchema, options, 'stream')
    const id = idOf(ref)
    return this.#following(
      [id],
      streamTask(this.#life.ledger, this.#life.feed, this.#life.output, id, { after, signal }),
    )
  }

  events(options: unknown = {}): AsyncGenerator<TaskEvent, void, void> {
    this.#life.requireOpen()
    const following = parse(eventsOptionsSchema, options, 'events')
    return this.#following(
      [following.taskId ?? 'the events of all tasks'],
      followEvents(this.#life.ledger, this.#life.feed, following),
    )
  }

  subscribe(type: never, handler: never): () => void {
    forProgramsOnly(this.#bounds, 'subscribe')
    this.#life.requireOpen()
    return this.#life.subscriptions.subscribe(
      parse(eventTypeSchema, type, 'subscribe'),
      requireFunction(handler, 'the handler of subscribe'),
    )
  }

  inspect(observer: unknown, options: unknown = {}): () => void {
    forProgramsOnly(this.#bounds, 'inspect')
    this.#life.requireOpen()
    const { tasks } = parse(inspectOptionsSchema, options, 'inspect')
    return this.#life.inspection.attach(parse(inspectionObserverSchema, observer, 'the observer of inspect'), tasks)
  }

  async schedule(): Promise<Task[]> {
    forProgramsOnly(this.#bounds, 'schedule')
    this.#life.requireOpen()
    const ids = await this.#life.step(verbs.startHeld([...this.#drafter.context.executors.keys()], this.#life.moment()))
    await this.idle()
    return this.#life.views(
      await this.#life.read(function* (tx) {
        const found: TaskRecord[] = []
        for (const id of ids) found.push((yield* tx.task.get(id)) as TaskRecord)
        return found
      }),
    )
  }

  async idle(): Promise<void> {
    const executors = [...this.#drafter.context.executors.keys()]
    for (;;) {
      this.#life.requireOpen()
      const moved = this.#life.feed.moved()
      if (!(await this.#life.read((tx) => tx.task.anyAwake(executors)))) return
      await moved
    }
  }

  get status(): StatusStore {
    return this.#life.status.look()
  }

  // ── inside ──

  #following<T>(ids: readonly string[], items: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void> {
    if (this.#bounds === null) return items
    const allowed = (): Promise<void> => this.#read(ids, noRows)
    return (async function* () {
      await allowed()
      yield* items
    })()
  }

  #step<R>(step: Step<R>, ids: readonly string[]): Promise<R> {
    return this.#life.step(within(step, this.#bounds?.taskId ?? null, ids))
  }

  #read<R>(ids: readonly string[], query: (tx: Reads) => Op<R>): Promise<R> {
    const scope = this.#bounds?.taskId ?? null
    return this.#life.read(function* (tx) {
      if (scope !== null) yield* requireWithin(tx, scope, ids)
      return yield* query(tx)
    })
  }

  /** `others`: the tasks that it names beside the one it is about. */
  async #verb(
    ref: TaskRef,
    stepOf: (id: string) => Step,
    quote = quoteOf(ref),
    others: readonly string[] = [],
  ): Promise<Task> {
    const id = idOf(ref)
    await this.#step(expecting(stepOf(id), id, versionIn(ref)), [id, ...others])
    const record = await this.#life.ledger.read((tx) => tx.task.get(id))
    return asWriter((await this.#life.views([record as TaskRecord]))[0] as Task, quote)
  }

  #of<R>(ref: TaskRef, query: (tx: Reads, id: string) => Op<R>): Promise<R> {
    const id = idOf(ref)
    return this.#read([id], function* (tx) {
      requireTask(yield* tx.task.get(id), id)
      return yield* query(tx, id)
    })
  }
}

function idOf(ref: TaskRef): string {
  const id = typeof ref === 'string' ? ref : ref?.id
  if (typeof id === 'string') return checkText(id, 'the task id')
  const given = kindOf(ref) === 'object' ? `an object whose id is ${kindOf(id)}` : kindOf(ref)
  throw new ErrandError('INVALID_INPUT', `Expected a task or its id, got ${given}.`, {})
}

/** What the caller has read, if it says so. A task alone says nothing: its `version` is no condition. */
function versionIn(ref: TaskRef): number | undefined {
  if (typeof ref === 'string' || ref.expectedVersion === undefined) return undefined
  return parse(versionSchema, ref.expectedVersion, 'expectedVersion')
}

function* noRows(): Op<void> {}

/** What new tasks would be related to: their parents, and stored tasks that they come after. */
function relativesOf(trees: ReadonlyArray<readonly TaskDraft[]>): string[] {
  const own = new Set(trees.flat().map((draft) => draft.id))
  const named = trees.flat().flatMap((draft) => [draft.parentId ?? 'a task without a parent', ...draft.blockedBy])
  return [...new Set(named)].filter((id) => !own.has(id))
}

function readPosition(after: string): { priority: number; seq: number } {
  const match = /^(-?\d+):(\d+)$/.exec(after)
  if (match) return { priority: Number(match[1]), seq: Number(match[2]) }
  throw new ErrandError('INVALID_INPUT', `"${after}" is not a position: pass the \`next\` of the page before.`, {
    after,
  })
}

function idsOf(refs: TaskRef | readonly TaskRef[]): string[] {
  return parse(taskIdsSchema, (Array.isArray(refs) ? refs : [refs]).map(idOf), 'the blockers')
}

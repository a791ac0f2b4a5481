// The engine's methods: each parses its arguments, runs a step or a read, and returns views. The rules of the engine are not
// implemented here.
/* oxlint-disable max-lines -- The facade of the engine, a line or two for each method. */

import { callingRun } from '../actors/call-scope.ts'
import { followEvents } from '../actors/event-stream.ts'
import type { Lifecycle } from '../actors/lifecycle.ts'
import { type PurgeSum, purgeFamilies } from '../actors/purge-families.ts'
import { awaitSettlement } from '../actors/settlement.ts'
import { streamTask } from '../actors/task-stream.ts'
import { createHandler, type Handled, type HandleOptions } from '../agents/routing/handle.ts'
import type { HandlerEngine } from '../agents/routing/handler-engine.ts'
import type { Bus } from '../bus/bus.ts'
import { type Caller, libraryCaller } from '../bus/caller.ts'
import { ErrandError, TaskCanceledError, TaskFailedError } from '../core/errors.ts'
import { accept, refuseFault } from '../core/input-gate.ts'
import { checkText, resultImage } from '../core/json.ts'
import { parse, requireFunction, requireText } from '../core/parse.ts'
import { restoredCause } from '../core/restored-error.ts'
import { untilAborted } from '../core/signals.ts'
import { typeName } from '../core/type-name.ts'
import { type BatchAction, type BatchResult, batchRunSchema } from '../entities/batch.ts'
import { toCall } from '../entities/call.ts'
import { offerTime } from '../entities/engine-time.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { RunnableTasks } from '../entities/executor.ts'
import type { TaskFilterOptions } from '../entities/filter-options.ts'
import { noSharedLimits } from '../entities/limits.ts'
import { machineEventSchema } from '../entities/machine.ts'
import type { TaskMachine } from '../entities/machine-view.ts'
import { type Message, toMessage } from '../entities/message.ts'
import {
  type ClaimOptions,
  claimOptionsSchema,
  claimTokenOptionsSchema,
  deleteOptionsSchema,
  eventsOptionsSchema,
  eventTypeSchema,
  graphOptionsSchema,
  idleOptionsSchema,
  inspectionObserverSchema,
  inspectOptionsSchema,
  type LimitsPatch,
  type ListOptions,
  limitsSchema,
  listOptionsSchema,
  purgeOptionsSchema,
  type SharedLimitsPatch,
  sharedLimitsSchema,
  streamOptionsSchema,
  type TaskPatch,
  timeoutOptionsSchema,
  updateSchema,
  versionSchema,
  workOptionsSchema,
} from '../entities/options.ts'
import { type PlanOptions, type PlanRun, planOptionsSchema } from '../entities/plan-run.ts'
import { generationOptionsSchema } from '../entities/run.ts'
import { type Outcome, type Task, titleOf } from '../entities/task.ts'
import type { Op, Reads, Step } from '../ledger/ledger.ts'
import type { ClaimToken } from '../machines/ownership.ts'
import type { AbilityHost } from '../operations/ability-host.ts'
import { requireExecutors } from '../operations/drafts/known-executors.ts'
import { refuseModels } from '../operations/model-bounds.ts'
import { requireWithin } from '../operations/steps/conditions.ts'
import { deleteTask } from '../operations/steps/delete.ts'
import { dependenciesOf } from '../operations/steps/explain.ts'
import { findTask } from '../operations/steps/find-task.ts'
import { loadSharedLimits, setSharedLimits } from '../operations/steps/limits.ts'
import { guardChange, guardDeletion } from '../operations/steps/right-to-answer.ts'
import { requestedBy, requireTask, type StepContext } from '../operations/steps/step-context.ts'
import * as verbs from '../operations/steps/task-lifecycle.ts'
import { claimTask } from '../operations/task/claim.ts'
import { createTasks } from '../operations/task/create-tasks.ts'
import { applyTo, type ChangeContext, type Changing, type Subject } from '../operations/task/define-change.ts'
import { readGraph } from '../operations/task/graph.ts'
import { taskOperations } from '../operations/task/index.ts'
import { readMachine } from '../operations/task/machine.ts'
import { readTasks, startHeldTasks } from '../operations/task/start-held.ts'
import { updateStep } from '../operations/task/update.ts'
import { readWhy } from '../operations/task/why.ts'
import { filterOf } from '../operations/task-filter.ts'
import type { PlanHost } from '../plans/plan-run.ts'
import type { AbilityMethods } from './ability-methods.ts'
import { asOwner, asWriter, claimTokenOf } from './claimed-task.ts'
import type { Engine, Limits, StatusStore, TaskGraph, TaskRef, Why, WorkOptions } from './engine-api.ts'
import { runBatch } from './run-batch.ts'
import { wingMethods } from './wing-methods.ts'

type Change = Extract<(typeof taskOperations)[number], Changing>
type ChangeMethod = Change['id'] extends `task:${infer Method}` ? Method : never

const taskChanges = taskOperations.filter((operation): operation is Change => 'change' in operation)

/** The derived methods. The engine's interface, which is written by hand, has each of them, or this does not compile. */
const DerivedMethods = class {} as unknown as new () => Pick<Engine, Exclude<ChangeMethod, 'update'>>

export class TaskEngine extends DerivedMethods {
  // The methods that change one task, like `engine.pause(task)`, are those of their operations, unless the class has one that does more.
  static {
    for (const operation of taskChanges) {
      if (Object.hasOwn(TaskEngine.prototype, operation.method)) continue
      const value = function (this: TaskEngine, ref: TaskRef, ...given: unknown[]): Promise<Task> {
        return this.#change(operation, ref, given)
      }
      Object.defineProperty(value, 'name', { value: operation.method })
      Object.defineProperty(TaskEngine.prototype, operation.method, { value, configurable: true, writable: true })
    }
  }

  readonly instanceId: string
  readonly bus: Bus
  readonly #life: Lifecycle
  readonly #host: AbilityHost
  readonly #caller: Caller

  /** Abilities as methods, with the same names: `agent`, `objective`, `task`, `schedules`, `mem`. */
  readonly agent: AbilityMethods['agent']
  readonly objective: AbilityMethods['objective']
  readonly task: AbilityMethods['task']
  readonly schedules: AbilityMethods['schedules']
  readonly mem: AbilityMethods['mem']

  /** A `caller` with a task is a run or its model, which may access that task and its subtree only. */
  constructor(life: Lifecycle, host: AbilityHost, bus: Bus, caller: Caller = libraryCaller) {
    super()
    this.instanceId = life.instanceId
    this.bus = bus
    const methods = wingMethods(bus, caller)
    ;({ agent: this.agent, objective: this.objective, task: this.task, schedules: this.schedules } = methods)
    this.mem = methods.mem
    this.#life = life
    this.#host = host
    this.#caller = caller
    offerTime(this, life.clock)
  }

  /** The same engine with the rights of the caller of an ability. */
  static within(engine: TaskEngine, caller: Caller): TaskEngine {
    return new TaskEngine(engine.#life, engine.#host, engine.bus, caller)
  }

  async work(options?: WorkOptions): Promise<void> {
    refuseModels(this.#caller, 'work')
    const { only } = accept(workOptionsSchema, options ?? {}, 'work')
    await this.#life.work(only)
  }

  close(): Promise<void> {
    refuseModels(this.#caller, 'close')
    return this.#life.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  // ── creating and reading ──

  async create(given: unknown): Promise<unknown> {
    this.#life.requireOpen()
    const specs: unknown[] = Array.isArray(given) ? given : [given]
    for (const spec of specs) refuseFault(spec, 'create')
    const tasks = await createTasks(this.#host, this.#caller, specs)
    return Array.isArray(given) ? tasks : tasks[0]
  }

  async get(ref: TaskRef): Promise<Task | null> {
    const id = idOf(ref)
    const record = await this.#read([id], (tx) => tx.task.get(id))
    return record === undefined || record.deletedAt !== null ? null : ((await this.#life.views([record]))[0] as Task)
  }

  /** A task by its id, by `#seq`, or by a prefix of its id that no other task shares (with or without `task-`). */
  async find(ref: string): Promise<Task | null> {
    const text = requireText(ref, 'the task reference')
    const { taskId } = this.#caller
    const record = await this.#life.read(function* (tx) {
      const found = yield* findTask(tx, text)
      if (found !== undefined && taskId !== undefined) yield* requireWithin(tx, taskId, [found.id])
      return found
    })
    return record === undefined ? null : ((await this.#life.views([record]))[0] as Task)
  }

  async list(options: ListOptions = {}): Promise<{ tasks: Task[]; total: number; next: string | null }> {
    const { limit, after, ...given } = accept(listOptionsSchema, options, 'list')
    const filter = filterOf(given)
    const position = after === undefined ? undefined : readPosition(after)
    // A model may only list the children of a task in its own subtree.
    const scope = typeof given.parentId === 'string' ? [given.parentId] : ['the list of all tasks']
    const { page, total } = await this.#read(scope, function* (tx) {
      return { page: yield* tx.task.page(filter, limit, position), total: yield* tx.task.count(filter) }
    })
    const last = page.rows.at(-1)
    return {
      tasks: await this.#life.views(page.rows),
      total,
      next: page.isLast || last === undefined ? null : `${last.priority}:${last.seq}`,
    }
  }

  async batch(action: BatchAction, filter: TaskFilterOptions, options: unknown = {}): Promise<BatchResult> {
    return runBatch(this.bus, this.#caller, action, filter, accept(batchRunSchema, options, 'batch'))
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

  async calls(ref: TaskRef, options: { generation?: number } = {}): Promise<unknown[]> {
    const { generation } = accept(generationOptionsSchema, options, 'calls')
    const entries = await this.#of(ref, (tx, id) =>
      generation === undefined ? tx.call.list(id) : tx.call.ofGeneration(id, generation),
    )
    return entries.filter(({ kind }) => kind === 'call').map(toCall)
  }

  async messages(ref: TaskRef): Promise<Message[]> {
    return (await this.#of(ref, (tx, id) => tx.message.list(id))).map(toMessage)
  }

  async runs(ref: TaskRef, options: { generation?: number } = {}): Promise<unknown[]> {
    const { generation } = accept(generationOptionsSchema, options, 'runs')
    const runs = await this.#of(ref, (tx, id) => tx.run.list(id))
    return generation === undefined ? runs : runs.filter((run) => run.generation === generation)
  }

  // ── verbs ──

  async update(ref: TaskRef, patch: TaskPatch): Promise<Task> {
    const parsed = accept(updateSchema, patch, 'update')
    const stepOf = (id: string, context: ChangeContext) => updateStep(id, parsed, this.#stepContext(), context)
    return this.#apply(ref, stepOf, claimTokenOf(ref), parsed.blockedBy)
  }

  delete(ref: TaskRef, options: unknown = {}): Promise<boolean> {
    this.#life.requireOpen()
    const { children } = accept(deleteOptionsSchema, options, 'delete')
    const subject = subjectOf(ref)
    const deletion = deleteTask(subject.taskId, children, this.#stepContext())
    return applyTo(this.#context(), subject, guardDeletion(deletion, subject.taskId, this.#caller))
  }

  async complete(ref: TaskRef, result?: unknown, options: unknown = {}): Promise<Task> {
    const claimant = claimTokenOf(ref, accept(claimTokenOptionsSchema, options, 'complete'))
    const image = resultImage(result, 'the result', (loss) =>
      this.#life.report(loss, { taskId: idOf(ref), doing: 'complete' }),
    )
    const stepOf = (id: string) =>
      guardChange(verbs.complete(id, image, claimant, this.#stepContext()), id, 'complete', this.#caller)
    return this.#apply(ref, stepOf, claimant)
  }

  async sendEvent(ref: TaskRef, event: unknown, options?: { id?: string }): Promise<Task> {
    const { type } = accept(machineEventSchema, event, 'sendEvent')
    return this.signal(ref, type, event, options)
  }

  async handle(message: string, options: HandleOptions = {}): Promise<Handled> {
    this.#life.requireOpen()
    return createHandler({ engine: this as unknown as HandlerEngine, bus: this.bus })(message, options)
  }

  async why(ref: TaskRef): Promise<Why> {
    return readWhy(this.#context(), idOf(ref))
  }

  async machine(ref: TaskRef): Promise<TaskMachine | null> {
    return readMachine(this.#context(), idOf(ref))
  }

  async plan(source: string | object, options: PlanOptions = {}): Promise<PlanRun> {
    refuseModels(this.#caller, 'plan')
    this.#life.requireOpen()
    const request = accept(planOptionsSchema, options, 'plan') as PlanOptions
    const { ledger, feed, clock } = this.#life
    const { context } = this.#host.drafter
    // Loaded when first used: with the parser of YAML.
    const { runPlan } = await import('../plans/plan-run.ts')
    const host: PlanHost = {
      engine: this as unknown as Engine,
      ledgerName: ledger.name,
      executors: context.anyExecutor ? undefined : [...context.executors.keys()],
      clock,
      onStop: (listener) => feed.onStop(() => listener(this.#life.whyStopped())),
    }
    return runPlan(host, source, request)
  }

  // ── work from outside ──

  async claim(ref: TaskRef | null, options: ClaimOptions): Promise<Task | null> {
    const parsed = accept(claimOptionsSchema, options, 'claim')
    const taskId = ref === null ? null : idOf(ref)
    const task = await claimTask(this.#context(), { ...parsed, taskId }, this.#life.stepContext())
    return task === null ? null : asOwner(task)
  }

  async graph(options: unknown = {}): Promise<TaskGraph> {
    return readGraph(this.#context(), accept(graphOptionsSchema, options, 'graph').parentId)
  }

  // ── limits and retention ──

  async limits(): Promise<Limits> {
    const shared = await this.#life.read(loadSharedLimits)
    return { engine: this.#life.supervisor.limits, shared: shared ?? noSharedLimits }
  }

  async setLimits(given: LimitsPatch): Promise<Limits> {
    refuseModels(this.#caller, 'setLimits')
    this.#life.requireOpen()
    const { maxConcurrent, limits = {} } = accept(limitsSchema, given, 'setLimits')
    requireExecutors(Object.keys(limits), [...this.#host.drafter.context.executors.keys()], 'setLimits')
    this.#life.supervisor.setLimits(maxConcurrent, limits)
    return this.limits()
  }

  async setSharedLimits(given: SharedLimitsPatch): Promise<Limits> {
    refuseModels(this.#caller, 'setSharedLimits')
    await this.#host.step(setSharedLimits(accept(sharedLimitsSchema, given, 'setSharedLimits')))
    this.#life.supervisor.wake()
    return this.limits()
  }

  async purge(options: unknown): Promise<PurgeSum> {
    refuseModels(this.#caller, 'purge')
    const { before } = accept(purgeOptionsSchema, options, 'purge')
    const { clock } = this.#host
    const sum = await purgeFamilies(
      {
        clock,
        read: (query) => this.#host.read(query),
        step: (each) => this.#host.step(each),
        mayGoOn: () => true,
      },
      before,
    )
    await this.#life.status.count()
    return sum
  }

  // ── following ──

  async result(ref: TaskRef, options: unknown = {}): Promise<unknown> {
    const id = idOf(ref)
    const outcome = await this.settled(ref, options)
    if (outcome.status === 'completed') return outcome.result
    // Undefined when it has been purged since.
    const task = await this.#host.read((tx) => tx.task.get(id))
    const title = task === undefined ? id : titleOf(task)
    if (outcome.status === 'canceled') throw new TaskCanceledError(id, outcome.statusReason, title)
    const { error } = outcome
    // Outcomes hold no stack: it is read from the row, unless the task has been retried since.
    const thrown = task?.error?.message === error.message ? task.error : error
    throw new TaskFailedError(id, error, restoredCause(thrown), title)
  }

  async settled(ref: TaskRef, options: unknown = {}): Promise<Outcome> {
    this.#life.requireOpen()
    const until = accept(timeoutOptionsSchema, options, 'settled')
    const id = idOf(ref)
    if (this.#caller.taskId !== undefined) await this.#read([id], noRows)
    const run = callingRun()
    if (run?.instanceId === this.instanceId && !run.hasEnded && (await this.#isBelow(id, run.taskId))) {
      try {
        const settled = run.untilSettled(id, until.timeoutMs)
        return await (until.signal === undefined ? settled : untilAborted(settled, until.signal))
      } catch (error) {
        // Its executor has not awaited this: it is a wait outside of any run from now on.
        if (!run.hasEnded) throw error
      }
    }
    return awaitSettlement(this.#life.ledger, this.#life.feed, this.#life.clock, id, until, () =>
      this.#life.whyStopped(),
    )
  }

  async #isBelow(id: string, root: string): Promise<boolean> {
    const above = await this.#host.read((tx) => tx.task.ancestors(id))
    return above.some((task) => task.id === root)
  }

  stream(ref: TaskRef, options: unknown = {}): AsyncGenerator<unknown, void, void> {
    this.#life.requireOpen()
    const { after, signal } = accept(streamOptionsSchema, options, 'stream')
    const id = idOf(ref)
    return this.#following(
      [id],
      streamTask(this.#life.ledger, this.#life.feed, this.#life.output, id, { after, signal }),
    )
  }

  events(options: unknown = {}): AsyncGenerator<TaskEvent, void, void> {
    this.#life.requireOpen()
    const following = accept(eventsOptionsSchema, options, 'events')
    return this.#following(
      [following.taskId ?? 'the events of all tasks'],
      followEvents(this.#life.ledger, this.#life.feed, following),
    )
  }

  subscribe(type: never, handler: never): () => void {
    refuseModels(this.#caller, 'subscribe')
    this.#life.requireOpen()
    return this.#life.subscriptions.subscribe(
      accept(eventTypeSchema, type, 'subscribe'),
      requireFunction(handler, 'the handler of subscribe'),
    )
  }

  inspect(observer: unknown, options: unknown = {}): () => void {
    refuseModels(this.#caller, 'inspect')
    this.#life.requireOpen()
    const parsed = accept(inspectOptionsSchema, options, 'inspect')
    return this.#life.inspection.attach(parse(inspectionObserverSchema, observer, 'the observer of inspect'), parsed)
  }

  async startHeld(): Promise<Task[]> {
    refuseModels(this.#caller, 'startHeld')
    this.#life.requireOpen()
    const ids = await startHeldTasks(this.#host, [...this.#host.drafter.context.executors.keys()])
    await this.idle()
    return readTasks(this.#host, ids)
  }

  async idle(options: { system?: boolean } = {}): Promise<void> {
    const { system } = accept(idleOptionsSchema, options, 'idle')
    const executors = [...this.#host.drafter.context.executors.keys()]
    const { rest } = this.#life.clock
    this.#life.requireOpen()
    if (rest !== undefined) {
      await rest()
      return this.#life.requireOpen()
    }
    for (;;) {
      this.#life.requireOpen()
      const moved = this.#life.feed.moved()
      const those = (tasks: RunnableTasks) => executors.filter((name) => this.#host.canRun(name) === tasks)
      const { trees } = this.#life.supervisor
      if (system) await this.#life.outboxSettled()
      if (!(await this.#life.read((tx) => tx.task.anyAwake(those('all'), those('named'), trees, system)))) return
      await moved
    }
  }

  get status(): StatusStore {
    return this.#life.status.store()
  }

  // ── private ──

  #following<T>(ids: readonly string[], items: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void> {
    if (this.#caller.taskId === undefined) return items
    const allowed = (): Promise<void> => this.#read(ids, noRows)
    return (async function* () {
      await allowed()
      yield* items
    })()
  }

  #read<R>(ids: readonly string[], query: (tx: Reads) => Op<R>): Promise<R> {
    const scope = this.#caller.taskId
    return this.#life.read(scope === undefined ? query : (tx) => readWithin(tx, scope, ids, query))
  }

  async #change(operation: Changing, ref: TaskRef, given: readonly unknown[]): Promise<Task> {
    const { owner, fence, ...fields } = fieldsIn(operation, given) as Partial<ClaimToken>
    const claimant = claimTokenOf(ref, { owner, fence })
    const input = { ...fields, ...subjectOf(ref) }
    return asWriter(await operation.change(this.#context(claimant), input, this.#life.stepContext()), claimant)
  }

  #stepContext(): StepContext {
    return requestedBy(this.#life.stepContext(), this.#caller)
  }

  #context(claimant?: ClaimToken): ChangeContext {
    return { host: this.#host, caller: this.#caller, claimant }
  }

  /** Runs a step on one task, for methods whose ability has another form. `others` are further tasks that the step names. */
  async #apply(
    ref: TaskRef,
    stepOf: (id: string, context: ChangeContext) => Step,
    claimant: ClaimToken | undefined,
    others: readonly string[] = [],
  ): Promise<Task> {
    const subject = subjectOf(ref)
    const context = this.#context(claimant)
    await applyTo(context, subject, stepOf(subject.taskId, context), others)
    return asWriter(await this.#host.view(subject.taskId), claimant)
  }

  #of<R>(ref: TaskRef, query: (tx: Reads, id: string) => Op<R>): Promise<R> {
    const id = idOf(ref)
    return this.#read([id], (tx) => readOf(tx, id, query))
  }
}

function* readWithin<R>(tx: Reads, scope: string, ids: readonly string[], query: (tx: Reads) => Op<R>): Op<R> {
  yield* requireWithin(tx, scope, ids)
  return yield* query(tx)
}

function* readOf<R>(tx: Reads, id: string, query: (tx: Reads, id: string) => Op<R>): Op<R> {
  requireTask(yield* tx.task.get(id), id)
  return yield* query(tx, id)
}

function idOf(ref: TaskRef): string {
  const id = typeof ref === 'string' ? ref : ref?.id
  if (typeof id === 'string') return checkText(id, 'the task id')
  const given = typeName(ref) === 'object' ? `an object whose id is ${typeName(id)}` : typeName(ref)
  throw new ErrandError('INVALID_INPUT', `Expected a task or its id, got ${given}.`, {})
}

function subjectOf(ref: TaskRef): Subject {
  return { taskId: idOf(ref), expectedVersion: versionIn(ref) }
}

/** The `expectedVersion` of a reference. The `version` of a task that is passed is not a condition. */
function versionIn(ref: TaskRef): number | undefined {
  if (typeof ref === 'string' || ref.expectedVersion === undefined) return undefined
  return accept(versionSchema, ref.expectedVersion, 'expectedVersion')
}

function* noRows(): Op<void> {}

function readPosition(after: string): { priority: number; seq: number } {
  const match = /^(-?\d+):(\d+)$/.exec(after)
  if (match) return { priority: Number(match[1]), seq: Number(match[2]) }
  throw new ErrandError('INVALID_INPUT', `"${after}" is not a position: pass the \`next\` of the previous page.`, {
    after,
  })
}

/** The fields of a change, from the arguments of a method: its own arguments, and the options after them. */
function fieldsIn({ method, args, takesTasks, argFields, optionFields }: Changing, given: readonly unknown[]): object {
  const named = args.flatMap((name, n) => {
    const value = given[n]
    return value === undefined ? [] : [[name, takesTasks ? idsOf(value as TaskRef | readonly TaskRef[]) : value]]
  })
  const options = optionFields()
  const optional = given[args.length] === undefined ? {} : given[args.length]
  return {
    ...parse(argFields, Object.fromEntries(named), method),
    ...(options === undefined ? {} : accept(options, optional, method)),
  }
}

function idsOf(refs: TaskRef | readonly TaskRef[]): string[] {
  return (Array.isArray(refs) ? refs : [refs]).map(idOf)
}

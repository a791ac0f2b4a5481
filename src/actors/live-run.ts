// A run that is alive: what an executor talks to. Everything it asks for is recorded before it acts; when nothing of it is in
// flight and it only waits, it ends, and a later run goes on from the journal.
import { type AgentRun, type AwaitedTasks, agentFacilities } from '../agent-run.ts'
import type { Ability } from '../bus/ability.ts'
import { failureWithin } from '../bus/ability-error.ts'
import type { Caller } from '../bus/caller.ts'
import { toAwaitedTask } from '../entities/awaited-task.ts'
import { type CallRecord, identOf } from '../entities/call.ts'
import type { MessageRole } from '../entities/message.ts'
import type { QuestionParams } from '../entities/question.ts'
import type { OnInterrupt, Outcome, Task, TaskRecord } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import {
  type AnswerSchema,
  type AnyExecutor,
  type AskOptions,
  isExecutor,
  type Run,
  type SpawnOptions,
  type SpawnSpec,
  type WaitOptions,
} from '../executor.ts'
import { checkText, fromJson, toJson } from '../json.ts'
import { resultsOf, type WaitParams } from '../machines/family.ts'
import {
  askOptionsSchema,
  emitOptionsSchema,
  invokeOptionsSchema,
  keyOptionsSchema,
  waitOptionsSchema,
} from '../options.ts'
import { requireText } from '../parse.ts'
import { toAnswerSchema } from '../steps/answer-schema.ts'
import { dependenciesOf } from '../steps/explain.ts'
import { appendMessage, type RunRef, reportProgress, runEnded, writeOutput } from '../steps/journal.ts'
import type { ExecutorOutcome } from '../steps/settle-run.ts'
import { toTask } from '../steps/views.ts'
import { beginWait } from '../steps/wait.ts'
import { within } from '../steps/within.ts'
import { retryAfterOf, toStoredError } from '../stored-error.ts'
import type { EntryDescription } from './call-scope.ts'
import { invokeExecutor } from './invoke-executor.ts'
import type { CallFunction } from './perform-call.ts'
import { awaitedIds, callArguments, checkDuration, checkFraction, checkMessage, checkOptions } from './run-arguments.ts'
import { type CallWay, RunCalls } from './run-calls.ts'
import { RunConversation } from './run-conversation.ts'
import { RunCore, type RunHost } from './run-core.ts'
import { runInCall } from './run-in-call.ts'
import { type DraftMessage, writeRunMessage } from './run-message.ts'
import { RunOutput } from './run-output.ts'
import { spawnInRun } from './run-spawns.ts'
import { valueInRun } from './run-values.ts'
import { RunWaits } from './run-waits.ts'

export class LiveRun implements Run {
  readonly number: number
  readonly attempt: number
  readonly taskId: string
  readonly #task: TaskRecord
  readonly #executor: AnyExecutor
  readonly #host: RunHost
  readonly #core: RunCore
  readonly #output: RunOutput
  readonly #calls: RunCalls
  readonly #waits: RunWaits
  readonly #conversation: RunConversation
  /** By message on its way, how much of its text has gone out. */
  readonly #spoken = new Map<string, number>()
  /** How to reject what has been asked for and not been answered. */
  readonly #pending = new Set<(reason: ErrandError) => void>()

  constructor(task: TaskRecord, executor: AnyExecutor, host: RunHost) {
    this.#task = task
    this.#executor = executor
    this.#host = host
    this.number = task.run
    this.attempt = task.attempt
    this.taskId = task.id
    const { divergence, divergenceWaitMs } = isExecutor(executor) ? executor : {}
    this.#core = new RunCore(task, host, { divergence: divergence ?? task.policy.divergence, divergenceWaitMs })
    this.#output = new RunOutput(host.clock, (text) => this.#storeOutput(text))
    this.#waits = new RunWaits(this.#core, this.#output)
    this.#calls = new RunCalls(this.#core, this.#output, this.#onInterrupt, (question, schema, key) =>
      this.ask(question, schema, { key }),
    )
    this.#conversation = new RunConversation(this.#core)
  }

  get signal(): AbortSignal {
    return this.#core.signal
  }

  get ref(): RunRef {
    return this.#core.ref
  }

  /** It has made entries in the journal, or found some: the end must look for open ones. */
  get journaled(): boolean {
    return this.#core.journaled
  }

  get diverged(): string[] {
    return this.#core.journal.diverged
  }

  /** Number of the last message that it has read; null for a run that reads no conversation. */
  get readThrough(): number | null {
    return this.#conversation.readThrough
  }

  /** Runs the executor to its end; never rejects. Null for a run that has been ended: whatever it returned or threw is ignored. */
  async execute(): Promise<ExecutorOutcome | null> {
    let outcome: ExecutorOutcome
    try {
      if (this.number > 1) await this.#core.loadJournal()
      if (this.#core.ended) return null
      outcome = { kind: 'returned', result: await invokeExecutor(this.#executor, toTask(this.#task, [], []), this) }
    } catch (error) {
      const stored = toStoredError(error)
      const retryAfterMs = retryAfterOf(error)
      outcome = {
        kind: 'threw',
        error: stored,
        final: stored.final === true,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      }
    }
    if (!this.#output.isEmpty) await this.#output.flush()
    return this.#core.ended ? null : outcome
  }

  get callsWithProcesses(): CallRecord[] {
    return this.#calls.withProcesses
  }

  callsSettled(): Promise<void> {
    return this.#calls.allSettled()
  }

  processesEnded(): Promise<void> {
    return this.#calls.processesEnded()
  }

  /** The run has ended: aborts, and rejects whatever is pending. */
  end(reason: ErrandError = runEnded(this.#core.ref)): void {
    if (!this.#core.end(reason)) return
    for (const reject of this.#pending) reject(reason)
    this.#pending.clear()
    this.#waits.end()
    this.#calls.end()
  }

  /** Ends the run at its next safe point: when no call is in flight. */
  drain(): void {
    this.#calls.whenNone(() => this.end(runEnded(this.#core.ref, 'the engine is closing')))
  }

  /** A wait may be over while the run is still alive: it goes on in place. */
  poke(callId: string): void {
    this.#waits.poke(callId)
  }

  // ── what the executor calls ──

  call(name: string, ...rest: any[]): Promise<any> {
    return this.#guard(() => {
      const { params, fn, options } = callArguments(name, rest)
      return this.#make(name, params, fn, options)
    })
  }

  invoke(ability: string | { readonly id: string }, input?: unknown, given?: unknown): Promise<any> {
    return this.#guard(() => {
      const options = checkOptions(invokeOptionsSchema, given as CallWay | undefined, 'run.invoke')
      const id = typeof ability === 'string' ? requireText(ability, 'the id of the ability') : ability.id
      const { bus } = this.#host
      const known = bus.get(id)
      if (known !== undefined && id === waitAbility) return this.#invokeWait(known, input, options.key)
      const fn: CallFunction = async (params, { signal, callId, identity, note }) => {
        try {
          return await bus.call(id, params, {
            caller: this.caller,
            signal,
            run: runInCall(this),
            callId,
            identity,
            note,
          })
        } catch (error) {
          throw failureWithin(error)
        }
      }
      return this.#make(id, input ?? {}, fn, {
        onInterrupt: options.onInterrupt ?? known?.onInterrupt,
        retry: options.retry ?? known?.retry,
        timeoutMs: options.timeoutMs ?? known?.timeoutMs,
        key: options.key,
        divergence: options.divergence,
      } as CallWay)
    })
  }

  message(
    role: MessageRole,
    content: string | AsyncIterable<string> | Iterable<string>,
    options?: { key?: string },
  ): Promise<string> {
    return this.#guard(() => {
      checkMessage(role, content)
      const { key } = checkOptions(keyOptionsSchema, options, 'run.message')
      this.#core.divergence.asked()
      return this.#core.busy(() =>
        writeRunMessage(
          {
            journal: this.#core.journal,
            signal: this.signal,
            id: this.#host.nextId('msg'),
            live: (token, messageId) => this.#live(token, messageId),
            store: (message) => this.#store(message),
          },
          role,
          content,
          key,
        ),
      )
    })
  }

  emit(chunk: string, options?: { store?: boolean }): void {
    if (this.#core.ended) return
    const { store } = checkOptions(emitOptionsSchema, options, 'run.emit')
    const text = checkText(String(chunk), 'the output')
    if (store) this.#output.add(text)
    else this.#host.live(this.taskId, { content: text })
  }

  ask<T = unknown>(question: string, schema?: AnswerSchema | null, given?: AskOptions): Promise<T> {
    return this.#guard(async () => {
      const options = checkOptions(askOptionsSchema, given, 'run.ask')
      const params: QuestionParams = {
        question: requireText(question, 'the question'),
        schema: toAnswerSchema(schema),
        ...('default' in options ? { default: fromJson(toJson(options.default, 'the default answer')) } : {}),
        ...(options.personOnly ? { personOnly: true as const } : {}),
      }
      const entry = this.#core.describe('ask', 'ask', params, options.key, { question, schema: params.schema })
      const answer = await this.#waits.wait(entry, options.timeoutMs)
      return (isZod(schema) ? schema.parse(answer) : answer) as T
    })
  }

  spawn(specs: SpawnSpec | SpawnSpec[], options?: SpawnOptions): Promise<any> {
    return this.#guard(() => spawnInRun(this.#core, specs, options))
  }

  wait(tasks: string | { id: string } | ReadonlyArray<string | { id: string }>, given?: WaitOptions): Promise<any> {
    return this.#guard(async () => {
      const options = checkOptions(waitOptionsSchema, given, 'run.wait')
      const ids = awaitedIds(tasks)
      const params: WaitParams = {
        tasks: ids,
        mode: options.mode ?? 'all',
        settled: options.settled ?? false,
        ...(options.untilMessage ? { untilMessageAfter: this.readThrough ?? 0 } : {}),
      }
      const entry = this.#core.describe('wait', 'wait', params, options.key)
      const outcomes = await this.#waits.wait(entry, options.timeoutMs, (record) =>
        this.#core.step(beginWait(record, this.#host.moment())),
      )
      return resultsOf(params, outcomes as Array<Outcome | null>)
    })
  }

  sleep(ms: number, options?: { key?: string }): Promise<void> {
    return this.#guard(async () => {
      checkDuration(ms)
      const { key } = checkOptions(keyOptionsSchema, options, 'run.sleep')
      await this.#waits.wait(this.#core.describe('sleep', 'sleep', { ms }, key), ms)
    })
  }

  progress(fraction: number, note?: string): Promise<void> {
    return this.#guard(() => {
      checkFraction(fraction)
      const text = note === undefined ? null : requireText(note, 'the note')
      const { ref } = this.#core
      return this.#core.busy(() => this.#core.step(reportProgress(ref, fraction, text, this.#host.moment())))
    })
  }

  now(options?: { key?: string }): Promise<number> {
    return this.#guard(() => valueInRun(this.#core, 'now', options))
  }

  uuid(options?: { key?: string }): Promise<string> {
    return this.#guard(() => valueInRun(this.#core, 'uuid', options))
  }

  random(options?: { key?: string }): Promise<number> {
    return this.#guard(() => valueInRun(this.#core, 'random', options))
  }

  dependencies(): Promise<Task[]> {
    const { taskId } = this
    return this.#guard(async () => {
      const records = await this.#host.read((tx) => dependenciesOf(tx, taskId))
      return this.#host.views(records)
    })
  }

  // ── what an agent's executor calls besides ──

  /** As whom this run calls abilities: told by the engine, never by what a model says. */
  get caller(): Caller {
    return {
      surface: 'run',
      taskId: this.taskId,
      run: this.number,
      ...(this.#task.owner === null ? {} : { owner: this.#task.owner }),
      ...(this.#task.policy.abilities === undefined ? {} : { abilities: this.#task.policy.abilities }),
    }
  }

  get [agentFacilities](): AgentRun {
    return {
      bus: this.#host.bus,
      toolRun: runInCall(this),
      clock: this.#host.clock,
      caller: this.caller,
      policy: this.#task.policy,
      modelId: this.#task.policy.model ?? this.#host.modelIdOf(this.#task.executor as string),
      defaults: this.#host.agentDefaults,
      onInterrupt: this.#onInterrupt,
      chance: () => this.#host.chance(),
      nextId: (prefix) => this.#host.nextId(prefix),
      live: (token, messageId) => this.#live(token, messageId),
      report: (error, doing) => this.#host.report(error, { ...this.#core.ref, doing }),
      place: () => this.#guard(() => this.#host.placeOf(this.#task)),
      conversation: () => this.#guard(() => this.#conversation.read()),
      append: (message) => this.#guard(() => this.#core.busy(() => this.#conversation.append(message))),
      modelFailed: (failure) => this.#guard(() => this.#core.busy(() => this.#conversation.modelFailed(failure))),
      waitFor: (taskIds, options) => this.#guard(() => this.#waitFor(taskIds, options)),
      perform: (name, params, fn, way) => this.#guard(() => this.#perform(name, params, fn, way)),
    }
  }

  // ── inside ──

  #make(name: string, params: unknown, fn: CallFunction, way: CallWay): Promise<unknown> {
    const image = fromJson(toJson(params, `the params of call "${name}"`))
    return this.#calls.make(this.#core.describe('call', name, image, way.key), params, fn, way)
  }

  /** Found by its key alone, however often this run asks: a call that was recorded ahead is that one call. */
  async #perform(name: string, params: unknown, fn: CallFunction, way: CallWay & { key: string }): Promise<void> {
    const image = fromJson(toJson(params, `the params of call "${name}"`))
    const place = { kind: 'call' as const, name, ident: identOf(way.key, null), ordinal: 0 }
    const entry: EntryDescription = { ...place, params: image, scope: this.#core.scope() }
    let recorded = false
    try {
      await this.#calls.make(entry, params, fn, { ...way, inAllAttempts: true, recorded: () => (recorded = true) })
    } catch (error) {
      if (!recorded || this.#core.ended) throw error
    }
  }

  /** Waiting is no call: nothing of it is in flight, so the run can end meanwhile and give its slot back. */
  async #invokeWait(ability: Ability, input: unknown, key: string | undefined): Promise<AwaitedTasks> {
    const { taskIds, mode, timeoutMs } = ability.parseInput(input ?? {}) as WaitInput
    const params = { tasks: taskIds, mode, settled: true } satisfies WaitParams
    const entry = this.#core.describe('wait', 'wait', params, key)
    const outcomes = (await this.#waits.wait(entry, timeoutMs, (record) =>
      this.#core.step(within(beginWait(record, this.#host.moment()), this.taskId, taskIds)),
    )) as Array<Outcome | null>
    return { tasks: taskIds.map((id, index) => toAwaitedTask(id, outcomes[index])) }
  }

  /** The ids that count are those of the first asking: children may have come since. */
  async #waitFor(taskIds: readonly string[] | null, { key, mode, timeoutMs }: AgentWaitOptions): Promise<AwaitedTasks> {
    const { taskId } = this
    const named = taskIds ?? (await this.#host.read((tx) => tx.task.children(taskId))).map((child) => child.id)
    const params = {
      tasks: [...named],
      mode,
      settled: true,
      untilMessageAfter: this.#conversation.heardThrough,
    } satisfies WaitParams
    const entry = this.#core.describe('wait', 'wait', params, key)
    const tasks = (this.#core.find(entry)?.params as WaitParams | undefined)?.tasks ?? named
    const outcomes = (await this.#waits.wait(entry, timeoutMs, (record) =>
      this.#core.step(within(beginWait(record, this.#host.moment()), taskId, named)),
    )) as Array<Outcome | null>
    return { tasks: tasks.map((id, index) => toAwaitedTask(id, outcomes[index])) }
  }

  /** A piece of a message on its way. */
  #live(content: string, messageId: string): void {
    const offset = this.#spoken.get(messageId) ?? 0
    this.#spoken.set(messageId, offset + content.length)
    this.#host.live(this.taskId, { content, messageId, offset })
  }

  /** Appends one message row of this run. */
  async #store(message: DraftMessage): Promise<void> {
    this.#core.journaled = true
    const moment = this.#host.moment()
    const row = {
      ...message,
      taskId: this.taskId,
      announcement: false,
      step: null,
      delivery: null,
      run: this.number,
      timestamp: moment.at,
    }
    await this.#core.step(appendMessage(this.#core.ref, row, [], moment))
  }

  async #storeOutput(text: string): Promise<void> {
    try {
      await this.#core.step(writeOutput(this.#core.ref, text, this.#host.moment()))
    } catch (error) {
      // Output of a run that was closed meanwhile has no place any more.
      if (ErrandError.isInstance(error) && error.code === 'RUN_ENDED') return
      this.#host.report(error, { ...this.#core.ref, doing: 'store output' })
    }
  }

  get #onInterrupt(): OnInterrupt {
    const defined = isExecutor(this.#executor) ? this.#executor.onInterrupt : undefined
    return this.#task.policy.onInterrupt ?? defined ?? this.#host.onInterrupt
  }

  /** Every request: refused after the end, and never an unhandled rejection when the executor has let go of it. */
  #guard<R>(work: () => R | Promise<R>): Promise<R> {
    const promise = new Promise<R>((resolve, reject) => {
      if (this.#core.ended) return reject(this.#core.ended)
      this.#pending.add(reject)
      void (async () => work())()
        .then(resolve, reject)
        .finally(() => this.#pending.delete(reject))
    })
    promise.catch(() => {})
    return promise
  }
}

/** Of the ability `task:wait`. */
const waitAbility = 'task:wait'

interface WaitInput {
  taskIds: string[]
  mode: 'all' | 'any'
  timeoutMs?: number
}

type AgentWaitOptions = Parameters<AgentRun['waitFor']>[1]

function isZod(schema: unknown): schema is import('zod').ZodType {
  return typeof (schema as { safeParse?: unknown } | null | undefined)?.safeParse === 'function'
}

// A run that is alive: what an executor talks to. Everything it asks for is recorded before it acts; when nothing of it is in
// flight and it only waits, it ends, and a later run goes on from the journal.
import type { Clock } from '../clock.ts'
import { type CallKind, type CallRecord, identOf } from '../entities/call.ts'
import type { MessageRole } from '../entities/message.ts'
import type { QuestionParams } from '../entities/question.ts'
import { type OnInterrupt, type Outcome, type Task, type TaskRecord, toTask } from '../entities/task.ts'
import { ErrandError, Failure, type StoredError, toStoredError } from '../errors.ts'
import {
  type AnswerSchema,
  type AnyExecutor,
  type AskOptions,
  type CallOptions,
  isExecutor,
  type Run,
  type SpawnSpec,
  type WaitOptions,
} from '../executor.ts'
import { checkText, fromJson, toJson } from '../json.ts'
import type { NewCall, Op, Reads, Step } from '../ledger/ledger.ts'
import { resultsOf, type WaitParams } from '../machines/family.ts'
import { replayedError, replayOf } from '../machines/replay.ts'
import { askOptionsSchema, emitOptionsSchema, keyOptionsSchema, waitOptionsSchema } from '../options.ts'
import { requireText } from '../parse.ts'
import { toAnswerSchema } from '../steps/answer-schema.ts'
import type { CreateRequest, TreeLimits } from '../steps/create.ts'
import { dependenciesOf } from '../steps/explain.ts'
import {
  appendMessage,
  beginEntry,
  finishEntry,
  noteEntry,
  reportProgress,
  runEnded,
  writeOutput,
} from '../steps/journal.ts'
import { dueAfter, type Moment } from '../steps/moment.ts'
import type { ExecutorOutcome } from '../steps/settle-run.ts'
import { spawn } from '../steps/spawn.ts'
import { suspend } from '../steps/suspend.ts'
import { beginWait, takeWait, type WaitState } from '../steps/wait.ts'
import { invokeExecutor } from './invoke-executor.ts'
import { type CallFunction, type CallPerformance, performCall } from './perform-call.ts'
import { awaitedIds, callArguments, checkDuration, checkFraction, checkMessage, checkOptions } from './run-arguments.ts'
import { RunJournal } from './run-journal.ts'
import { type DraftMessage, writeRunMessage } from './run-message.ts'
import { RunOutput } from './run-output.ts'

/** What a run needs of the engine around it. */
export interface RunHost {
  readonly clock: Clock
  readonly onInterrupt: OnInterrupt
  nextId(prefix: string): string
  /** A random number from 0 to 1. */
  chance(): number
  readonly treeLimits: TreeLimits
  moment(): Moment
  step<L, D, R>(step: Step<L, D, R>): Promise<R>
  read<R>(query: (tx: Reads) => Op<R>): Promise<R>
  /** Parses children that a run spawns. */
  draft(specs: readonly SpawnSpec[], parentId: string): CreateRequest['trees']
  /** Live output, for whoever streams in this process. */
  live(taskId: string, content: string, messageId?: string): void
  /** A timer row was written. */
  arm(dueAt: number): void
  views(records: readonly TaskRecord[]): Promise<Task[]>
  report(error: unknown, context: Record<string, unknown>): void
}

interface PendingWait {
  kind: CallKind
  resolve(value: unknown): void
  reject(error: unknown): void
}

type EntryDescription = { kind: CallKind; name: string; ident: string; ordinal: number; params: unknown }

/** When the ledger refused to suspend a run, it is asked again after so many milliseconds. */
const suspendAgainMs = 200

const emptyJournal = (): RunJournal => new RunJournal()

export class LiveRun implements Run {
  readonly number: number
  readonly attempt: number
  readonly taskId: string
  readonly #task: TaskRecord
  readonly #executor: AnyExecutor
  readonly #host: RunHost
  readonly #controller = new AbortController()
  #journal: RunJournal = emptyJournal()
  #journaled = false
  #ended: ErrandError | undefined
  #inFlight = 0
  #callsInFlight = 0
  readonly #waits = new Map<string, PendingWait>()
  #quietCheck = false
  readonly #output: RunOutput
  #drained: (() => void) | undefined
  #callsSettled: (() => void) | undefined
  /** How to reject what has been asked for and not been answered. */
  readonly #pending = new Set<(reason: ErrandError) => void>()

  constructor(task: TaskRecord, executor: AnyExecutor, host: RunHost) {
    this.#task = task
    this.#executor = executor
    this.#host = host
    this.number = task.run
    this.attempt = task.attempt
    this.taskId = task.id
    this.#output = new RunOutput(host.clock, (text) => this.#storeOutput(text))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** It has made entries in the journal, or found some: the end must look for open ones. */
  get journaled(): boolean {
    return this.#journaled
  }

  get diverged(): string[] {
    return this.#journal.diverged
  }

  /** Runs the executor to its end; never rejects. */
  async execute(): Promise<ExecutorOutcome> {
    let outcome: ExecutorOutcome
    try {
      if (this.number > 1) await this.#loadJournal()
      outcome = this.#ended
        ? { kind: 'ignored' }
        : { kind: 'returned', result: await invokeExecutor(this.#executor, toTask(this.#task, [], []), this) }
    } catch (error) {
      outcome = {
        kind: 'threw',
        error: toStoredError(error),
        final: error instanceof Failure && !error.retry,
        ...(error instanceof Failure && error.retryAfterMs !== undefined ? { retryAfterMs: error.retryAfterMs } : {}),
      }
    }
    if (!this.#output.isEmpty) await this.#output.flush()
    // Whatever it returned or threw, a run that was ended has no outcome of its own.
    return this.#ended ? { kind: 'ignored' } : outcome
  }

  /** Calls whose functions have not settled, the executor's own end notwithstanding. */
  get callsInFlight(): number {
    return this.#callsInFlight
  }

  async callsSettled(): Promise<void> {
    if (this.#callsInFlight > 0) await new Promise<void>((settled) => (this.#callsSettled = settled))
  }

  /** The run has ended: aborts, and rejects whatever is pending. */
  end(reason: ErrandError = runEnded(this.#ref)): void {
    if (this.#ended) return
    this.#ended = reason
    this.#controller.abort(reason)
    for (const reject of this.#pending) reject(reason)
    this.#pending.clear()
    this.#waits.clear()
    this.#drained?.()
  }

  /** Ends the run at its next safe point: when no call is in flight. */
  drain(): void {
    const letGo = (): void => this.end(runEnded(this.#ref, 'the engine is closing'))
    if (this.#callsInFlight === 0) letGo()
    else this.#drained = letGo
  }

  /** A wait may be over while the run is still alive: it goes on in place. */
  poke(callId: string): void {
    const wait = this.#waits.get(callId)
    if (wait === undefined || this.#ended) return
    void this.#busy(() => this.#settleWait(callId, wait)).catch((error: unknown) => wait.reject(error))
  }

  // ── what the executor calls ──

  call(name: string, ...rest: any[]): Promise<any> {
    return this.#guard(() => {
      const { params, fn, options } = callArguments(name, rest)
      const image = fromJson(toJson(params, `the params of call "${name}"`))
      return this.#call(this.#describe('call', name, image, options.key), params, fn, options)
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
      return this.#busy(() =>
        writeRunMessage(
          {
            journal: this.#journal,
            signal: this.signal,
            id: this.#host.nextId('msg'),
            live: (token, messageId) => this.#host.live(this.taskId, token, messageId),
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
    if (this.#ended) return
    const { store } = checkOptions(emitOptionsSchema, options, 'run.emit')
    const text = checkText(String(chunk), 'the output')
    if (store) this.#output.add(text)
    else this.#host.live(this.taskId, text)
  }

  ask<T = unknown>(question: string, schema?: AnswerSchema | null, given?: AskOptions): Promise<T> {
    return this.#guard(async () => {
      const options = checkOptions(askOptionsSchema, given, 'run.ask')
      const params: QuestionParams = {
        question: requireText(question, 'the question'),
        schema: toAnswerSchema(schema),
        ...('default' in options ? { default: fromJson(toJson(options.default, 'the default answer')) } : {}),
      }
      const entry = this.#describe('ask', 'ask', params, options.key, { question, schema: params.schema })
      const answer = await this.#wait(entry, options.timeoutMs, (record) => this.#begin(record))
      return (isZod(schema) ? schema.parse(answer) : answer) as T
    })
  }

  spawn(specs: SpawnSpec | SpawnSpec[], options?: { key?: string }): Promise<any> {
    return this.#guard(() => {
      const { key } = checkOptions(keyOptionsSchema, options, 'run.spawn')
      const list = Array.isArray(specs) ? specs : [specs]
      const trees = this.#host.draft(list, this.taskId)
      const image = trees.map((tree) =>
        tree.map(({ id: _id, parentId: _parent, blockedBy, ...draft }) => ({ ...draft, after: blockedBy.length })),
      )
      const entry = this.#describe('spawn', 'spawn', fromJson(toJson(image, 'the tasks to spawn')), key)
      return this.#busy(async () => {
        const children = await this.#spawn(entry, trees)
        return Array.isArray(specs) ? children : children[0]
      })
    })
  }

  wait(tasks: string | { id: string } | ReadonlyArray<string | { id: string }>, given?: WaitOptions): Promise<any> {
    return this.#guard(async () => {
      const options = checkOptions(waitOptionsSchema, given, 'run.wait')
      const ids = awaitedIds(tasks)
      const params: WaitParams = { tasks: ids, mode: options.mode ?? 'all', settled: options.settled ?? false }
      const entry = this.#describe('wait', 'wait', params, options.key)
      const outcomes = await this.#wait(entry, options.timeoutMs, (record) =>
        this.#step(beginWait(record, this.#host.moment())),
      )
      return resultsOf(params, outcomes as Array<Outcome | null>)
    })
  }

  sleep(ms: number, options?: { key?: string }): Promise<void> {
    return this.#guard(async () => {
      checkDuration(ms)
      const { key } = checkOptions(keyOptionsSchema, options, 'run.sleep')
      const entry = this.#describe('sleep', 'sleep', { ms }, key)
      await this.#wait(entry, ms, (record) => this.#begin(record))
    })
  }

  progress(fraction: number, note?: string): Promise<void> {
    return this.#guard(() => {
      checkFraction(fraction)
      const text = note === undefined ? null : requireText(note, 'the note')
      return this.#busy(() => this.#step(reportProgress(this.#ref, fraction, text, this.#host.moment())))
    })
  }

  dependencies(): Promise<Task[]> {
    const { taskId } = this
    return this.#guard(async () => {
      const records = await this.#host.read((tx) => dependenciesOf(tx, taskId))
      return this.#host.views(records)
    })
  }

  // ── calls ──

  async #call(entry: EntryDescription, params: unknown, fn: CallFunction, options: CallOptions): Promise<unknown> {
    const onInterrupt = options.onInterrupt ?? this.#onInterrupt
    const found = this.#find(entry)
    switch (replayOf(found, this.attempt, onInterrupt)) {
      case 'result':
        return (found as CallRecord).result
      case 'error':
        throw replayedError(found as CallRecord)
      case 'ask':
        if (!(await this.#askAgain(found as CallRecord))) throw replayedError(found as CallRecord)
        break
      case 'anew':
      case 'resume':
    }
    return this.#busy(async () => {
      const record = this.#entryOf(entry, undefined, onInterrupt)
      await this.#step(beginEntry({ ...record, status: 'in_progress' }, this.#host.moment()))
      this.#callsInFlight++
      try {
        return await this.#perform(record, params, fn, options)
      } finally {
        this.#callsInFlight--
        if (this.#callsInFlight === 0) {
          this.#drained?.()
          this.#callsSettled?.()
        }
      }
    })
  }

  /** Executes the function of a recorded call and records what came of it. */
  async #perform(record: NewCall, params: unknown, fn: CallFunction, options: CallOptions): Promise<unknown> {
    let image: unknown
    try {
      const value = await performCall(this.#performing(record), params, fn, options)
      image = fromJson(toJson(value, `the result of call "${record.name}"`))
    } catch (error) {
      // Broken off by the end of the run: it may have happened, so it is closed as interrupted, not as failed by itself.
      if (this.#ended) throw this.#ended
      await this.#finish(record.id, { ok: false, error: toStoredError(error, 'CALL_FAILED') })
      throw error
    }
    await this.#finish(record.id, { ok: true, result: image })
    if (this.#ended) throw this.#ended
    return image
  }

  async #finish(
    callId: string,
    outcome: { ok: true; result: unknown } | { ok: false; error: StoredError },
  ): Promise<void> {
    if (!this.#output.isEmpty) await this.#output.flush()
    await this.#step(finishEntry(this.#ref, callId, outcome, this.#host.moment()))
  }

  #performing(record: NewCall): CallPerformance {
    return {
      clock: this.#host.clock,
      chance: () => this.#host.chance(),
      callId: record.id,
      name: record.name,
      signal: this.signal,
      note: (details) =>
        this.#step(
          noteEntry(this.#ref, record.id, fromJson(toJson(details, 'the details of a call')), this.#host.moment()),
        ),
    }
  }

  /** A person decides about a call that a crash interrupted: true to run it again. */
  async #askAgain(found: CallRecord): Promise<boolean> {
    const decision = await this.ask(
      `The call "${found.name}" was interrupted and may have happened. Run it again?`,
      { enum: ['rerun', 'fail'] },
      { key: `interrupted:${found.id}` },
    )
    return decision === 'rerun'
  }

  // ── waits ──

  /** Finds or records a wait and resolves when it is over; rejects when the run ends before. */
  async #wait(
    entry: EntryDescription,
    dueInMs: number | undefined,
    begin: (record: NewCall) => Promise<WaitState>,
  ): Promise<unknown> {
    const found = this.#find(entry)
    switch (replayOf(found, this.attempt, 'fail')) {
      case 'result':
        return (found as CallRecord).result
      case 'error':
        throw replayedError(found as CallRecord)
      case 'resume': {
        const { id } = found as CallRecord
        const over = this.#register(id, entry.kind)
        this.poke(id)
        return over
      }
      case 'anew':
      case 'ask':
    }
    const record = this.#entryOf(entry, dueInMs)
    // Registered first: what it waits for may end in the very commit that records it.
    const over = this.#register(record.id, entry.kind)
    await this.#busy(async () => {
      try {
        const begun = await begin(record)
        if (record.dueAt !== null) this.#host.arm(record.dueAt)
        if (!begun.open) this.#resolveWait(record.id, (wait) => wait.resolve(begun.outcomes))
      } catch (error) {
        this.#resolveWait(record.id, (wait) => wait.reject(error))
      }
    })
    return over
  }

  async #begin(record: NewCall): Promise<WaitState> {
    await this.#step(beginEntry(record, this.#host.moment()))
    return { open: true }
  }

  #register(callId: string, kind: CallKind): Promise<unknown> {
    const promise = new Promise<unknown>((resolve, reject) => {
      if (this.#ended) reject(this.#ended)
      else this.#waits.set(callId, { kind, resolve, reject })
    })
    promise.catch(() => {})
    return promise
  }

  async #settleWait(callId: string, wait: PendingWait): Promise<void> {
    const call = await this.#host.read((tx) => tx.call.get(callId))
    if (call?.status === 'completed') this.#resolveWait(callId, (each) => each.resolve(call.result))
    else if (call?.status === 'failed') this.#resolveWait(callId, (each) => each.reject(replayedError(call)))
    else if (wait.kind === 'wait') {
      const state = await this.#step(takeWait(this.#ref, callId, this.#host.moment()))
      if (!state.open) this.#resolveWait(callId, (each) => each.resolve(state.outcomes))
    }
  }

  #resolveWait(callId: string, settle: (wait: PendingWait) => void): void {
    const wait = this.#waits.get(callId)
    if (wait === undefined) return
    this.#waits.delete(callId)
    settle(wait)
  }

  /** Quiet: it waits, and nothing of it is in flight. Looked at after the executor has had its turn. */
  #checkQuiet(): void {
    if (this.#quietCheck || !this.#isQuiet) return
    this.#quietCheck = true
    setImmediate(() => {
      this.#quietCheck = false
      if (this.#isQuiet) void this.#suspend()
    })
  }

  get #isQuiet(): boolean {
    return this.#waits.size > 0 && this.#inFlight === 0 && this.#ended === undefined
  }

  async #suspend(): Promise<void> {
    try {
      if (!this.#output.isEmpty) await this.#output.flush()
      if (!this.#isQuiet) return
      const waits = [...this.#waits.keys()]
      this.#inFlight++
      const suspended = await this.#step(suspend({ ...this.#ref, ...this.#host.moment(), waits })).finally(
        () => this.#inFlight--,
      )
      // The feed tells of the end, in its order; a run that could not be suspended has something to take up.
      if (!suspended) for (const callId of waits) this.poke(callId)
    } catch (error) {
      this.#host.report(error, { taskId: this.taskId, run: this.number, doing: 'suspend' })
      this.#host.clock.setTimeout(() => this.#checkQuiet(), suspendAgainMs)
    }
  }

  // ── children, messages, output ──

  async #spawn(entry: EntryDescription, trees: CreateRequest['trees']): Promise<Task[]> {
    const found = this.#find(entry)
    if (found?.status === 'completed' && found.attempt === this.attempt) {
      const ids = found.result as string[]
      const records = await this.#host.read(function* (tx) {
        const children: TaskRecord[] = []
        for (const id of ids) {
          const child = yield* tx.task.get(id)
          if (child) children.push(child)
        }
        return children
      })
      return this.#host.views(records)
    }
    const { treeLimits } = this.#host
    const request: CreateRequest = { ...this.#host.moment(), trees, treeLimits }
    const children = found?.status === 'completed' ? (found.result as string[]) : []
    return this.#host.views(await this.#step(spawn(this.#entryOf(entry), request, children)))
  }

  /** Appends one message row of this run. */
  async #store(message: DraftMessage): Promise<void> {
    this.#journaled = true
    const moment = this.#host.moment()
    const row = { ...message, taskId: this.taskId, announcement: false, run: this.number, timestamp: moment.at }
    await this.#step(appendMessage(this.#ref, row, moment))
  }

  async #storeOutput(text: string): Promise<void> {
    try {
      await this.#step(writeOutput(this.#ref, text, this.#host.moment()))
    } catch (error) {
      // Output of a run that was closed meanwhile has no place any more.
      if (ErrandError.isInstance(error) && error.code === 'RUN_ENDED') return
      this.#host.report(error, { taskId: this.taskId, run: this.number, doing: 'store output' })
    }
  }

  // ── inside ──

  get #ref(): { taskId: string; run: number } {
    return { taskId: this.taskId, run: this.number }
  }

  get #onInterrupt(): OnInterrupt {
    const defined = isExecutor(this.#executor) ? this.#executor.onInterrupt : undefined
    return this.#task.policy.onInterrupt ?? defined ?? this.#host.onInterrupt
  }

  async #loadJournal(): Promise<void> {
    const { taskId, attempt } = this
    this.#journal = await this.#host.read(function* (tx) {
      return new RunJournal(yield* tx.call.list(taskId), yield* tx.message.list(taskId), attempt)
    })
    this.#journaled = true
  }

  #describe(kind: CallKind, name: string, params: unknown, key?: string, identity: unknown = params): EntryDescription {
    const ident = identOf(key, identity)
    checkText(name, 'the name of an entry')
    return { kind, name, ident, ordinal: this.#journal.claim(kind, name, ident), params }
  }

  #find(entry: EntryDescription): CallRecord | undefined {
    return this.#journal.find(entry.kind, entry.name, entry.ident, entry.ordinal)
  }

  #entryOf(entry: EntryDescription, dueInMs?: number, onInterrupt: OnInterrupt = 'fail'): NewCall {
    this.#journaled = true
    const { at } = this.#host.moment()
    return {
      ...entry,
      id: this.#host.nextId('call'),
      taskId: this.taskId,
      run: this.number,
      attempt: this.attempt,
      status: 'pending',
      onInterrupt,
      details: null,
      result: null,
      error: null,
      dueAt: dueInMs === undefined ? null : dueAfter(at, dueInMs),
      createdAt: at,
      updatedAt: at,
    }
  }

  #step<L, D, R>(step: Step<L, D, R>): Promise<R> {
    return this.#host.step(step)
  }

  /** Counts what is in flight; when it is done the run may have become quiet. */
  async #busy<R>(work: () => Promise<R>): Promise<R> {
    this.#inFlight++
    try {
      return await work()
    } finally {
      this.#inFlight--
      this.#checkQuiet()
    }
  }

  /** Every request: refused after the end, and never an unhandled rejection when the executor has let go of it. */
  #guard<R>(work: () => R | Promise<R>): Promise<R> {
    const promise = new Promise<R>((resolve, reject) => {
      if (this.#ended) return reject(this.#ended)
      this.#pending.add(reject)
      void (async () => work())()
        .then(resolve, reject)
        .finally(() => this.#pending.delete(reject))
    })
    promise.catch(() => {})
    return promise
  }
}

function isZod(schema: unknown): schema is import('zod').ZodType {
  return typeof (schema as { safeParse?: unknown } | null | undefined)?.safeParse === 'function'
}

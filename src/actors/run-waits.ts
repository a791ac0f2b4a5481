// The waits of a live run: questions, other tasks, signals, time. When a run only waits and nothing of it is in flight, it is
// suspended; a later run continues from the journal. A wait that ends while the run is open is resolved in place.
import { z } from 'zod'
import type { Duration } from '../core/duration.ts'
import { ErrandError } from '../core/errors.ts'
import { faithfulImage } from '../core/json.ts'
import { issuesIn, issueText, parse, requireSpokenText, safeParse, sentenceOf } from '../core/parse.ts'
import { restoredError } from '../core/restored-error.ts'
import { inNextTurn } from '../core/turns.ts'
import { toAwaitedTask } from '../entities/awaited-task.ts'
import type { CallKind, CallRecord } from '../entities/call.ts'
import { askOptionsSchema, keyOptionsSchema, signalOptionsSchema, waitOptionsSchema } from '../entities/options.ts'
import type { QuestionParams } from '../entities/question.ts'
import { type SignalParams, signalNameSchema } from '../entities/signal.ts'
import type { Outcome, TaskRecord } from '../entities/task.ts'
import type { WaitKind } from '../entities/telemetry.ts'
import type { AnswerSchema, AskOptions, SignalOptions, WaitOptions } from '../entities/wait-options.ts'
import type { NewCall, Step } from '../ledger/ledger.ts'
import { failedWaitOf, resultsOf, type WaitParams, waitFailure } from '../machines/family.ts'
import { replayedError, replayOf } from '../machines/replay.ts'
import type { AgentRun, AwaitedTasks } from '../operations/agent-run.ts'
import { matchingOutside, toAnswerSchema } from '../operations/steps/answer-schema.ts'
import { within } from '../operations/steps/conditions.ts'
import { beginOpenEntry } from '../operations/steps/journal.ts'
import { requestSlot } from '../operations/steps/park.ts'
import type { WaitBegun } from '../operations/steps/race.ts'
import { beginSignalWait } from '../operations/steps/signal.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import { park, type SuspendRequest, suspend } from '../operations/steps/suspend.ts'
import { beginWait, takeWait } from '../operations/steps/wait.ts'
import type { CallingRun, EntryDescription } from './call-scope.ts'
import { parsedOnce } from './parsed-once.ts'
import { awaitedIds, checkOptions, requireDuration } from './run-arguments.ts'
import { isRunOver, type RunCore, type WaitsOfRun } from './run-core.ts'
import type { RunOutput } from './run-output.ts'
import { Entrant, raceIn } from './run-race.ts'

interface WaitWay {
  /** The step that records it. Default: that of an entry which is open. */
  beginOf?: (record: NewCall, ctx: StepContext) => Step<WaitBegun>
  /** The run is parked for it, and not suspended. Default: false. */
  inMemory?: boolean | undefined
  /** Absent for a wait that no race can name. */
  entrant?: Entrant | undefined
}

interface PendingWait {
  kind: CallKind
  /** The run is parked for it, and not suspended. */
  inMemory: boolean
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** Delay, in milliseconds, after which a failed suspension or a failed check of a wait is retried. */
const againMs = 200

export class RunWaits implements WaitsOfRun, CallingRun {
  readonly #core: RunCore
  readonly #output: RunOutput
  readonly #open = new Map<string, PendingWait>()
  #isSuspending = false
  #machineEntry: string | undefined
  /** Resolves when the run has a slot again; undefined while it holds one. */
  #parked: PromiseWithResolvers<void> | undefined

  constructor(core: RunCore, output: RunOutput) {
    this.#core = core
    this.#output = output
    core.waits = this
  }

  get taskId(): string {
    return this.#core.taskId
  }

  get instanceId(): string {
    return this.#core.host.instanceId
  }

  get hasEnded(): boolean {
    return this.#core.hasEnded
  }

  get isWaiting(): boolean {
    return this.#open.size > 0
  }

  /** `RunCore` settles the requests, or leaves them alone. */
  end(): void {
    this.#open.clear()
    this.#parked = undefined
  }

  refuse(reason: ErrandError): void {
    for (const wait of this.#open.values()) wait.reject(reason)
    this.end()
  }

  get isParked(): boolean {
    return this.#parked !== undefined
  }

  /** Resolves when the run holds a slot: a request of a parked run waits for one. */
  async slot(): Promise<void> {
    const parked = this.#parked
    if (parked === undefined) return
    await this.#core.step(requestSlot(this.#core.ref, this.#core.host.stepContext()))
    await parked.promise
  }

  /** The run has a slot again. */
  goOn(): void {
    this.#parked?.resolve()
    this.#parked = undefined
    for (const callId of this.#open.keys()) this.wake(callId)
  }

  /** Checks whether a wait is over; if so, the run continues in place. */
  wake(callId: string): void {
    // Whatever it waits for: it looks for all that has arrived.
    if (this.#machineEntry !== undefined && !this.isParked)
      this.#resolve(this.#machineEntry, ({ resolve }) => resolve(undefined))
    const wait = this.#open.get(callId)
    // A parked run looks when it has a slot.
    if (wait === undefined || this.#core.hasEnded || this.isParked) return
    void this.#core
      .busy(() => this.#settle(callId, wait))
      .catch((error: unknown) => {
        const { ended, host, ref } = this.#core
        if (ended || isRunOver(error)) return
        host.report(error, { ...ref, doing: 'check whether a wait is over' })
        host.clock.setTimeout(() => this.wake(callId), againMs)
      })
  }

  /** Resolves when something may have arrived for the machine of the run, which stays in memory meanwhile. */
  forMachine(entryId: string): { arrived: Promise<void>; cancel(): void } {
    this.#machineEntry = entryId
    const arrived = this.#register(entryId, 'machine', true) as Promise<void>
    return { arrived, cancel: () => void this.#open.delete(entryId) }
  }

  async ask<T>(question: string, schema?: AnswerSchema | null, given?: AskOptions, entrant?: Entrant): Promise<T> {
    const options = checkOptions(askOptionsSchema, given, 'run.ask')
    const text = requireSpokenText(question, 'the question')
    const params: QuestionParams = {
      question: text,
      schema: toAnswerSchema(schema),
      ...('default' in options ? { default: faithfulImage(options.default, 'the default answer', 'default') } : {}),
      for: options.for ?? 'person',
    }
    const entry = this.#core.describe('ask', 'ask', params, options.key, { question: text, schema: params.schema })
    const answer = await this.#wait(entry, options.timeoutMs, { entrant })
    if (!(schema instanceof z.ZodType)) return answer as T
    const { name, ident, ordinal } = entry
    return (await parsedOnce(this.#core, 'answer', { name, ident, ordinal }, answer, () =>
      parsedAnswer(schema, answer, ['answer', `to "${question}"`, 'run.ask', 'ask']),
    )) as T
  }

  /** Resolves to the payload; to null after the time-out. */
  async forSignal(given: string, givenOptions: SignalOptions | undefined, entrant: Entrant): Promise<unknown> {
    const { key, schema, timeoutMs } = checkOptions(signalOptionsSchema, givenOptions, 'run.waitForSignal')
    const name = parse(signalNameSchema, given, 'the name of the signal')
    const params: SignalParams = { schema: toAnswerSchema(schema, 'signal') }
    // Without the schema: if that changes while a run waits, the next one continues its wait, and does not wait behind it.
    const entry = this.#core.describe('signal', name, params, key, null)
    const payload = await this.#wait(entry, timeoutMs, { entrant, beginOf: beginSignalWait })
    if (payload === null || !(schema instanceof z.ZodType)) return payload
    const { ident, ordinal } = entry
    return parsedOnce(this.#core, 'signal', { name, ident, ordinal }, payload, () =>
      parsedAnswer(schema, payload, ['payload', `of the signal "${name}"`, 'run.waitForSignal', 'wait']),
    )
  }

  async sleep(given: Duration, options: { key?: string } | undefined, entrant: Entrant): Promise<void> {
    const ms = requireDuration(given)
    const { key } = checkOptions(keyOptionsSchema, options, 'run.sleep')
    await this.#wait(this.#core.describe('sleep', 'sleep', { ms }, key), ms, { entrant })
  }

  /** Waits for any tasks; with `untilMessage`, also for a message after number `readThrough`. */
  async forTasks(
    tasks: unknown,
    given: WaitOptions | undefined,
    readThrough: number,
    entrant: Entrant,
  ): Promise<unknown[]> {
    const options = checkOptions(waitOptionsSchema, given, 'run.wait')
    const params: WaitParams = {
      tasks: awaitedIds(tasks),
      mode: options.mode ?? 'all',
      settled: options.settled ?? false,
      ...(options.untilMessage ? { untilMessageAfter: readThrough } : {}),
    }
    const entry = this.#core.describe('wait', 'wait', params, options.key)
    const outcomes = await this.#outcomes(entry, options.timeoutMs, null, { entrant, inMemory: options.inMemory })
    const failed = failedWaitOf(params, outcomes)
    if (failed === undefined) return resultsOf(params, outcomes)
    throw waitFailure(failed, await this.#awaitedTask(failed.taskId))
  }

  /** `engine.settled` of a task below this one. */
  untilSettled(taskId: string, timeoutMs: number | undefined): Promise<Outcome> {
    return this.#core.request(async () => {
      const params = { tasks: [taskId], mode: 'all', settled: true } satisfies WaitParams
      const [outcome] = await this.#outcomes(this.#core.describe('wait', 'wait', params), timeoutMs, null, {
        inMemory: true,
      })
      return outcome as Outcome
    })
  }

  /** The task that an error names. If it cannot be read, the error names only its id. */
  #awaitedTask(id: string): Promise<TaskRecord | undefined> {
    const { host } = this.#core
    return this.#core.busy(() => host.read((tx) => tx.task.get(id))).catch(() => undefined)
  }

  /** Waits as the ability `task:wait`: for tasks of the run's own subtree. */
  async forAbility(input: unknown, key: string | undefined): Promise<AwaitedTasks> {
    const { taskIds, mode, timeoutMs } = input as { taskIds: string[]; mode: 'all' | 'any'; timeoutMs?: number }
    const params = { tasks: taskIds, mode, settled: true } satisfies WaitParams
    const entry = this.#core.describe('wait', 'wait', params, key)
    return awaited(taskIds, await this.#outcomes(entry, timeoutMs, taskIds))
  }

  /**
   * Waits for tasks of the run's own subtree (null: its children), or for a message after number `seenThrough`. A later
   * run waits for the same ids as the first: children may have been added since.
   */
  async forAgent(
    taskIds: readonly string[] | null,
    { key, mode, timeoutMs }: Parameters<AgentRun['waitFor']>[1],
    seenThrough: number,
  ): Promise<AwaitedTasks> {
    const { host, taskId } = this.#core
    const named = taskIds ?? (await host.read((tx) => tx.task.children(taskId))).map((child) => child.id)
    const params = { tasks: [...named], mode, settled: true, untilMessageAfter: seenThrough } satisfies WaitParams
    const entry = this.#core.describe('wait', 'wait', params, key)
    const tasks = (this.#core.find(entry)?.params as WaitParams | undefined)?.tasks ?? named
    return awaited(tasks, await this.#outcomes(entry, timeoutMs, named))
  }

  /** Waits for tasks; `own`: those that must be in the run's own subtree. */
  #outcomes(
    entry: EntryDescription,
    dueInMs: number | undefined,
    own: readonly string[] | null,
    way: Pick<WaitWay, 'entrant' | 'inMemory'> = {},
  ): Promise<Array<Outcome | null>> {
    const { taskId } = this.#core
    const beginOf = (record: NewCall, ctx: StepContext): Step<WaitBegun> =>
      own === null ? beginWait(record, ctx) : within(beginWait(record, ctx), { surface: 'run', taskId }, own)
    return this.#wait(entry, dueInMs, { ...way, beginOf }) as Promise<Array<Outcome | null>>
  }

  /** Finds or records a wait and resolves when it is over. */
  async #wait(
    entry: EntryDescription,
    dueInMs: number | undefined,
    { beginOf = beginOpenEntry, inMemory = false, entrant = new Entrant() }: WaitWay,
  ): Promise<unknown> {
    entrant.describe(entry)
    const found = this.#core.find(entry)
    if (found !== undefined) {
      entrant.callId = found.id
      if (this.#core.journal.isWithdrawn(found)) throw replayedError(found)
    }
    switch (replayOf(found, this.#core.attempt, 'fail')) {
      case 'result':
        return (found as CallRecord).result
      case 'error':
        throw replayedError(found as CallRecord)
      case 'resume': {
        const { id } = found as CallRecord
        const over = this.#register(id, entry.kind, inMemory)
        this.wake(id)
        return over
      }
      case 'anew':
      case 'ask':
      case 'begin':
    }
    if (found !== undefined) this.#core.journal.remade(found)
    const record = this.#core.entryOf(entry, dueInMs)
    // Registered first: an awaited task may settle in the same commit that records the wait.
    const over = this.#register(record.id, entry.kind, inMemory)
    const begin = beginOf(record, this.#core.host.stepContext())
    await this.#core.busy(async () => {
      try {
        const begun = await entrant.begin(record, begin, () => matchingOutside(() => this.#core.step(begin)))
        if (record.dueAt !== null) this.#core.host.timerSet()
        this.#core.trace?.waits(entry.kind as WaitKind, record.id)
        if ('failed' in begun) this.#resolve(record.id, (wait) => wait.reject(restoredError(begun.failed)))
        else if (!begun.open) this.#resolve(record.id, (wait) => wait.resolve(begun.outcomes))
      } catch (error) {
        this.#resolve(record.id, (wait) => wait.reject(error))
      }
    })
    return over
  }

  race(given: unknown): Promise<unknown> {
    return raceIn(this.#core, given, (callId) => this.wake(callId))
  }

  #register(callId: string, kind: CallKind, inMemory: boolean): Promise<unknown> {
    const promise = new Promise<unknown>((resolve, reject) => {
      if (this.#core.ended) reject(this.#core.ended)
      else this.#open.set(callId, { kind, inMemory, resolve, reject })
    })
    promise.catch(() => {})
    return promise
  }

  async #settle(callId: string, wait: PendingWait): Promise<void> {
    const { host, ref } = this.#core
    const call = await host.read((tx) => tx.call.get(callId))
    if (call?.status === 'completed') this.#resolve(callId, (each) => each.resolve(call.result))
    else if (call?.status === 'failed') this.#resolve(callId, (each) => each.reject(replayedError(call)))
    else if (wait.kind === 'wait') {
      const state = await this.#core.step(takeWait(ref, callId, host.stepContext()))
      if (!state.open) this.#resolve(callId, (each) => each.resolve(state.outcomes))
    }
  }

  #resolve(callId: string, settle: (wait: PendingWait) => void): void {
    const wait = this.#open.get(callId)
    if (wait === undefined) return
    this.#open.delete(callId)
    settle(wait)
  }

  /** From here on, requests of the function wait for a slot. */
  async #park(request: SuspendRequest): Promise<void> {
    this.#parked = Promise.withResolvers()
    let isParked = false
    try {
      isParked = await this.#core.step(park(request))
    } finally {
      // Refused, because one of the waits is over, or failed.
      if (!isParked) this.goOn()
    }
  }

  /** A run is quiet when it waits and nothing of it is in flight. Checked after the executor has had its turn. */
  whenIdle(): void {
    if (this.#isSuspending || !this.#isQuiet) return
    this.#isSuspending = true
    inNextTurn(() => void this.#suspend())
  }

  get #isQuiet(): boolean {
    return this.isWaiting && this.#core.isIdle && !this.isParked
  }

  async #suspend(): Promise<void> {
    const { host, ref } = this.#core
    try {
      if (this.#isQuiet && !this.#output.isEmpty) await this.#output.flush()
      if (!this.#isQuiet) return
      const waits = [...this.#open.keys()]
      const request = { ...ref, ...host.stepContext(), waits }
      if ([...this.#open.values()].every(({ inMemory }) => inMemory)) {
        await this.#park(request)
        return
      }
      // The feed reports the end of a suspended run in order. If the run was not suspended, one of its waits is over.
      if (!(await this.#core.step(suspend(request)))) for (const callId of waits) this.wake(callId)
    } catch (error) {
      if (isRunOver(error)) return
      host.report(error, { ...ref, doing: 'suspend' })
      host.clock.setTimeout(() => this.whenIdle(), againMs)
    } finally {
      this.#isSuspending = false
    }
  }
}

function awaited(tasks: readonly string[], outcomes: ReadonlyArray<Outcome | null>): AwaitedTasks {
  return { tasks: tasks.map((id, index) => toAwaitedTask(id, outcomes[index])) }
}

/** @throws ErrandError for an answer or a payload that was accepted, and does not fit the schema of the present code. */
function parsedAnswer(
  schema: z.ZodType,
  given: unknown,
  [noun, of, verb, again]: [noun: 'answer' | 'payload', of: string, verb: string, again: string],
): unknown {
  const parsed = safeParse(schema, given)
  if (parsed.success) return parsed.data
  const issues = issuesIn(parsed.error)
  throw new ErrandError(
    noun === 'answer' ? 'INVALID_ANSWER' : 'INVALID_SIGNAL',
    `The recorded ${noun} ${of} does not match the schema of ${verb}: ${sentenceOf(issueText(issues.slice(0, 3)))} If the schema has changed since the ${noun} was given, let it accept this ${noun} too, or ${again} under another \`key\`.`,
    { issues },
  )
}

// The calls of a live run: each is recorded before its function runs, and its outcome after; a later run gets what was
// recorded.

import type { StoredError } from '../core/errors.ts'
import { faithfulImage, fromJson, recordedImage, toJson } from '../core/json.ts'
import { isRedactFailure } from '../core/redact.ts'
import { sleep } from '../core/signals.ts'
import { clipped, startOf, storableText } from '../core/storable-text.ts'
import { messageOf, toStoredError } from '../core/stored-error.ts'
import { inputToRead } from '../core/visible-json.ts'
import { type CallRecord, identOf, isInDoubt, notesProcess } from '../entities/call.ts'
import type { CallOptions, Parsed } from '../entities/call-options.ts'
import { tracedWithin } from '../entities/telemetry.ts'
import type { NewCall, Step } from '../ledger/ledger.ts'
import { paramsToStore } from '../ledger/redacted-content.ts'
import { replayedError, replayOf } from '../machines/replay.ts'
import { entryKeyOf } from '../machines/run-journal.ts'
import { beginEntry, beginPending, type EntryOutcome, finishEntry, noteEntry } from '../operations/steps/journal.ts'
import { type CallScope, type EntryDescription, executeWithin } from './call-scope.ts'
import { Drain } from './drain.ts'
import { type CallFunction, type CallPerformance, performCall } from './perform-call.ts'
import { isRunOver, type RunCore } from './run-core.ts'
import type { RunOutput } from './run-output.ts'
import type { RunWaits } from './run-waits.ts'

/** Options of a call beyond the public ones. */
export interface CallWay extends Parsed<CallOptions> {
  /** The beginning and the end of the call are recorded in the conversation, for people. */
  announced?: boolean
  /** Passed to the function instead of the recorded params. */
  given?: unknown
  /**
   * One call for all attempts: a new attempt does not repeat it, and an interruption in an earlier attempt counts as
   * one in this.
   */
  inAllAttempts?: boolean
  /** Called when the outcome is in the ledger, or was found there. */
  recorded?: () => void
}

/** Delay before a refused write is retried: the first, and the maximum. */
const firstRestMs = 200
const maxRestMs = 10_000

/** Of why a result is lost, in characters. */
const maxReasonLength = 1_000

export class RunCalls {
  readonly #core: RunCore
  readonly #output: RunOutput
  readonly #waits: RunWaits
  /** Calls whose functions have not settled, by id. */
  readonly #inFlight = new Map<string, CallRecord>()
  readonly #settled = new Set<() => void>()
  readonly drain = new Drain(() => this.#inFlight.size === 0)

  constructor(core: RunCore, output: RunOutput, waits: RunWaits) {
    this.#core = core
    this.#output = output
    this.#waits = waits
  }

  /** Calls in flight that have noted a process of their own. */
  get withProcesses(): CallRecord[] {
    return [...this.#inFlight.values()].filter(({ details }) => notesProcess(details))
  }

  /** The names of the calls in flight. */
  get namesInFlight(): string[] {
    return [...this.#inFlight.values()].map(({ name }) => name)
  }

  /** Resolves when the functions of all calls have settled, even after the executor itself has returned. */
  allSettled(): Promise<void> {
    return this.#until(() => this.#inFlight.size === 0)
  }

  /** Resolves when no call in flight has a process. */
  processesEnded(): Promise<void> {
    return this.#until(() => this.withProcesses.length === 0)
  }

  async #until(isOver: () => boolean): Promise<void> {
    while (!isOver()) await new Promise<void>((settled) => this.#settled.add(settled))
  }

  make(name: string, params: unknown, fn: CallFunction, way: CallWay): Promise<unknown> {
    const image = imageOf(name, params)
    const entry = this.#core.describe('call', name, image, way.key)
    return this.#make(entry, params === undefined ? undefined : image, fn, way)
  }

  /**
   * A call identified by its key alone, however often the run requests it: a call recorded in advance is the same call.
   */
  async perform(name: string, params: unknown, fn: CallFunction, way: CallWay & { key: string }): Promise<void> {
    const given = imageOf(name, params)
    const image = paramsToStore(this.#core.host.redaction, 'call', given)
    const ident = identOf(way.key, null)
    const entry: EntryDescription = { kind: 'call', name, ident, ordinal: 0, params: image, scope: this.#core.scope() }
    let recorded = false
    try {
      await this.#make(entry, given, fn, { ...way, inAllAttempts: true, recorded: () => (recorded = true) })
    } catch (error) {
      if (!recorded || this.#core.ended) throw error
    }
  }

  async #make(entry: EntryDescription, params: unknown, fn: CallFunction, way: CallWay): Promise<unknown> {
    const found = this.#core.find(entry)
    const inDoubt = found !== undefined && isInDoubt(found)
    const onInterrupt = way.onInterrupt ?? (inDoubt ? this.#core.onInterruptInDoubt : this.#core.onInterrupt)
    const attempt = way.inAllAttempts ? (found?.attempt ?? this.#core.attempt) : this.#core.attempt
    const replay = this.#core.repeats(found) ? 'anew' : replayOf(found, attempt, onInterrupt)
    if (found !== undefined && (replay === 'result' || replay === 'error')) this.#core.journal.replayed(found)
    switch (replay) {
      case 'result':
        return (found as CallRecord).result
      case 'error':
        way.recorded?.()
        throw replayedError(found as CallRecord)
      case 'ask':
        if (await this.#askAgain(found as CallRecord)) break
        this.#core.journal.replayed(found as CallRecord)
        way.recorded?.()
        throw replayedError(found as CallRecord)
      case 'begin':
        return this.#core.busy(() => {
          const { host, ref } = this.#core
          const begin = beginPending(ref, (found as CallRecord).id, way.announced === true, host.stepContext())
          return this.#perform(entry, found as CallRecord, begin, params, fn, way)
        })
      case 'anew':
      case 'resume':
    }
    if (found !== undefined) this.#core.journal.remade(found)
    const isNew = found === undefined && way.inAllAttempts !== true
    const left = isNew ? await this.#core.divergence.pass(entry, onInterrupt, way.divergence) : []
    return this.#core.busy(() => {
      const record = this.#core.entryOf(entry, undefined, onInterrupt)
      const ctx = this.#core.host.stepContext()
      const begin = beginEntry({ ...record, status: 'in_progress' }, ctx, way.announced, left)
      return this.#perform(entry, record, begin, params, fn, way)
    })
  }

  /** In flight from before its beginning is recorded, so that the run is not released or closed in between. */
  async #perform(
    entry: EntryDescription,
    record: NewCall,
    begin: Step,
    params: unknown,
    fn: CallFunction,
    way: CallWay,
  ): Promise<unknown> {
    const entryKey = entryKeyOf(entry)
    const scope: CallScope = { run: this.#core, callId: record.id, entryKey, parent: entry.scope, executing: true }
    this.#inFlight.set(record.id, { seq: 0, ...record })
    this.#core.journal.opened(entryKey)
    try {
      await this.#core.step(begin)
      return await executeWithin(scope, () => this.#execute(record, params, fn, way))
    } finally {
      this.#inFlight.delete(record.id)
      this.#core.journal.closed(entryKey)
      this.drain.note()
      for (const settled of this.#settled) settled()
      this.#settled.clear()
    }
  }

  /**
   * Executes the function of a recorded call and records the outcome. The executor gets what was recorded, as in every later run.
   */
  async #execute(record: NewCall, params: unknown, fn: CallFunction, way: CallWay): Promise<unknown> {
    const trace = this.#core.trace?.call({ callId: record.id, name: record.name, params: record.params })
    let value: unknown
    try {
      const given = 'given' in way ? way.given : params
      value = await tracedWithin(trace, () => performCall(this.#performing(record), given, fn, way))
    } catch (error) {
      // Aborted by the end of the run: the effect may have happened, so the call is closed as interrupted, not as
      // failed.
      if (this.#core.ended) {
        trace?.end({ error: { code: 'CALL_INTERRUPTED', message: 'The run ended before the call did' } })
        throw this.#core.ended
      }
      const stored = this.#core.host.redaction.storedError(toStoredError(error, 'CALL_FAILED'), 'call', 'error')
      trace?.end({ error: stored })
      const kept = await this.#fail(record, way, stored)
      way.recorded?.()
      throw replayedError({ seq: 0, ...record, status: 'failed', error: kept })
    }
    const outcome = this.#resultOf(record, value)
    // Before the outcome is recorded: a call that the ledger knows as ended has its span, wherever the process dies.
    trace?.end({ result: outcome.result })
    const { result, resultLost } = await this.#complete(record, way, outcome)
    if (resultLost !== null) way.recorded?.()
    if (this.#core.ended) throw this.#core.ended
    if (resultLost !== null) throw replayedError({ seq: 0, ...record, status: 'completed', resultLost })
    return result
  }

  /** The call has been made: whatever its result is, it is recorded as completed. */
  #resultOf(record: NewCall, value: unknown): CompletedOutcome {
    const { host, ref } = this.#core
    const recorded = recordedImage(value, `the result of call "${record.name}"`, (loss) =>
      host.report(loss, { ...ref, callId: record.id, doing: 'finish call' }),
    )
    if ('lost' in recorded) return lost(this.#redactedReason(recorded.lost))
    try {
      return { ok: true, result: host.redaction.value(recorded.image, 'call', 'result'), resultLost: null }
    } catch (error) {
      return lost(messageOf(error))
    }
  }

  /** The reason may quote an error of the value. */
  #redactedReason(why: string): string {
    try {
      return this.#core.host.redaction.text(why, 'call', 'resultLost')
    } catch (error) {
      return messageOf(error)
    }
  }

  /** Records that a call completed, and resolves to what was recorded: no result when an event about it cannot be redacted. */
  async #complete(call: NewCall, way: CallWay, outcome: CompletedOutcome): Promise<CompletedOutcome> {
    try {
      await this.#finish(call, way, outcome)
      return outcome
    } catch (failure) {
      if (!isRedactFailure(failure) || outcome.resultLost !== null) throw failure
      return this.#complete(call, way, lost(messageOf(failure)))
    }
  }

  /**
   * Records that a call failed, and resolves to the recorded error: REDACT_FAILED when an event about the error cannot
   * be redacted.
   */
  async #fail(call: NewCall, way: CallWay, error: StoredError): Promise<StoredError> {
    try {
      await this.#finish(call, way, { ok: false, error })
      return error
    } catch (failure) {
      if (!isRedactFailure(failure) || error.code === 'REDACT_FAILED') throw failure
      return this.#fail(call, way, toStoredError(failure))
    }
  }

  /**
   * Retries while the ledger refuses: without its outcome, a completed call would count as interrupted and might be
   * made again.
   */
  async #finish(call: NewCall, { announced }: CallWay, outcome: EntryOutcome): Promise<void> {
    if (!this.#output.isEmpty) await this.#output.flush()
    const { host, ref } = this.#core
    const ctx = host.stepContext()
    for (let restMs = firstRestMs; ; restMs = Math.min(2 * restMs, maxRestMs)) {
      try {
        return await this.#core.step(finishEntry(ref, call, outcome, ctx, announced))
      } catch (error) {
        if (host.stopped.aborted || isRunOver(error) || isRedactFailure(error)) throw error
        host.report(error, { ...ref, doing: 'finish call' })
        await sleep(host.clock, restMs, host.stopped)
      }
    }
  }

  #performing(record: NewCall): CallPerformance {
    const { host, ref, signal } = this.#core
    const note = (given: unknown): Promise<void> => {
      const details = fromJson(toJson(given, 'the details of a call'))
      const call = this.#inFlight.get(record.id)
      if (call !== undefined) call.details = details
      return this.#core.step(noteEntry(ref, record.id, details, host.stepContext()))
    }
    const origin = record.generation === 1 ? record.taskId : `${record.taskId}/g${record.generation}`
    const identity = `${origin}/${startOf(record.name, 100)}/${record.ident}/${record.ordinal}`
    return {
      name: record.name,
      context: { callId: record.id, identity, signal, note },
      clock: host.clock,
      pause: (ms) => this.#core.pause(ms),
      chance: () => host.chance(),
      hasProcess: () => notesProcess(this.#inFlight.get(record.id)?.details),
    }
  }

  /** Asks a person about a call that a crash interrupted; resolves to true to run it again. */
  async #askAgain(found: CallRecord): Promise<boolean> {
    const doubt = isInDoubt(found) ? ', and its command may still run' : ''
    const block =
      found.params === null ? '' : `\n\n${inputToRead(found.params) ?? 'Its input is too long to be shown.'}`
    const question = `The call "${found.name}" was interrupted and may have happened${doubt}. Run it again?${block}`
    const answers = { enum: ['rerun', 'fail'] }
    const key = `interrupted:${found.id}`
    return (await this.#core.request(() => this.#waits.ask(question, answers, { key }))) === 'rerun'
  }
}

type CompletedOutcome = Extract<EntryOutcome, { ok: true }>

function lost(why: string): CompletedOutcome {
  return { ok: true, result: null, resultLost: storableText(clipped(why, maxReasonLength)) }
}

function imageOf(name: string, params: unknown): unknown {
  return faithfulImage(params, `the params of call "${name}"`, 'params')
}

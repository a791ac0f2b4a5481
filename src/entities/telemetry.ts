// What an engine reports of its work while it happens, for traces. `otel()` of errand/otel makes one. Only what is executed is reported: what a
// later run reads from the journal is not.
import { z } from 'zod'
import { once } from '../core/once.ts'
import type { Usage } from './message.ts'

/** Work that has begun. It is ended once; what follows an end is ignored. */
export interface WorkTrace<End> {
  /** Runs code as a part of this work. */
  within<R>(work: () => R): R
  end(end: End): void
}

/** The error of ended work: its code, and its message, which may quote content. */
export interface TracedError {
  code: string
  message: string
}

export interface RunFacts {
  taskId: string
  /** The task above all others of its tree; the task itself if it has no parent. */
  rootId: string
  executor: string
  attempt: number
  run: number
  /** The W3C `traceparent` of what created the task; undefined: it was not traced. */
  createdIn: string | undefined
  input: unknown
}

/** `returned` and `continued`: the function has returned. `ended`: it was paused, canceled, or its engine closed. */
export interface RunEndFacts {
  outcome: 'returned' | 'continued' | 'threw' | 'suspended' | 'ended'
  error?: TracedError
  result?: unknown
}

export interface CallFacts {
  callId: string
  name: string
  params: unknown
}

export interface CallEndFacts {
  error?: TracedError
  result?: unknown
}

/** A model as its provider names it; each is absent where the engine does not know it. */
export interface ModelIdentity {
  provider?: string
  modelId?: string
}

export interface ModelFacts extends ModelIdentity {
  messages: ReadonlyArray<{ role: string; content: string }>
}

export interface ModelEndFacts {
  error?: TracedError
  modelId?: string
  finishReason?: string
  usage?: Usage
  content?: string
}

export type WaitKind = 'ask' | 'sleep' | 'wait' | 'signal'

export interface RunTrace extends WorkTrace<RunEndFacts> {
  call(facts: CallFacts): WorkTrace<CallEndFacts>
  model(facts: ModelFacts): WorkTrace<ModelEndFacts>
  /** The run begins to wait. */
  waits(kind: WaitKind, callId: string): void
}

export interface Telemetry {
  /** The W3C `traceparent` of the running code, which a task that it creates keeps; undefined: it is not traced. */
  current(): string | undefined
  run(facts: RunFacts): RunTrace
}

export const telemetrySchema = once(() =>
  z.custom<Telemetry>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      typeof (value as Partial<Telemetry>).run === 'function' &&
      typeof (value as Partial<Telemetry>).current === 'function',
    'expected what `otel()` of errand/otel returns',
  ),
)

/** Runs code as a part of traced work, if it is traced. */
export function tracedWithin<R>(trace: Pick<WorkTrace<never>, 'within'> | undefined, work: () => R): R {
  return trace === undefined ? work() : trace.within(work)
}

// What a run waits for: the options of `run.ask`, `run.wait` and `run.waitForSignal`, and the types of what they return.
import type { z } from 'zod'
import type { Duration } from '../core/duration.ts'
import type { Outcome, TaskId } from './task.ts'

/** A JSON Schema, or a zod schema that is converted to one. */
export type AnswerSchema = z.ZodType | Record<string, unknown>

/** The output of a zod schema; `T` for a question without one. */
export type AnswerTo<S, T = unknown> = [S] extends [z.ZodType] ? z.output<S> : T

export interface AskOptions {
  key?: string
  /** Milliseconds until the default becomes the answer, or the question fails with `TIMEOUT` when there is none. */
  timeoutMs?: Duration
  /** The answer after `timeoutMs`, or when `answer` is called without a value. */
  default?: unknown
  /**
   * `person` (default): people and programs may answer; models, their tools, and runs of tasks may not (FORBIDDEN). `anyone`: all may.
   */
  for?: 'person' | 'anyone'
}

export interface WaitOptions {
  key?: string
  /** `all` (default) waits for each, `any` for the first. */
  mode?: 'all' | 'any'
  /** True: returns outcomes instead of results, and does not throw for a failed task. Default false. */
  settled?: boolean
  /** Milliseconds until it fails with `TIMEOUT`. Default: none. */
  timeoutMs?: Duration
  /** Only with `settled`: a message that is sent to this task ends the wait too; the outcome of a task that is still open is null. Default false. */
  untilMessage?: boolean
  /**
   * True: while the run only waits so, its function stays in memory and holds no slot; it takes one again to go on, without a replay of the
   * journal. The task stays WORKING, and a time limit of the run begins anew. When the engine closes or dies, it is an ordinary wait. For a
   * parent of many tasks, whose journal is long. Default false: the run is suspended, and costs no memory.
   */
  inMemory?: boolean
}

/** A task to wait for, or its id. */
export type AwaitedRef = string | { id: string }

/** The result of an awaited task; its outcome if `Settled`, and null if it may still be open. */
type WaitedOne<T, Settled, MayBeOpen> =
  | ([Settled] extends [true] ? Outcome<ResultOfTask<T>> : ResultOfTask<T>)
  | ([MayBeOpen] extends [false] ? never : null)
type ResultOfTask<T> = T extends { id: TaskId<infer R> } ? R : T extends TaskId<infer R> ? R : unknown

/** What `run.wait` resolves to: one value for one task, and a list in the same order for a list. */
export type WaitedFor<T, Settled, Mode, UntilMessage> = T extends readonly unknown[]
  ? {
      -readonly [I in keyof T]: WaitedOne<T[I], Settled, [Mode, UntilMessage] extends ['all', false] ? false : true>
    }
  : WaitedOne<T, Settled, UntilMessage>

/** Options of `run.waitForSignal`. */
export interface SignalOptions<S = AnswerSchema | undefined, Ms = Duration | undefined> {
  key?: string
  /** The payload must match it. */
  schema?: S
  /** Milliseconds until the wait ends with null. Default: none. */
  timeoutMs?: Ms
}

/** A payload; also null if there is a time-out. */
export type Received<S, T, Ms> = AnswerTo<S, T> | ([Ms] extends [undefined] ? never : null)

/** What `run.webhook` returns. */
export interface Webhook<R = unknown> {
  /**
   * Where the service sends its request: `/signals/TOKEN` below the `publicUrl` of the engine; without one only this path. The token is the
   * only credential, and works once.
   */
  readonly url: string
  /** Waits for the request, like `run.waitForSignal`: returns its body. */
  wait<Ms extends Duration | undefined = undefined>(
    options?: Pick<SignalOptions<never, Ms>, 'key' | 'timeoutMs'>,
  ): Promise<R | ([Ms] extends [undefined] ? never : null)>
}

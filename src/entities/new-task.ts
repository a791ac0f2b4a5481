// The types of the tasks that `create` and `run.spawn` are given and make: which executors they may name, the input that each takes, and
// the result that it will have. A wrong property is refused at its own place, in arrays and trees too. Types only.
import type { z } from 'zod'
import type { Task } from './task.ts'
import type { GivenFields } from './task-fields.ts'

declare const inputType: unique symbol
declare const resultType: unique symbol

/** What an executor takes and returns. `In` is the input that `create` accepts, `Out` the type of `result`. */
export interface TypedExecutor<In = any, Out = any> {
  readonly input: z.ZodType | undefined
  readonly result: z.ZodType | undefined
  readonly [inputType]?: (input: In) => void
  readonly [resultType]?: Out
}

/** The input that `create` accepts for an executor. A function receives null for a task without one. */
export type InputOf<E> =
  E extends TypedExecutor<infer In, any>
    ? In
    : E extends (task: infer T, ...rest: any[]) => unknown
      ? T extends { input: infer In }
        ? In | (null extends In ? undefined : never)
        : unknown
      : unknown

/** The type of `result` for an executor. */
export type ResultOf<E> =
  E extends TypedExecutor<any, infer Out> ? Out : E extends (...args: any[]) => infer Out ? Awaited<Out> : unknown

/** The names that a task may give. An engine without executors may name any. */
type NameIn<E> = [keyof E] extends [never] ? string : keyof E & string

/** The executor that a given task names; undefined for a task without one. */
type ExecutorIn<S> = S extends { executor?: infer X } ? (unknown extends X ? undefined : X) : undefined
type InputFor<E, X> = InputOf<X extends keyof E ? E[X] : X>
type ResultFor<E, X> = ResultOf<X extends keyof E ? E[X] : X>

/** `input` is required unless the executor takes undefined too. */
type InputField<In> = unknown extends In ? { input?: In } : undefined extends In ? { input?: In } : { input: In }

/** A name that is only known at run time, a `string`, is checked there. */
type ExecutorFields<E, X> = [X] extends [undefined]
  ? { executor?: undefined; input?: unknown }
  : string extends X
    ? { executor?: X; input?: unknown }
    : [X] extends [NameIn<E> | TypedExecutor | undefined]
      ? (undefined extends X ? { executor?: X } : { executor: X }) & InputField<InputFor<E, Exclude<X, undefined>>>
      : { executor?: NameIn<E> | TypedExecutor; input?: unknown }

type Fields = Omit<GivenFields<'create'>, 'executor' | 'input' | 'parentId'>

/** The fields that only a task of `create` has. */
export interface RootFields {
  /** The task below which it is created. Default: none. */
  parentId?: string | undefined
}

/** The fields that only a child in `tasks` has. */
export interface ChildFields {
  /** Siblings that must be completed first, by local name. */
  after?: string | string[] | undefined
}

/** Children by local name, each with the fields of a task of its own. */
type TasksField<E, S> = S extends { tasks: infer C }
  ? { tasks: { [N in keyof C]: GivenTaskOf<E, C[N], ChildFields> } }
  : { tasks?: Record<string, object> }

/** A task to be made. Its fields are those of `create`; `Executor` says what its executor takes, `Tasks` what its children are. */
export type GivenTask<Executor, Tasks, Place> = Fields & Place & Executor & Tasks

/** Distributes over the unions of dynamic lists. */
type GivenTaskOf<E, S, Place> = S extends unknown
  ? GivenTask<ExecutorFields<E, ExecutorIn<S>>, TasksField<E, S>, Place>
  : never

/**
 * What `G`, a task or a list of tasks as a program wrote it, must fit: each executor is one of `E`, and each input is what that executor
 * takes. `Place` holds the fields that only these tasks have. The first branch is only for the inference of `G`.
 */
export type GivenTasks<E, G, Place> = [G] extends [never]
  ? G
  : G extends readonly unknown[]
    ? { [I in keyof G]: GivenTaskOf<E, G[I], Place> }
    : GivenTaskOf<E, G, Place>

/** The tasks that are made of `G`, each with the type of its result. */
export type CreatedTasks<E, G> = 0 extends 1 & G
  ? Task<any>
  : [G] extends [never]
    ? Task
    : G extends readonly unknown[]
      ? { -readonly [I in keyof G]: Task<ResultFor<E, ExecutorIn<G[I]>>> }
      : Task<ResultFor<E, ExecutorIn<G>>>

/**
 * Executors by name, for `run.spawn`, and for engines that are opened without executors. It is empty until a program declares its own;
 * then only these names compile.
 *
 * @example
 * declare module 'errand' {
 *   interface Executors {
 *     resize: typeof resize
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: it exists to be merged with.
export interface Executors {}

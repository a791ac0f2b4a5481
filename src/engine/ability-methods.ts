// The types of abilities as methods of the engine, so that a program need not call the bus by id. Input, output and errors are documented with
// each ability.
import type { AbilityTypes } from '../bus/ability-types.ts'

/** The names of the methods, by module. `wing-methods.ts` makes one of each operation of memory, of teams and of schedules. */
interface Names {
  agent: 'join' | 'complete' | 'timeline'
  objective: 'add' | 'update' | 'log'
  schedules: 'put' | 'list' | 'pause' | 'resume' | 'trigger' | 'backfill' | 'remove'
  task: 'context' | 'complete' | 'teams' | 'types'
  mem:
    | 'observe'
    | 'observations'
    | 'remember'
    | 'facts'
    | 'retrieve'
    | 'consolidate'
    | 'merge'
    | 'branches'
    | 'history'
    | 'why'
    | 'save'
    | 'archive'
}

/** The abilities that are methods. */
export type MethodId = { [M in keyof Names]: `${M}:${Names[M]}` }[keyof Names]

type Input<Id> = Id extends keyof AbilityTypes ? AbilityTypes[Id]['input'] : never
type Output<Id> = Id extends keyof AbilityTypes ? AbilityTypes[Id]['output'] : never
type Given<I> = Record<never, never> extends I ? [input?: I] : [input: I]

type MethodsOf<M extends keyof Names> = {
  readonly [N in Names[M]]: (...given: Given<Input<`${M}:${N}`>>) => Promise<Output<`${M}:${N}`>>
}

/** The output depends on the requested format: the whole context, or a text alone. */
interface ContextMethod {
  (input: Input<'task:context'> & { format: 'text' }): Promise<{ text: string }>
  (
    input: Input<'task:context'> & { format?: 'json' | undefined },
  ): Promise<Required<Omit<Output<'task:context'>, 'text'>>>
  (input: Input<'task:context'>): Promise<Output<'task:context'>>
}

/** `engine.agent.join(input)` is `engine.bus.call('agent:join', input)`, with the same checks, types and errors. */
export interface AbilityMethods {
  /** Agents of a team's task. */
  readonly agent: MethodsOf<'agent'>
  /** Objectives of a team's task. */
  readonly objective: MethodsOf<'objective'>
  /** The task of a team. `engine.complete` only completes a task; `engine.task.complete` also consolidates the memory of its team. */
  readonly task: Omit<MethodsOf<'task'>, 'context'> & { readonly context: ContextMethod }
  /** Tasks that are made at certain times. */
  readonly schedules: MethodsOf<'schedules'>
  /** Memory. Every call throws NOT_FOUND when the engine was opened with `memory: false`. */
  readonly mem: MethodsOf<'mem'>
}

// Abilities as methods of the engine: what a program that holds the engine would otherwise ask the bus for. One line a method; what
// it takes, gives and refuses is written with the ability.
import type { AbilityTypes } from './bus/ability-types.ts'
import type { Bus } from './bus/bus.ts'
import type { Caller } from './bus/caller.ts'

/** By module, the abilities that are methods. */
const methods = {
  agent: ['join', 'complete', 'timeline'],
  objective: ['add', 'update', 'log'],
  task: ['context', 'complete', 'teams', 'types'],
  mem: [
    'observe',
    'observations',
    'remember',
    'facts',
    'retrieve',
    'consolidate',
    'merge',
    'branches',
    'history',
    'why',
    'save',
    'archive',
  ],
} as const

type Modules = typeof methods

type Input<Id> = Id extends keyof AbilityTypes ? AbilityTypes[Id]['input'] : never
type Output<Id> = Id extends keyof AbilityTypes ? AbilityTypes[Id]['output'] : never
type Given<I> = Record<never, never> extends I ? [input?: I] : [input: I]

type MethodsOf<M extends keyof Modules> = {
  readonly [N in Modules[M][number]]: (...given: Given<Input<`${M}:${N}`>>) => Promise<Output<`${M}:${N}`>>
}

/** Whole, or as a text alone: which one is known by the format that is asked for. */
interface ContextMethod {
  (input: Input<'task:context'> & { format: 'text' }): Promise<{ text: string }>
  (
    input: Input<'task:context'> & { format?: 'json' | undefined },
  ): Promise<Required<Omit<Output<'task:context'>, 'text'>>>
  (input: Input<'task:context'>): Promise<Output<'task:context'>>
}

/** `engine.agent.join(input)` is `engine.bus.call('agent:join', input)`: checked, typed and refused alike. */
export interface AbilityMethods {
  /** Agents of a team's task. */
  readonly agent: MethodsOf<'agent'>
  /** What a team's task is to reach. */
  readonly objective: MethodsOf<'objective'>
  /** A team's task as a whole. `engine.complete` only ends a task; `engine.task.complete` consolidates what its team has learned too. */
  readonly task: Omit<MethodsOf<'task'>, 'context'> & { readonly context: ContextMethod }
  /** Memory; every call is refused with NOT_FOUND where the engine was opened with `memory: false`. */
  readonly mem: MethodsOf<'mem'>
}

export function abilityMethods(bus: Bus, caller: Caller): AbilityMethods {
  return Object.fromEntries(
    Object.entries(methods).map(([module, names]) => [
      module,
      Object.freeze(
        Object.fromEntries(
          names.map((name) => [name, (input: unknown = {}) => bus.call(`${module}:${name}`, input, { caller })]),
        ),
      ),
    ]),
  ) as unknown as AbilityMethods
}

// An operation: one thing that programs, people and models do with an engine, defined once in one object. Its ability on the bus, its HTTP
// routes with their description, and its verb on the command line and in the REPL derive from it.
import {
  type Ability,
  defineAbility,
  type ResultAbilityDefinition,
  type StreamAbilityDefinition,
} from '../bus/ability.ts'
import type { AbilityContext } from '../bus/ability-context.ts'
import type { AbilitySchema, GivenBy, ParsedBy } from '../bus/json-schema.ts'
import { once } from '../core/once.ts'
import type { AbilityHost } from './ability-host.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
export const routeTags = ['Tasks', 'Control', 'Teams', 'Plans', 'Schedules', 'Events', 'Engine'] as const
type RouteTag = (typeof routeTags)[number]

/** How an operation is reached over HTTP. One without a route is reached at /abilities/{id}. */
export interface OperationRoute {
  /**
   * Method and path. Names in braces are fields of the input. GET and DELETE read the other fields from the query, POST and PATCH from the
   * body.
   */
  readonly endpoint: `${Method} /${string}`
  /** The name in generated clients. */
  readonly operationId: string
  /** The heading under which the documentation lists it. */
  readonly tag: RouteTag
  readonly summary: string
  /** Creates a resource: 201 with its `Location`. `Idempotency-Key` is permanent. */
  readonly creates?: true
}

/** The verb of an operation that is applied to each of several tasks, on the command line and in the REPL. */
export interface OperationVerb {
  readonly name: string
  /** The heading under which `errand help` lists it. */
  readonly group: 'steer' | 'ledger'
  /** One line for lists of verbs. */
  readonly summary: string
  readonly help: string
  /** Fields of the input that options give, by the name of the option. */
  readonly options?: Readonly<Record<string, VerbOption>>
  /** What the output says, where that is not the changed task. */
  said?(output: never): string
}

export type VerbOption =
  /** A text; `shown` stands for it in the usage. */
  | { readonly field: string; readonly shown: string; readonly short?: string; readonly several?: true }
  /** One of these words. */
  | { readonly field: string; readonly words: readonly string[] }
  /** An option without a value, which stands for this one. */
  | { readonly field: string; readonly means: string | boolean }

/** Where an operation is found besides the bus. */
interface Places {
  /** Default: none. */
  readonly routes?: readonly OperationRoute[]
  /** Default: none. */
  readonly verb?: OperationVerb
}

/** What is known of an operation without an engine. */
export interface Operation<Id extends string = string> extends Required<Pick<Places, 'routes'>>, Pick<Places, 'verb'> {
  readonly id: Id
  /** Whether its result is a stream. */
  readonly streams: boolean
}

type Schemas = 'input' | 'modelInput' | 'output'

interface Lazily<I extends AbilitySchema, O extends AbilitySchema> extends Places {
  /** The schemas are made when the first engine is opened. */
  input(): I
  modelInput?(): AbilitySchema
  output(): O
}

export type ResultOperation<H, I extends AbilitySchema, O extends AbilitySchema, Id extends string> = Lazily<I, O> &
  Omit<ResultAbilityDefinition<I, O, Id>, Schemas | 'handle'> & {
    handle(input: ParsedBy<I>, context: AbilityContext, host: H): GivenBy<O> | Promise<GivenBy<O>>
  }

export type StreamOperation<H, I extends AbilitySchema, O extends AbilitySchema, D, Id extends string> = Lazily<I, O> &
  Omit<StreamAbilityDefinition<I, O, D, Id>, Schemas | 'stream'> & {
    stream(input: ParsedBy<I>, context: AbilityContext, host: H): AsyncIterable<GivenBy<O>>
  }

/** The ability of an operation, made for one engine. */
type On<H, A extends Ability, Id extends string> = ((host: H) => A) & Operation<Id>

export interface DefineOperation<H> {
  <I extends AbilitySchema, O extends AbilitySchema, const Id extends string>(
    definition: ResultOperation<H, I, O, Id>,
  ): On<H, Ability<GivenBy<I>, ParsedBy<O>, ParsedBy<O>, Id>, Id>
  <I extends AbilitySchema, O extends AbilitySchema, const Id extends string, D = never>(
    definition: StreamOperation<H, I, O, D, Id>,
  ): On<H, Ability<GivenBy<I>, ParsedBy<O>, Awaited<D>, Id>, Id>
}

type AnyOperation<H> = Lazily<AbilitySchema, AbilitySchema> & {
  id: string
  handle?(input: unknown, context: AbilityContext, host: H): unknown
  stream?(input: unknown, context: AbilityContext, host: H): AsyncIterable<unknown>
}

/** Returns the function that defines operations of a part of the engine, whose handlers get what that part requires of the engine. */
export function operationsOn<H>(): DefineOperation<H> {
  const define = ({ routes = [], verb, handle, stream, ...definition }: AnyOperation<H>) => {
    const { id, modelInput, ...given } = definition
    const [input, output] = [once(() => given.input()), once(() => given.output())]
    const offered = modelInput === undefined ? undefined : once(() => modelInput())
    const ability = (host: H): unknown =>
      defineAbility({
        ...given,
        id,
        input: input(),
        output: output(),
        ...(offered === undefined ? {} : { modelInput: offered() }),
        ...(handle === undefined
          ? {}
          : { handle: (request: unknown, context: AbilityContext) => handle(request, context, host) }),
        ...(stream === undefined
          ? {}
          : { stream: (request: unknown, context: AbilityContext) => stream(request, context, host) }),
      } as ResultAbilityDefinition)
    return Object.assign(ability, { id, routes, verb, streams: stream !== undefined })
  }
  return define as unknown as DefineOperation<H>
}

/** Defines an operation of the core or the board. */
export const defineOperation = operationsOn<AbilityHost>()

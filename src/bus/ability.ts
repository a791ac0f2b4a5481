// An ability: an id, a description, two schemas and a handler, defined once and offered on every surface.
import { z } from 'zod'
import type { Duration } from '../core/duration.ts'
import { ErrandError } from '../core/errors.ts'
import { throughGate } from '../core/input-gate.ts'
import { once } from '../core/once.ts'
import { functionOf, isAsyncSchema, issuesIn, issueText, parse, safeParse } from '../core/parse.ts'
import { abilityIdSchema } from '../entities/ability-pattern.ts'
import type { CreationSize } from '../entities/creation-bounds.ts'
import { type AnyExecutor, executorOptionsSchema, isExecutor } from '../entities/executor.ts'
import type { OnInterrupt, RetryOptions, RetryPolicy } from '../entities/task-fields.ts'
import type { AbilityContext } from './ability-context.ts'
import { type Access, accessClasses } from './caller.ts'
import {
  type AbilitySchema,
  abilitySchemaSchema,
  type GivenBy,
  type JsonSchema,
  type ParsedBy,
  type SchemaPair,
  schemaPair,
} from './json-schema.ts'

interface AbilityBasics<I extends AbilitySchema, O extends AbilitySchema, Id extends string> {
  /** `module:name` or `module:sub:name`: two to four parts of letters, digits, `_` and `-`, at most 100 characters. */
  id: Id
  /** For people and models. */
  description: string
  /** A zod schema or a plain JSON Schema. The schema decides whether unknown keys are refused. */
  input: I
  /** The part of the input that models are offered and may give: a schema of some of its fields. Default: all of it. */
  modelInput?: AbilitySchema
  /** A zod schema or a plain JSON Schema; for a stream ability, of each chunk. */
  output: O
  /** Ids of the tasks that the input names: a caller with a task may name only those of its own subtree. Default: none. */
  scope?(input: ParsedBy<I>): readonly string[]
  /**
   * The number of tasks that an input would create, and of their dependencies, computed before the schema parses it. A caller with
   * `maxTasksPerCall` is refused with LIMIT_EXCEEDED beyond that many tasks, or ten times as many dependencies. Default: not checked.
   */
  creationIn?(given: unknown): CreationSize
  /** The scope that a caller needs. Default `admin`. */
  access?: Access
  /**
   * Credentials with the scope `own` may call it: `scope` returns every task that the input names, and its result is only about tasks of the
   * principal. Default false.
   */
  own?: boolean
  /** False: never offered to models or to tasks that models work on, and refused to them. Default true. */
  models?: boolean
  /** A person must confirm a model's call of it; a text is the question. Default false. */
  confirm?: boolean | string
  /** What the next run does when a crash interrupts a journaled call of it. Default: the caller's. */
  onInterrupt?: OnInterrupt
  /** Attempts of a journaled call of it. Default: one. */
  retry?: number | RetryOptions
  /** Timeout of a journaled call of it, in milliseconds. Default: none. */
  timeoutMs?: Duration
  /**
   * Executors of the tasks that it creates, by name. An engine with the ability (`createEngine({ abilities })`) has them too, unless it has
   * its own executor of that name. Default: none.
   */
  executors?: Readonly<Record<string, AnyExecutor>>
}

/** An ability that returns one result. */
export interface ResultAbilityDefinition<
  I extends AbilitySchema = AbilitySchema,
  O extends AbilitySchema = AbilitySchema,
  Id extends string = string,
> extends AbilityBasics<I, O, Id> {
  handle(input: ParsedBy<I>, context: AbilityContext): GivenBy<O> | Promise<GivenBy<O>>
  stream?: undefined
  drain?: undefined
}

/** An ability that yields chunks. */
export interface StreamAbilityDefinition<
  I extends AbilitySchema = AbilitySchema,
  O extends AbilitySchema = AbilitySchema,
  D = unknown,
  Id extends string = string,
> extends AbilityBasics<I, O, Id> {
  stream(input: ParsedBy<I>, context: AbilityContext): AsyncIterable<GivenBy<O>>
  /** Combines all chunks into one result, for `invoke`. Without it `invoke` throws TYPE_MISMATCH. */
  drain?(chunks: Array<ParsedBy<O>>): D
  handle?: undefined
}

/** The argument of `defineAbility`, with exactly one of `handle` and `stream`. */
export type AbilityDefinition<
  I extends AbilitySchema = AbilitySchema,
  O extends AbilitySchema = AbilitySchema,
  D = unknown,
> = ResultAbilityDefinition<I, O> | StreamAbilityDefinition<I, O, D>

declare const inputType: unique symbol
declare const chunkType: unique symbol
declare const resultType: unique symbol

/** The public metadata of an ability. */
export interface AbilityMeta {
  readonly id: string
  /** The id before its first colon. */
  readonly moduleName: string
  /** The rest of the id. */
  readonly abilityName: string
  readonly description: string
  readonly isStream: boolean
  /** The scope that a caller needs. */
  readonly access: Access
  /** JSON Schema, draft 2020-12, of the input. */
  readonly inputSchema: JsonSchema
  /** JSON Schema, draft 2020-12, of the output, for a stream of each chunk. */
  readonly outputSchema: JsonSchema
}

/**
 * An ability as the bus holds it. `In` is the type of the input, `Out` of the result or of each chunk, `Drained` of the result of `call`:
 * the same as `Out`, except for a stream.
 */
export interface Ability<In = never, Out = unknown, Drained = Out, Id extends string = string> extends AbilityMeta {
  readonly id: Id
  /** JSON Schema, draft 2020-12, of the input that a model may give. */
  readonly modelInputSchema: JsonSchema
  /** @throws ErrandError INVALID_INPUT { abilityId, issues } */
  readonly parseInput: (value: unknown, fromModel?: boolean) => unknown
  /** @throws ErrandError EXECUTION_ERROR { abilityId, issues }, because the handler caused it and not the caller. */
  readonly parseOutput: (value: unknown) => unknown
  readonly handle?: ((input: unknown, context: AbilityContext) => unknown) | undefined
  readonly stream?: ((input: unknown, context: AbilityContext) => AsyncIterable<unknown>) | undefined
  readonly drain?: ((chunks: unknown[]) => unknown) | undefined
  readonly scope?: ((input: unknown) => readonly string[]) | undefined
  readonly creationIn?: ((given: unknown) => CreationSize) | undefined
  readonly models: boolean
  /** Credentials with the scope `own` may call it. */
  readonly own: boolean
  readonly confirm: boolean | string
  readonly onInterrupt?: OnInterrupt | undefined
  readonly retry?: Partial<RetryPolicy> | undefined
  readonly timeoutMs?: number | undefined
  readonly executors: Readonly<Record<string, AnyExecutor>>
  readonly [inputType]?: (input: In) => void
  readonly [chunkType]?: Out
  readonly [resultType]?: Drained
}

const abilityMarker = Symbol.for('errand.ability')

/** What abilities were defined with, for `renamedAbility`. */
const definitions = new WeakMap<Ability, object>()

const definitionSchema = once(() =>
  z
    .strictObject({
      id: abilityIdSchema,
      description: z.string().trim().min(1).max(10_000),
      input: abilitySchemaSchema,
      modelInput: abilitySchemaSchema.optional(),
      output: abilitySchemaSchema,
      handle: functionOf<NonNullable<Ability['handle']>>('(input, context) => output').optional(),
      stream: functionOf<NonNullable<Ability['stream']>>('(input, context) => chunks').optional(),
      drain: functionOf<NonNullable<Ability['drain']>>('(chunks) => result').optional(),
      scope: functionOf<NonNullable<Ability['scope']>>('(input) => ids of tasks').optional(),
      creationIn: functionOf<NonNullable<Ability['creationIn']>>('(given) => { tasks, dependencies }').optional(),
      access: z.enum(accessClasses).default('admin'),
      own: z.boolean().default(false),
      models: z.boolean().default(true),
      confirm: z.union([z.boolean(), z.string().trim().min(1).max(1000)]).default(false),
      onInterrupt: executorOptionsSchema().shape.onInterrupt,
      retry: executorOptionsSchema().shape.retry,
      timeoutMs: executorOptionsSchema().shape.timeoutMs,
      executors: z
        .record(
          z.string().trim().min(1).max(500),
          z.custom<AnyExecutor>(
            (value) => isExecutor(value) || typeof value === 'function',
            'expected a function (task, run) => result or what defineExecutor returned',
          ),
        )
        .default({}),
    })
    .refine(({ handle, stream }) => (handle === undefined) !== (stream === undefined), {
      message: 'expected exactly one of `handle` and `stream`',
    })
    .refine(({ stream, drain }) => drain === undefined || stream !== undefined, {
      path: ['drain'],
      message: 'only an ability with `stream` has chunks to drain',
    }),
)

/**
 * Declares an ability whose input and output are checked and typed.
 *
 * @example
 * const add = defineAbility({
 *   id: 'notes:add',
 *   description: 'Keep a note.',
 *   input: z.object({ text: z.string() }),
 *   output: z.object({ id: z.string() }),
 *   handle: ({ text }) => ({ id: notes.add(text) }),
 * })
 * @throws ErrandError UNKNOWN_OPTION { option, nearest } for an unknown key, INVALID_INPUT { issues } for an invalid definition.
 */
export function defineAbility<I extends AbilitySchema, O extends AbilitySchema, const Id extends string = string>(
  definition: ResultAbilityDefinition<I, O, Id>,
): Ability<GivenBy<I>, ParsedBy<O>, ParsedBy<O>, Id>
export function defineAbility<
  I extends AbilitySchema,
  O extends AbilitySchema,
  D = never,
  const Id extends string = string,
>(definition: StreamAbilityDefinition<I, O, D, Id>): Ability<GivenBy<I>, ParsedBy<O>, Awaited<D>, Id>
export function defineAbility(definition: unknown): Ability {
  const { id, input, modelInput, output, ...declared } = parse(definitionSchema, definition, 'defineAbility')
  const accepted = schemaPair(input, 'input', `The input of ${id}`)
  const offered = modelInput === undefined ? accepted : schemaPair(modelInput, 'input', `The modelInput of ${id}`)
  const produced = schemaPair(output, 'output', `The output of ${id}`)
  const colon = id.indexOf(':')
  const ability: Ability = {
    ...declared,
    id,
    moduleName: id.slice(0, colon),
    abilityName: id.slice(colon + 1),
    isStream: declared.stream !== undefined,
    get inputSchema() {
      return accepted.json()
    },
    get outputSchema() {
      return produced.json()
    },
    get modelInputSchema() {
      return offered.json()
    },
    parseInput: (value, fromModel = false) =>
      parseInput(id, fromModel && offered !== accepted ? [offered, accepted] : [accepted], value),
    parseOutput: (value) => parseOutput(id, produced, value),
  }
  definitions.set(ability, definition as object)
  return Object.freeze(Object.defineProperty(ability, abilityMarker, { value: true }))
}

/** The same ability with another id, which its errors name. Only for one that this copy of the package made. */
export function renamedAbility(ability: Ability, id: string): Ability {
  return defineAbility({ ...definitions.get(ability), id } as Parameters<typeof defineAbility>[0])
}

/** True for an ability that `defineAbility` of any copy of the package made. */
export function isAbility(value: unknown): value is Ability {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[abilityMarker] === true
}

/** Returns what the last schema makes of the value; all of them must accept it. */
function parseInput(abilityId: string, schemas: readonly SchemaPair[], value: unknown): unknown {
  const what = `The input of ${abilityId}`
  try {
    return throughGate(value, what, () => schemas.map(({ zod }) => parse(zod, value, what)).at(-1))
  } catch (error) {
    if (!ErrandError.isInstance(error)) throw error
    throw new ErrandError('INVALID_INPUT', error.message, { abilityId, ...issuesOf(error) }, error)
  }
}

/** Reports an unknown key as an issue like any other, with the nearest known key beside it. */
function issuesOf({ code, message, details }: ErrandError): Record<string, unknown> {
  if (code !== 'UNKNOWN_OPTION') return details
  const { path, option, nearest } = details as { path: string; option: string; nearest?: string }
  const issue = { path: path === '' ? option : `${path}.${option}`, message }
  return nearest === undefined ? { issues: [issue] } : { issues: [issue], nearest }
}

function parseOutput(abilityId: string, { zod }: SchemaPair, value: unknown): unknown {
  const parsed = appliedTo(zod, value)
  if (parsed === undefined) return value
  if (parsed.success) return parsed.data
  const issues = issuesIn(parsed.error)
  throw new ErrandError(
    'EXECUTION_ERROR',
    `Ability ${abilityId} returned an output that does not match its schema: ${issueText(issues.slice(0, 3))}.`,
    { abilityId, issues },
  )
}

/** Undefined for a schema that cannot be applied because it is asynchronous: the handler has done its work, which is not lost for that. */
function appliedTo(schema: z.ZodType, value: unknown): z.ZodSafeParseResult<unknown> | undefined {
  try {
    return safeParse(schema, value)
  } catch (error) {
    if (isAsyncSchema(error)) return undefined
    throw error
  }
}

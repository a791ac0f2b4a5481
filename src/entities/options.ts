// The zod schemas that validate every option of the library and every field of `create`. The error for an unknown key names the
// nearest known one.
import { z } from 'zod'
import { durationSchema } from '../core/duration-schema.ts'
import { notOneOf } from '../core/explain-issue.ts'
import { once } from '../core/once.ts'
import { functionOf } from '../core/parse.ts'
import type { RedactFunction } from '../core/redact.ts'
import { abilityListSchema } from './ability-pattern.ts'
import { creationBoundsSchema } from './creation-bounds.ts'
import { eventTypes } from './event.ts'
import { executorOptionsSchema, isExecutor } from './executor.ts'
import { filterShape } from './filter-options.ts'
import { handlerSchema } from './handler.ts'
import { loggerSchema } from './logger.ts'
import { type ContradictionPolicy, contradictionPolicies } from './memory.ts'
import { audiences } from './question.ts'
import { publicUrlSchema } from './signal.ts'
import type { Source } from './source.ts'
import { type TaskStatus, taskStatuses } from './task.ts'
import {
  fieldsFor,
  type GivenFields,
  nameSchema,
  retrySchema,
  taskFields,
  taskIdSchema,
  timeSchema,
  updateFields,
  wordSchema,
} from './task-fields.ts'
import { telemetrySchema } from './telemetry.ts'
import type { AnswerSchema } from './wait-options.ts'
import { webhooksSchema } from './webhook-options.ts'

const { autoComplete, onInterrupt, onChildFailure, onDependencyFailure, tags } = taskFields

/** The fields of `create` without `tasks` and `after`, which build trees. */
const createFields = once(() => ({
  ...fieldsFor('create'),
  executor: z
    .union([
      taskFields.executor.schema,
      z.custom<object>((value) => isExecutor(value), 'expected what defineExecutor returned'),
    ])
    .optional(),
}))

/** A child inside `tasks`; `after` holds the local names of the siblings that it depends on. */
export type ChildOf<F extends z.ZodRawShape> = z.output<z.ZodObject<F>> & {
  after?: string | string[] | undefined
  tasks?: Record<string, ChildOf<F>> | undefined
}

/** The same before it is parsed. */
export type GivenChildOf<F extends z.ZodRawShape> = z.input<z.ZodObject<F>> & {
  after?: string | string[] | undefined
  tasks?: Record<string, GivenChildOf<F>> | undefined
}

/** Children by local name, each with these fields. `id` is their name in a JSON Schema. */
export function childrenSchema<F extends z.ZodRawShape>(
  fields: F,
  id?: string,
): z.ZodType<Record<string, ChildOf<F>>, Record<string, GivenChildOf<F>>> {
  const child: z.ZodType<ChildOf<F>, GivenChildOf<F>> = z.lazy(
    () =>
      z.strictObject({
        ...fields,
        after: z
          .union([z.string(), z.array(z.string())])
          .optional()
          .describe('Siblings that must be completed first, by name.'),
        tasks: children.optional(),
      }) as unknown as z.ZodType<ChildOf<F>, GivenChildOf<F>>,
  )
  const children = z.record(z.string().min(1), id === undefined ? child : child.meta({ id }))
  return children.describe('Its subtasks, by local name.')
}

export interface ChildSpec extends ChildOf<ReturnType<typeof createFields>> {}

/** A parsed `create`. */
export interface CreateSpec extends Omit<ChildSpec, 'after'> {}
export const createSpecSchema: () => z.ZodType<CreateSpec> = once(() => {
  const { parentId: _parentId, ...childFields } = createFields()
  return z.strictObject({ ...createFields(), tasks: childrenSchema(childFields).optional() })
})

/** The fields that `update` may change; null restores the default. `status` takes the transition that leads there, or is refused. */
export const updateSchema = once(() => z.strictObject({ ...updateFields(), status: z.enum(taskStatuses).optional() }))
export interface TaskPatch extends GivenFields<'update'> {
  /** Takes the transition from the present state to this one; INVALID_TRANSITION when there is none. */
  status?: TaskStatus
}

export const listOptionsSchema = once(() =>
  z.strictObject({
    ...filterShape(),
    limit: z.int().min(0).max(1_000).default(100),
    after: z.string().min(1).max(200).optional(),
  }),
)
export type ListOptions = z.input<ReturnType<typeof listOptionsSchema>>

const signal = z.instanceof(AbortSignal).optional()
const position = z.int().min(0).default(0)

export const timeoutOptionsSchema = once(() => z.strictObject({ timeoutMs: durationSchema().optional(), signal }))
export const streamOptionsSchema = once(() => z.strictObject({ after: position, signal }))
export const eventsOptionsSchema = once(() =>
  z.strictObject({
    after: position,
    signal,
    follow: z.boolean().default(true),
    taskId: taskIdSchema.optional(),
  }),
)
export const eventTypeSchema = once(() => z.union([z.literal('*'), z.enum(eventTypes)]))
export const deleteOptionsSchema = once(() =>
  z.strictObject({
    children: z.enum(['promote', 'cascade', 'refuse']).default('promote'),
  }),
)
/** The writer of a claimed task: its owner, and with a lease the number of the claim. */
const claimToken = { owner: wordSchema.optional(), fence: z.int().min(1).optional() }
export const claimTokenOptionsSchema = once(() => z.strictObject(claimToken))
export const claimOptionsSchema = once(() =>
  z.strictObject({
    owner: wordSchema,
    leaseMs: durationSchema({ min: 1 }).optional(),
    parentId: taskIdSchema.optional(),
    role: wordSchema.optional(),
    tags: tags.schema.optional(),
    source: wordSchema.default('library'),
  }),
)
export type ClaimOptions = z.input<ReturnType<typeof claimOptionsSchema>>

/** The number of writes to a task. */
export const versionSchema = z.int().min(0)

export const purgeOptionsSchema = once(() => z.strictObject({ before: timeSchema }))
export const idleOptionsSchema = once(() => z.strictObject({ system: z.boolean().optional() }))
export const graphOptionsSchema = once(() => z.strictObject({ parentId: taskIdSchema.optional() }))
const limit = z.int().min(1).max(1_000_000)
export const limitsSchema = once(() =>
  z.strictObject({
    maxConcurrent: limit.optional(),
    limits: z.record(nameSchema, limit.nullable()).optional(),
  }),
)
export const sharedLimitsSchema = once(() =>
  z.strictObject({
    maxConcurrent: limit.nullable().optional(),
    limits: z.record(nameSchema, limit.nullable()).optional(),
  }),
)
export type LimitsPatch = z.input<ReturnType<typeof limitsSchema>>
export type SharedLimitsPatch = z.input<ReturnType<typeof sharedLimitsSchema>>
const key = z.string().optional()
const waitingTime = durationSchema().optional()

/** The options of `run.*`; `sleep`, `message`, `now`, `uuid` and `random` take a key only. */
export const keyOptionsSchema = once(() => z.strictObject({ key }))
export const spawnOptionsSchema = once(() =>
  z.strictObject({ key, divergence: executorOptionsSchema().shape.divergence }),
)
export const callOptionsSchema = once(() =>
  z.strictObject({
    key,
    onInterrupt: onInterrupt.schema.optional(),
    retry: retrySchema().optional(),
    timeoutMs: taskFields.timeoutMs.schema.optional(),
    divergence: executorOptionsSchema().shape.divergence,
  }),
)
export const invokeOptionsSchema = callOptionsSchema
export const askOptionsSchema = once(() =>
  z.strictObject({
    key,
    timeoutMs: waitingTime,
    default: z.unknown().optional(),
    for: z.enum(audiences).optional(),
  }),
)
export const waitOptionsSchema = once(() =>
  z.strictObject({
    key,
    mode: z.enum(['all', 'any']).optional(),
    settled: z.boolean().optional(),
    inMemory: z.boolean().optional(),
    timeoutMs: waitingTime,
    untilMessage: z.boolean().optional(),
  }),
)

const answerSchema = z.custom<AnswerSchema>((value) => typeof value === 'object' && value !== null, 'expected a schema')
export const signalOptionsSchema = once(() =>
  z.strictObject({ key, schema: answerSchema.optional(), timeoutMs: waitingTime }),
)
export const webhookOptionsSchema = once(() => z.strictObject({ key, schema: answerSchema.optional() }))

const functionSchema = <F>(expected: string) => z.custom<F>((value) => typeof value === 'function', expected)
const wordOrFunction = <T>(words: readonly string[], shape: string) =>
  z.custom<T>((value) => typeof value === 'function' || words.includes(value as string), {
    error: ({ input }) => notOneOf(words, input, [`a function ${shape}`]),
  })
const objectWith = <T>(methods: string[], expected: string) =>
  z.custom<T>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function'),
    expected,
  )

/** An observer that receives inspection events. */
export const inspectionObserverSchema = once(() =>
  z.custom<((event: unknown) => void) | { next?(event: unknown): void }>(
    (value) => typeof value === 'function' || typeof (value as { next?: unknown } | null)?.next === 'function',
    'expected a function that takes inspection events, or an object with `next`',
  ),
)
export const inspectOptionsSchema = once(() =>
  z.strictObject({
    tasks: z.enum(['own', 'all']).default('own'),
    maxTasks: z.int().min(1).max(100_000).default(1_000),
    onLeftOut: functionOf<(count: number) => void>('(count)').optional(),
  }),
)

const iterations = z.int().min(1).max(1_000_000)
const toolExecution = z.enum(['parallel', 'sequential'])
/** `agents/models/language-model.ts` checks its version. */
const languageModel = objectWith<object>(['doStream'], 'expected a language model object with `doStream`')

/** The options of `agent`. */
export const agentOptionsSchema = once(() =>
  z.strictObject({
    model: z.union([wordSchema, languageModel]).optional(),
    instructions: z.string().trim().min(1).optional(),
    abilities: abilityListSchema.optional(),
    bounds: creationBoundsSchema.optional(),
    maxIterations: iterations.optional(),
    toolExecution: toolExecution.optional(),
    modelRetry: retrySchema().optional(),
    settings: z.record(z.string(), z.unknown()).optional(),
    ...executorOptionsSchema().pick({
      result: true,
      retry: true,
      timeoutMs: true,
      concurrency: true,
      onInterrupt: true,
      onFailure: true,
      onInputRequired: true,
    }).shape,
  }),
)

export type ParsedAgentOptions = z.output<ReturnType<typeof agentOptionsSchema>>

/** A fact as the functions of the option `memory` receive it. */
export interface ComparedFact {
  readonly text: string
  readonly category: string
  /** 0 to 1. */
  readonly confidence: number
  /** The sources that stated and confirmed it. */
  readonly statedBy: readonly Source[]
  readonly branch: string
  readonly taskId: string | null
  readonly agentId: string | null
  readonly sessionId: string | null
  /** Epoch milliseconds. */
  readonly createdAt: number
}
/** The similarity of two texts, 0 to 1; must be symmetric. */
export type LikenessFunction = (a: string, b: string) => number | Promise<number>
export type ContradictsFunction = (there: ComparedFact, incoming: ComparedFact) => boolean | Promise<boolean>
/** `first` is the existing fact, `second` the incoming one. The fact that is returned supersedes the other. */
export type JudgeFunction = (
  first: ComparedFact,
  second: ComparedFact,
) => 'keep-both' | 'first' | 'second' | Promise<'keep-both' | 'first' | 'second'>

const fraction = z.number().min(0).max(1)

/** The option `memory` of `createEngine`. */
export const memoryOptionsSchema = once(() =>
  z
    .strictObject({
      similarity: wordOrFunction<'jaccard' | 'embeddings' | LikenessFunction>(
        ['jaccard', 'embeddings'],
        '(a, b) => 0 to 1',
      ).optional(),
      threshold: fraction.optional(),
      candidates: z.enum(['all', 'words']).optional(),
      durableThreshold: fraction.optional(),
      durableCategories: z.array(wordSchema).max(100).optional(),
      categoryRules: z
        .array(z.strictObject({ category: wordSchema, words: z.array(wordSchema).min(1).max(1_000) }))
        .max(1_000)
        .readonly()
        .optional(),
      consolidateEvery: z.int().min(1).max(100_000).optional(),
      onContradiction: wordOrFunction<ContradictionPolicy | JudgeFunction>(
        contradictionPolicies,
        "(first, second) => 'keep-both' | 'first' | 'second'",
      ).optional(),
      contradicts: functionSchema<ContradictsFunction>('expected a function (there, incoming) => boolean').optional(),
      archive: z.boolean().optional(),
    })
    .refine(({ candidates, similarity }) => candidates === undefined || typeof similarity === 'function', {
      path: ['candidates'],
      message: 'it selects the facts that a function compares: set `similarity` to a function, or leave it out',
    }),
)
export type ParsedMemoryOptions = z.output<ReturnType<typeof memoryOptionsSchema>>

/** The options of `createEngine`. */
export const engineOptionsSchema = once(() =>
  z.strictObject({
    ledger: z
      .union([z.string().min(1), objectWith<object>(['step', 'read', 'close'], 'expected a Ledger')])
      .default(':memory:'),
    executors: z
      .record(
        nameSchema,
        z.custom(
          (value) => isExecutor(value) || typeof value === 'function',
          'expected a function (task, run) => result or what defineExecutor returned',
        ),
      )
      .default({}),
    bus: objectWith<object>(['register', 'invoke', 'call'], 'expected a bus, made by createBus').optional(),
    abilities: z
      .array(z.custom<object>((value) => typeof value === 'object' && value !== null, 'expected an ability'))
      .default([]),
    model: z.union([wordSchema, languageModel]).optional(),
    models: z.record(wordSchema, languageModel).default({}),
    resolveModel: functionSchema<(id: string) => unknown>('expected a function (id) => model').optional(),
    maxIterations: iterations.default(10),
    toolExecution: toolExecution.default('parallel'),
    modelRetry: retrySchema().optional(),
    modelIdleTimeoutMs: durationSchema({ min: 1 }).default(300_000),
    archiveFailed: z.boolean().default(true),
    /** Validated by `memoryOptionsSchema`, so that errors name the option `memory`. */
    memory: z.unknown().optional(),
    plans: z.strictObject({ root: z.string().min(1) }).optional(),
    publicUrl: publicUrlSchema.optional(),
    webhooks: webhooksSchema(),
    embeddingModel: objectWith<object>(['doEmbed'], 'expected an embedding model object with `doEmbed`').optional(),
    maxConcurrent: z.int().min(1).default(10),
    limits: z.record(nameSchema, z.int().min(1)).default({}),
    autoStart: z.boolean().default(true),
    autoComplete: autoComplete.schema.default(autoComplete.default),
    onInterrupt: onInterrupt.schema.default('fail'),
    onFailure: handlerSchema().optional(),
    onInputRequired: handlerSchema().optional(),
    onChildFailure: onChildFailure.schema.default(onChildFailure.default),
    onDependencyFailure: onDependencyFailure.schema.default(onDependencyFailure.default),
    maxDepth: z.int().min(1).default(10_000),
    maxChildren: z.int().min(1).default(1_000_000),
    retentionMs: durationSchema().optional(),
    leaseMs: durationSchema({ min: 100, max: 86_400_000 }).default(30_000),
    maxCrashes: z.int().min(1).default(3),
    abortGraceMs: durationSchema().default(5_000),
    shutdownTimeoutMs: durationSchema().default(5_000),
    work: z.boolean().default(true),
    inspect: inspectionObserverSchema().optional(),
    onError: functionSchema<(error: unknown, context: Record<string, unknown>) => void>(
      'expected a function (error, context)',
    ).optional(),
    logger: loggerSchema().optional(),
    telemetry: telemetrySchema().optional(),
    redact: functionSchema<RedactFunction>('expected a function (value, path) => value').optional(),
    clock: objectWith<object>(['now', 'setTimeout', 'clearTimeout'], 'expected a Clock').optional(),
    ids: objectWith<object>(['next', 'random'], 'expected Ids').optional(),
  }),
)
/** The options of `work`. */
export const workOptionsSchema = once(() =>
  z.strictObject({
    only: z
      .strictObject({
        rootKeys: z.array(z.string().min(1)).default([]),
        rootKeyPrefixes: z.array(z.string().min(1)).default([]),
      })
      .optional(),
  }),
)

export type ParsedEngineOptions = z.output<ReturnType<typeof engineOptionsSchema>>

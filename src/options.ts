// The doors of the library: every option and every create field, parsed with zod. An unknown key names its nearest neighbour.
import { z } from 'zod'
import { abilityListSchema } from './entities/ability-pattern.ts'
import { eventTypes } from './entities/event.ts'
import { type ContradictionPolicy, contradictionPolicies } from './entities/memory.ts'
import { statusFilterSchema } from './entities/status-filter.ts'
import { childFailurePolicies, dependencyFailurePolicies, onInterruptPolicies, taskStatuses } from './entities/task.ts'
import { mostObjectives } from './entities/team.ts'
import { executorOptionsSchema, isExecutor } from './executor.ts'

const name = z.string().trim().min(1).max(500)
/** What a task is called: a line, which in a folder of files from elsewhere may be a long one. */
const title = z.string().trim().min(1).max(10_000)
const taskIdSchema = z.string().min(1).max(100)
const onInterrupt = z.enum(onInterruptPolicies)
const autoComplete = z.union([z.boolean(), z.literal('all-settled')])
const onChildFailure = z.enum(childFailurePolicies)
const onDependencyFailure = z.enum(dependencyFailurePolicies)
/** What is stored and compared as it is: a letter that no store keeps would make an owner a stranger to its own claim. */
const word = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine(
    (text) => text.isWellFormed() && !text.includes('\u0000'),
    'it holds a NUL character or half of a surrogate pair',
  )
/** Each once, in the order given. */
const tags = z
  .array(word)
  .max(100)
  .transform((words) => [...new Set(words)])
const milliseconds = z.number().min(0).max(8.64e15)
/** A point in time, as the tables keep it: whole milliseconds, never earlier than it was named. */
const time = milliseconds.transform(Math.ceil)

export const retryOptionSchema = executorOptionsSchema.shape.retry.unwrap()

/** What makes a task one for a team. */
export const teamFields = {
  team: z.union([z.boolean(), z.literal('later')]).optional(),
  type: word.optional(),
  objectives: z
    .array(
      z.union(
        [
          z.string().trim().min(1).max(10_000),
          z
            .strictObject({ description: z.string().trim().min(1).max(10_000) })
            .transform(({ description }) => description),
        ],
        'expected what is to be reached, as a text or { description }, of 1 to 10,000 characters',
      ),
    )
    .max(mostObjectives)
    .optional(),
  parentBranch: z.string().trim().min(1).max(1_000).optional(),
  durableThreshold: z.number().min(0).max(1).optional(),
  durableCategories: z.array(word).max(100).optional(),
  agentId: word.optional(),
}

/** The fields of `create` that stand alone; `tasks` and `after` make trees of them. */
export const createFields = {
  name: title.optional(),
  goal: z.string().trim().min(1).optional(),
  description: z.string().optional(),
  executor: z
    .union([
      name,
      z.custom<object>(
        (value) => isExecutor(value),
        'expected the name of an executor, or what defineExecutor returned',
      ),
    ])
    .optional(),
  input: z.unknown().optional(),
  priority: z.int().min(-1_000_000_000).max(1_000_000_000).optional(),
  blockedBy: z.array(taskIdSchema).max(10_000).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  retry: retryOptionSchema.optional(),
  timeoutMs: z.number().positive().max(8.64e15).optional(),
  deadline: time.optional(),
  notBefore: time.optional(),
  concurrency: z.int().min(1).max(1_000_000).optional(),
  key: z.string().min(1).max(500).optional(),
  autoStart: z.boolean().optional(),
  autoComplete: autoComplete.optional(),
  onInterrupt: onInterrupt.optional(),
  onChildFailure: onChildFailure.optional(),
  onDependencyFailure: onDependencyFailure.optional(),
  tellParent: z.boolean().optional(),
  role: word.optional(),
  tags: tags.optional(),
  systemPrompt: z.string().trim().min(1).optional(),
  model: word.optional(),
  abilities: abilityListSchema.optional(),
  ...teamFields,
}

/** A child inside `tasks`: it comes after its siblings by their local names. */
export interface ChildSpec extends z.infer<z.ZodObject<typeof createFields>> {
  after?: string | string[] | undefined
  tasks?: Record<string, ChildSpec> | undefined
}
export const childSpecSchema: z.ZodType<ChildSpec> = z.lazy(() =>
  z.strictObject({
    ...createFields,
    after: z.union([z.string(), z.array(z.string())]).optional(),
    tasks: z.record(z.string().min(1), childSpecSchema).optional(),
  }),
)

/** A parsed `create`. */
export interface CreateSpec extends z.infer<z.ZodObject<typeof createFields>> {
  parentId?: string | undefined
  tasks?: Record<string, ChildSpec> | undefined
}
export const createSpecSchema: z.ZodType<CreateSpec> = z.strictObject({
  ...createFields,
  parentId: taskIdSchema.optional(),
  tasks: z.record(z.string().min(1), childSpecSchema).optional(),
})

/** What `update` may change. null takes a value away: then what is usual holds (`onChildFailure` ignore, `onDependencyFailure` block). `status` walks the one edge that leads there, or is refused. */
export const updateSchema = z.strictObject({
  name: title.optional(),
  goal: z.string().trim().min(1).nullable().optional(),
  description: z.string().optional(),
  priority: createFields.priority,
  metadata: createFields.metadata,
  executor: name.optional(),
  input: z.unknown().optional(),
  blockedBy: z.array(taskIdSchema).max(10_000).optional(),
  retry: retryOptionSchema.nullable().optional(),
  timeoutMs: z.number().positive().nullable().optional(),
  onInterrupt: onInterrupt.nullable().optional(),
  autoComplete: autoComplete.optional(),
  onChildFailure: onChildFailure.nullable().optional(),
  onDependencyFailure: onDependencyFailure.nullable().optional(),
  notBefore: time.nullable().optional(),
  deadline: time.nullable().optional(),
  concurrency: z.int().min(1).max(1_000_000).nullable().optional(),
  /** Who shall claim it: nobody else may, until it is claimed and let go of again. */
  owner: word.nullable().optional(),
  role: word.nullable().optional(),
  tags: tags.optional(),
  status: z.enum(taskStatuses).optional(),
})
export type TaskPatch = z.input<typeof updateSchema>

export const listOptionsSchema = z.strictObject({
  status: statusFilterSchema.optional(),
  parentId: taskIdSchema.nullable().optional(),
  executor: name.optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  keyPrefix: z.string().min(1).max(500).optional(),
  owner: word.optional(),
  tags: tags.optional(),
  ready: z.boolean().optional(),
  limit: z.int().min(0).max(1_000).default(100),
  after: z.string().min(1).max(200).optional(),
})
export type ListOptions = z.input<typeof listOptionsSchema>

const signal = z.instanceof(AbortSignal).optional()
const position = z.int().min(0).default(0)

export const timeoutOptionsSchema = z.strictObject({
  timeoutMs: z.number().min(0).optional(),
  signal: z.instanceof(AbortSignal).optional(),
})
export const streamOptionsSchema = z.strictObject({ after: position, signal })
export const eventsOptionsSchema = z.strictObject({
  after: position,
  signal,
  follow: z.boolean().default(true),
  taskId: taskIdSchema.optional(),
})
export const eventTypeSchema = z.union([z.literal('*'), z.enum(eventTypes)])
export const deleteOptionsSchema = z.strictObject({
  children: z.enum(['promote', 'cascade', 'refuse']).default('promote'),
})
/** Who writes to a claimed task: its owner, and with a lease the number of the claim. */
const quote = { owner: word.optional(), fence: z.int().min(1).optional() }
export const quoteOptionsSchema = z.strictObject(quote)
export const failOptionsSchema = z.strictObject({ ...quote, code: z.string().min(1).max(100).default('TASK_FAILED') })
export const releaseOptionsSchema = z.strictObject({ ...quote, reason: z.string().min(1).max(500).optional() })
export const claimOptionsSchema = z.strictObject({
  owner: word,
  leaseMs: z.number().min(1).max(8.64e15).optional(),
  parentId: taskIdSchema.optional(),
  role: word.optional(),
  tags: tags.optional(),
  source: word.default('library'),
})
export type ClaimOptions = z.input<typeof claimOptionsSchema>

/** How often a task has been written. */
export const versionSchema = z.int().min(0)

export const taskIdsSchema = z.union([taskIdSchema.transform((id) => [id]), z.array(taskIdSchema).min(1).max(10_000)])
export const purgeOptionsSchema = z.strictObject({ before: milliseconds })
export const graphOptionsSchema = z.strictObject({ parentId: taskIdSchema.optional() })
const limit = z.int().min(1).max(1_000_000)
export const limitsSchema = z.strictObject({
  maxConcurrent: limit.optional(),
  limits: z.record(name, limit.nullable()).optional(),
})
export const sharedLimitsSchema = z.strictObject({
  maxConcurrent: limit.nullable().optional(),
  limits: z.record(name, limit.nullable()).optional(),
})
export type LimitsPatch = z.input<typeof limitsSchema>
export type SharedLimitsPatch = z.input<typeof sharedLimitsSchema>
export const sendOptionsSchema = z.strictObject({
  delivery: z.enum(['steer', 'followup', 'abort']).default('steer'),
  retry: z.boolean().default(false),
})
export const retryOptionsSchema = z.strictObject({ divergence: executorOptionsSchema.shape.divergence })
export const answerOptionsSchema = z.strictObject({ question: z.string().min(1).max(100).optional() })

const key = z.string().optional()
const waitingTime = milliseconds.optional()

/** The options of `run.*`; those of `sleep`, `message`, `now` and its kind are a key alone. */
export const keyOptionsSchema = z.strictObject({ key })
const divergence = executorOptionsSchema.shape.divergence
export const spawnOptionsSchema = z.strictObject({ key, divergence })
export const emitOptionsSchema = z.strictObject({ store: z.boolean().optional() })
export const callOptionsSchema = z.strictObject({
  key,
  onInterrupt: onInterrupt.optional(),
  retry: retryOptionSchema.optional(),
  timeoutMs: createFields.timeoutMs,
  divergence,
})
export const invokeOptionsSchema = callOptionsSchema
export const askOptionsSchema = z.strictObject({
  key,
  timeoutMs: waitingTime,
  default: z.unknown().optional(),
  personOnly: z.boolean().optional(),
})
export const waitOptionsSchema = z.strictObject({
  key,
  mode: z.enum(['all', 'any']).optional(),
  settled: z.boolean().optional(),
  timeoutMs: waitingTime,
  untilMessage: z.boolean().optional(),
})

const functionSchema = <F>(expected: string) => z.custom<F>((value) => typeof value === 'function', expected)
const wordOrFunction = <T>(words: readonly string[], expected: string) =>
  z.custom<T>((value) => typeof value === 'function' || words.includes(value as string), expected)
const objectWith = <T>(methods: string[], expected: string) =>
  z.custom<T>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function'),
    expected,
  )

/** Whoever is told what the live actors do. */
export const inspectionObserverSchema = z.custom<((event: unknown) => void) | { next?(event: unknown): void }>(
  (value) => typeof value === 'function' || typeof (value as { next?: unknown } | null)?.next === 'function',
  'expected a function that takes inspection events, or an object with `next`',
)
export const inspectOptionsSchema = z.strictObject({ tasks: z.enum(['own', 'all']).default('own') })

const iterations = z.int().min(1).max(1_000_000)
const toolExecution = z.enum(['parallel', 'sequential'])
/** What it can do is judged where models are kept. */
const languageModel = objectWith<object>(['doStream'], 'expected a language model object with `doStream`')

/** The options of `agent`. */
export const agentOptionsSchema = z.strictObject({
  model: z.union([word, languageModel]).optional(),
  instructions: z.string().trim().min(1).optional(),
  abilities: abilityListSchema.optional(),
  maxIterations: iterations.optional(),
  toolExecution: toolExecution.optional(),
  modelRetry: retryOptionSchema.optional(),
  settings: z.record(z.string(), z.unknown()).optional(),
  result: executorOptionsSchema.shape.result,
  retry: retryOptionSchema.optional(),
  timeoutMs: executorOptionsSchema.shape.timeoutMs,
  concurrency: executorOptionsSchema.shape.concurrency,
  onInterrupt: executorOptionsSchema.shape.onInterrupt,
})

export type ParsedAgentOptions = z.output<typeof agentOptionsSchema>

/** A fact as the functions of the option `memory` get it. */
export interface ComparedFact {
  readonly text: string
  readonly category: string
  /** 0 to 1. */
  readonly confidence: number
  readonly branch: string
  readonly taskId: string | null
  readonly agentId: string | null
  readonly sessionId: string | null
  /** Epoch milliseconds. */
  readonly createdAt: number
}
/** How alike two texts are, 0 to 1, whichever of them comes first. */
export type LikenessFunction = (a: string, b: string) => number | Promise<number>
export type ContradictsFunction = (there: ComparedFact, incoming: ComparedFact) => boolean | Promise<boolean>
/** `first` is the fact that was there, `second` the one that comes: the other one is superseded by it. */
export type JudgeFunction = (
  first: ComparedFact,
  second: ComparedFact,
) => 'keep-both' | 'first' | 'second' | Promise<'keep-both' | 'first' | 'second'>

const fraction = z.number().min(0).max(1)

/** The option `memory` of `createEngine`. */
export const memoryOptionsSchema = z
  .strictObject({
    similarity: wordOrFunction<'jaccard' | 'embeddings' | LikenessFunction>(
      ['jaccard', 'embeddings'],
      "expected 'jaccard', 'embeddings' or a function (a, b) => 0 to 1",
    ).optional(),
    threshold: fraction.optional(),
    candidates: z.enum(['all', 'words']).optional(),
    durableThreshold: fraction.optional(),
    durableCategories: z.array(word).max(100).optional(),
    categoryRules: z
      .array(z.strictObject({ category: word, words: z.array(word).min(1).max(1_000) }))
      .max(1_000)
      .optional(),
    consolidateEvery: z.int().min(1).max(100_000).optional(),
    onContradiction: wordOrFunction<ContradictionPolicy | JudgeFunction>(
      contradictionPolicies,
      "expected 'keep-both', 'highest-confidence', 'newest' or a function (first, second) => 'keep-both' | 'first' | 'second'",
    ).optional(),
    contradicts: functionSchema<ContradictsFunction>('expected a function (there, incoming) => boolean').optional(),
    archive: z.boolean().optional(),
  })
  .refine(({ candidates, similarity }) => candidates === undefined || typeof similarity === 'function', {
    path: ['candidates'],
    message: 'it says which facts a function is asked about: give `similarity` as a function, or leave it out',
  })
export type ParsedMemoryOptions = z.output<typeof memoryOptionsSchema>

/** The options of `createEngine`. */
export const engineOptionsSchema = z.strictObject({
  ledger: z
    .union([z.string().min(1), objectWith<object>(['step', 'read', 'close'], 'expected a Ledger')])
    .default(':memory:'),
  executors: z
    .record(
      name,
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
  model: z.union([word, languageModel]).optional(),
  models: z.record(word, languageModel).default({}),
  resolveModel: functionSchema<(id: string) => unknown>('expected a function (id) => model').optional(),
  maxIterations: iterations.default(10),
  toolExecution: toolExecution.default('parallel'),
  modelRetry: retryOptionSchema.optional(),
  archiveFailed: z.boolean().default(true),
  /** Judged by `memoryOptionsSchema`, so that what is wrong with it is told in its own names. */
  memory: z.unknown().optional(),
  embeddingModel: objectWith<object>(['doEmbed'], 'expected an embedding model object with `doEmbed`').optional(),
  maxConcurrent: z.int().min(1).default(10),
  limits: z.record(name, z.int().min(1)).default({}),
  autoStart: z.boolean().default(true),
  autoComplete: autoComplete.default(false),
  onInterrupt: onInterrupt.default('fail'),
  onChildFailure: onChildFailure.default('ignore'),
  onDependencyFailure: onDependencyFailure.default('block'),
  maxDepth: z.int().min(1).default(10_000),
  maxChildren: z.int().min(1).default(1_000_000),
  retentionMs: milliseconds.optional(),
  leaseMs: z.number().min(100).max(86_400_000).default(30_000),
  maxCrashes: z.int().min(1).default(3),
  abortGraceMs: z.number().min(0).default(5_000),
  shutdownTimeoutMs: z.number().min(0).default(5_000),
  work: z.boolean().default(true),
  inspect: inspectionObserverSchema.optional(),
  onError: functionSchema<(error: unknown, context: Record<string, unknown>) => void>(
    'expected a function (error, context)',
  ).optional(),
  clock: objectWith<object>(['now', 'setTimeout', 'clearTimeout'], 'expected a Clock').optional(),
  ids: objectWith<object>(['next', 'random'], 'expected Ids').optional(),
})
export type ParsedEngineOptions = z.output<typeof engineOptionsSchema>

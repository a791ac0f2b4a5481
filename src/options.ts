// The doors of the library: every option and every create field, parsed with zod. An unknown key names its nearest neighbour.
import { z } from 'zod'
import { eventTypes } from './entities/event.ts'
import { onInterruptPolicies, taskStatuses } from './entities/task.ts'
import { ErrandError, nearestName } from './errors.ts'
import { executorOptionsSchema, isExecutor } from './executor.ts'

const name = z.string().trim().min(1).max(500)
const taskIdSchema = z.string().min(1).max(100)
const onInterrupt = z.enum(onInterruptPolicies)
const milliseconds = z.number().min(0).max(8.64e15)

export const retryOptionSchema = executorOptionsSchema.shape.retry.unwrap()

/** The fields of `create` that stand alone; `tasks` and `after` make trees of them. */
const createFields = {
  name: name.optional(),
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
  notBefore: milliseconds.optional(),
  key: z.string().min(1).max(500).optional(),
  autoStart: z.boolean().optional(),
  autoComplete: z.boolean().optional(),
  onInterrupt: onInterrupt.optional(),
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

/** What `update` may change. `status` walks the one edge that leads there, or is refused. */
export const updateSchema = z.strictObject({
  name: name.optional(),
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
  notBefore: milliseconds.nullable().optional(),
  status: z.enum(taskStatuses).optional(),
})
export type TaskPatch = z.input<typeof updateSchema>

export const listOptionsSchema = z.strictObject({
  status: z.union([z.enum(taskStatuses), z.array(z.enum(taskStatuses)).min(1)]).optional(),
  parentId: taskIdSchema.nullable().optional(),
  executor: name.optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  keyPrefix: z.string().min(1).max(500).optional(),
  limit: z.int().min(0).max(1_000).default(100),
  after: z.string().min(1).max(200).optional(),
})
export type ListOptions = z.input<typeof listOptionsSchema>

const signal = z.instanceof(AbortSignal).optional()
const position = z.int().min(0).default(0)

export const timeoutOptionsSchema = z.strictObject({ timeoutMs: z.number().min(0).optional() })
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
export const settleOptionsSchema = z.strictObject({})
export const failOptionsSchema = z.strictObject({ code: z.string().min(1).max(100).default('TASK_FAILED') })
export const answerOptionsSchema = z.strictObject({ question: z.string().min(1).max(100).optional() })

const functionSchema = <F>(expected: string) => z.custom<F>((value) => typeof value === 'function', expected)
const objectWith = <T>(methods: string[], expected: string) =>
  z.custom<T>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function'),
    expected,
  )

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
  maxConcurrent: z.int().min(1).default(10),
  limits: z.record(name, z.int().min(1)).default({}),
  autoStart: z.boolean().default(true),
  autoComplete: z.boolean().default(false),
  onInterrupt: onInterrupt.default('fail'),
  maxCrashes: z.int().min(1).default(3),
  abortGraceMs: z.number().min(0).default(5_000),
  shutdownTimeoutMs: z.number().min(0).default(5_000),
  work: z.boolean().default(true),
  inspect: functionSchema<(event: unknown) => void>('expected a function that takes inspection events').optional(),
  onError: functionSchema<(error: unknown, context: Record<string, unknown>) => void>(
    'expected a function (error, context)',
  ).optional(),
  clock: objectWith<object>(['now', 'setTimeout', 'clearTimeout'], 'expected a Clock').optional(),
  ids: objectWith<object>(['next', 'random'], 'expected Ids').optional(),
})

/**
 * Parses what came from outside.
 * @throws ErrandError UNKNOWN_OPTION { path, option, nearest } for a key that is not offered, INVALID_INPUT { issues } else.
 */
export function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  refusePrototypeKey(value, what)
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = mostTelling(parsed.error.issues)
  const path = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const option = issue.keys[0] as string
    const known = knownKeys(schema, issue.path)
    const nearest = nearestName(option, known)
    throw new ErrandError(
      'UNKNOWN_OPTION',
      `${what}${path ? ` (at ${path})` : ''} has no option "${option}".${nearest ? ` Did you mean "${nearest}"?` : ''}${
        known.length > 0 ? ` It takes: ${known.join(', ')}.` : ''
      }`,
      { option, path, nearest, known },
    )
  }
  throw new ErrandError(
    'INVALID_INPUT',
    `${what} is not valid: ${parsed.error.issues
      .slice(0, 3)
      .map((each) => `${each.path.length > 0 ? `${each.path.map(String).join('.')}: ` : ''}${each.message}`)
      .join('; ')}.`,
    { issues: parsed.error.issues.map((each) => ({ path: each.path.map(String).join('.'), message: each.message })) },
  )
}

/** zod leaves a key `__proto__` out of a record without a word; nothing that was given may be lost like that. */
function refusePrototypeKey(value: unknown, what: string): void {
  if (typeof value !== 'object' || value === null) return
  for (const field of ['metadata', 'tasks'] as const) {
    const record = (value as Record<string, unknown>)[field]
    if (typeof record !== 'object' || record === null) continue
    if (Object.hasOwn(record, '__proto__')) {
      throw new ErrandError(
        'INVALID_INPUT',
        `${what} is not valid: ${field} has the key "__proto__", which could reach an object's prototype.`,
        { path: `${field}.__proto__` },
      )
    }
    if (field === 'tasks') for (const child of Object.values(record)) refusePrototypeKey(child, what)
  }
}

function mostTelling(issues: z.core.$ZodIssue[]): z.core.$ZodIssue {
  return issues.find((issue) => issue.code === 'unrecognized_keys') ?? (issues[0] as z.core.$ZodIssue)
}

function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let current: z.ZodType | undefined = schema
  for (const step of path) {
    current = unwrap(current)
    if (current instanceof z.ZodObject) current = current.shape[String(step)] as z.ZodType | undefined
    else if (current instanceof z.ZodRecord) current = current.valueType as z.ZodType
    else if (current instanceof z.ZodArray) current = current.element as z.ZodType
    else return []
  }
  current = unwrap(current)
  return current instanceof z.ZodObject ? Object.keys(current.shape) : []
}

function unwrap(schema: z.ZodType | undefined): z.ZodType | undefined {
  let current = schema
  while (
    current instanceof z.ZodOptional ||
    current instanceof z.ZodDefault ||
    current instanceof z.ZodNullable ||
    current instanceof z.ZodLazy
  ) {
    current = current.unwrap() as z.ZodType
  }
  return current
}

// The fields with which tasks are created and changed, each defined once: schema with bounds, meaning, default, storage, and the inputs
// that take it. Types, inputs of abilities, plans, flags and the tables of the documents derive from these definitions.
/* oxlint-disable max-lines -- One table: every field of a task, once. */
import { z } from 'zod'
import { durationSchema, millisecondsSchema } from '../core/duration-schema.ts'
import { once } from '../core/once.ts'
import { anyObject, longText } from '../core/parse.ts'
import { typeName } from '../core/type-name.ts'
import { abilityListSchema } from './ability-pattern.ts'
import { handlerSchema } from './handler.ts'
import { maxTaskIdLength } from './task-id.ts'
import { maxObjectives } from './team.ts'

/**
 * The inputs that take fields: `create` and `update` (methods and abilities), plans, `errand add`, the board, and the abilities with which
 * models create tasks.
 */
export const fieldTakers = ['create', 'update', 'plans', 'add', 'board', 'models'] as const
export type FieldTaker = (typeof fieldTakers)[number]

interface FieldRules {
  /** One line for people and models. */
  meaning: string
  by: readonly FieldTaker[]
  default?: string | number | boolean | readonly never[]
  /** `update` takes null too, which restores the default. */
  clearable?: true
  /** Part of the work itself: it cannot change while the task is WORKING or afterwards. */
  definesWork?: true
  /** Stored in the policy of the task, as given. */
  policy?: true
  /** Stored in a column and shown with every task: its schema there, and its first value. */
  stored?: { shows: () => z.ZodType; first: () => unknown }
  /** The unit of a number; people may write a time or a duration instead. */
  unit?: keyof typeof units
  /** The flag of `errand add`, if it is not the name in kebab-case. */
  flag?: string
}

const units = { time: ' In epoch milliseconds.', duration: ' In milliseconds.' }

/** The schema is made when it is first used: each process uses a few of them. */
function field<S extends z.ZodType, const R extends FieldRules>(schema: () => S, rules: R): { readonly schema: S } & R {
  const byDefault = rules.default === undefined ? '' : ` Default ${JSON.stringify(rules.default)}.`
  const described = once(() =>
    schema().describe(`${rules.meaning}${rules.unit === undefined ? '' : units[rules.unit]}${byDefault}`),
  )
  return {
    get schema() {
      return described()
    },
    ...rules,
  }
}

/** What the next run does about a call that a crash interrupted: throws an error, repeats it, or asks a person. */
export const onInterruptPolicies = ['fail', 'rerun', 'ask'] as const
export type OnInterrupt = (typeof onInterruptPolicies)[number]

/**
 * When a parent whose own work is done is completed by its children: when all are completed (`true`), or when all have settled with any
 * outcome (`all-settled`).
 */
export type AutoComplete = boolean | 'all-settled'

/** The effect of the final failure of a child: none, the parent fails too, or the siblings are canceled. */
export const childFailurePolicies = ['ignore', 'fail', 'cancel-siblings'] as const
export type OnChildFailure = (typeof childFailurePolicies)[number]

/** The effect of a dependency that failed or was canceled on a dependent: it stays blocked, is canceled, or continues. */
export const dependencyFailurePolicies = ['block', 'cancel', 'ignore'] as const
export type OnDependencyFailure = (typeof dependencyFailurePolicies)[number]

const retryShape = once(() => ({
  /** Attempts in all, the first included. Default 1. */
  maxAttempts: z.int().min(1).max(1_000_000),
  /** Milliseconds before the second attempt. Default 0. */
  backoffMs: durationSchema(),
  /** `fixed` waits equally long each time, `exponential` twice as long as before. Default fixed. */
  backoff: z.enum(['fixed', 'exponential']),
  /** The maximum delay of `exponential`, in milliseconds. Default: none. */
  maxBackoffMs: durationSchema(),
  /** The random part of each delay, 0 to 1: the delay is shortened by up to that part, so that many tasks do not retry at the same time. Default 0. */
  jitter: z.number().min(0).max(1),
  /** Codes of the errors that are retried (`TIMEOUT`, `ECONNRESET`, those of a `Failure`); others are final. Default: all. */
  on: z.array(z.string().min(1).max(100)).min(1).max(100),
}))

/** What a retry policy is given as, for messages. */
export const retryForms =
  'a number of attempts (retry: 3) or { maxAttempts, backoffMs, backoff: fixed | exponential, maxBackoffMs, jitter: 0 to 1, on: [codes] }'

export const retryPolicySchema = once(() =>
  z
    .strictObject(retryShape(), {
      error: ({ code }) => (code === 'invalid_type' ? `expected ${retryForms}` : undefined),
    })
    .partial(),
)

/** A retry policy, or a number of attempts in all, which becomes one. */
export const retrySchema = once(
  () =>
    z
      .preprocess((given) => (typeof given === 'number' ? { maxAttempts: given } : given), retryPolicySchema())
      .meta({ type: ['integer', 'object'], minimum: 1 }) as unknown as z.ZodType<
      Partial<RetryPolicy>,
      number | RetryOptions
    >,
)

/** How often a task may be attempted, and the delay between attempts. */
export interface RetryPolicy extends z.output<z.ZodObject<ReturnType<typeof retryShape>>> {}

/** A retry policy as an option takes it. */
export interface RetryOptions extends z.input<ReturnType<typeof retryPolicySchema>> {}

export const taskIdSchema = z.string().min(1).max(maxTaskIdLength)
/** The name of an executor. */
export const nameSchema = z.string().trim().min(1).max(500)
/** A text that is compared after it was stored. Characters that no database keeps are refused, because an owner would not match its own claim. */
export function wordOf(maxLength: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(maxLength)
    .refine(
      (text) => text.isWellFormed() && !text.includes('\u0000'),
      'it holds a NUL character or half of a surrogate pair',
    )
}
export const wordSchema = wordOf(100)
/** A point in time, in epoch milliseconds, bounded and rounded up like a duration: it is never earlier than given. */
export const timeSchema = millisecondsSchema()
/** A point in time, as a date too. */
export const dateSchema = z.preprocess(
  (given) => (given instanceof Date ? given.getTime() : given),
  millisecondsSchema({
    notNumber: (given) =>
      `expected epoch milliseconds or a valid Date, got ${Number.isNaN(given) ? 'an invalid one' : typeName(given)}`,
  }),
) as unknown as z.ZodType<number, number | Date>
const objective = z.string().trim().min(1).max(10_000)

const text = longText().trim().min(1)
const textOrNull = { shows: () => z.string().nullable(), first: () => null }
const numberOrNull = { shows: () => z.number().nullable(), first: () => null }

export const taskFields = {
  /** Required without an executor and a goal. A line; imported files may have a long one. */
  name: field(() => text.max(10_000), {
    meaning: 'The name shown in lists. Default: the executor, or the first line of the goal.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    stored: { shows: () => z.string(), first: () => '' },
  }),
  /** The assignment of an agent. */
  goal: field(() => text, {
    meaning: 'What the task is to achieve, in full: the agent receives nothing else.',
    by: ['create', 'update', 'plans', 'models'],
    clearable: true,
    definesWork: true,
    stored: textOrNull,
  }),
  description: field(longText, {
    meaning: 'What a worker needs to know about the task.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    default: '',
    stored: { shows: () => z.string(), first: () => '' },
  }),
  executor: field(() => nameSchema, {
    meaning:
      'The agent or other executor that works on the task. With neither an executor nor a goal, the task waits to be claimed.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    definesWork: true,
    stored: textOrNull,
  }),
  input: field(() => z.unknown(), {
    meaning: 'The input of the executor, as JSON.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    definesWork: true,
    stored: { shows: () => z.unknown(), first: () => null },
  }),
  /** Higher runs first. Default 0. */
  priority: field(() => z.int().min(-1_000_000_000).max(1_000_000_000), {
    meaning: 'Higher numbers run first.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    default: 0,
    stored: { shows: () => z.number(), first: () => 0 },
  }),
  parentId: field(() => taskIdSchema, {
    meaning: 'The parent task. Default: the task that creates this one, if any.',
    by: ['create', 'add', 'board', 'models'],
    stored: textOrNull,
    flag: 'parent',
  }),
  /** Ids of tasks that must be completed before this one starts. */
  blockedBy: field(() => z.array(taskIdSchema).max(10_000), {
    meaning: 'Ids of the tasks that must be completed before this one starts.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    definesWork: true,
    flag: 'after',
  }),
  metadata: field(anyObject, {
    meaning: 'Your own data, stored with the task as JSON.',
    by: ['create', 'update', 'plans', 'add', 'board'],
    stored: { shows: anyObject, first: () => ({}) },
  }),
  /** Only with an executor, like `timeoutMs`: without one it would have no effect and is refused. */
  retry: field(retrySchema, {
    meaning:
      "How many times the task is attempted: a number of attempts in all, or a policy with the delay between attempts. Default: the executor's, else one attempt.",
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    definesWork: true,
    policy: true,
  }),
  /** Milliseconds after which a run fails with `TIMEOUT`. */
  timeoutMs: field(() => durationSchema({ min: 1 }), {
    meaning: "The maximum duration of a run. Default: the executor's, else unlimited.",
    unit: 'duration',
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    definesWork: true,
    policy: true,
    flag: 'timeout',
  }),
  /** Epoch milliseconds at which it finally fails with `TIMEOUT` unless it has settled. A group fails with its tasks. */
  deadline: field(() => dateSchema, {
    meaning: 'The time at which the task fails unless it has ended.',
    unit: 'time',
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    stored: numberOrNull,
  }),
  /** Epoch milliseconds before which it does not start. Of a task: null when none was set or its timer has fired. */
  notBefore: field(() => dateSchema, {
    meaning: 'The earliest time at which the task may start.',
    unit: 'time',
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    definesWork: true,
    stored: numberOrNull,
  }),
  /** Milliseconds after its creation, by the time of the ledger, before which it does not start. With `notBefore`, the later of both counts. */
  delayMs: field(() => durationSchema(), {
    meaning: 'How long after its creation the task may start at the earliest. Stored as `notBefore`.',
    unit: 'duration',
    by: ['create'],
  }),
  /** Maximum of open executor runs of its direct children, in all engines. Default: no limit. */
  concurrency: field(
    () => z.int('expected a number of tasks').min(1, 'at least one task must be able to run').max(1_000_000),
    {
      meaning: 'How many children of the task may run at the same time.',
      by: ['create', 'update', 'plans', 'add'],
      clearable: true,
      policy: true,
    },
  ),
  /** Deleted children count too. The engine's limit of the same name also applies. */
  maxChildren: field(() => z.int().min(1).max(1_000_000), {
    meaning: "How many children the task may have, within the engine's limit.",
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    policy: true,
  }),
  /**
   * The same key returns the first task, in any state. Only the root's executor, goal, input, and whether it is a group are compared: when
   * one differs, or the first task was deleted, it is a `KEY_CONFLICT`. Everything else is neither compared nor changed: name, metadata,
   * policy, dependencies, and the children in `tasks`.
   */
  key: field(() => z.string().min(1).max(500), {
    meaning: 'Creating a task with the same key again returns the first task.',
    by: ['create', 'add'],
    stored: textOrNull,
  }),
  /** False: it waits for `start` or `startHeld`. Default: its group's, else the engine's (`true`). */
  autoStart: field(() => z.boolean(), {
    meaning: 'Whether the task starts by itself.',
    by: ['create', 'plans'],
    default: true,
  }),
  /**
   * When its own work is done, its children complete it: when all are completed (`true`), or when all have settled with any outcome
   * (`all-settled`). Default: the engine's (`false`).
   */
  autoComplete: field(() => z.union([z.boolean(), z.literal('all-settled')]), {
    meaning:
      'Whether the children complete the task when its own work is done: true (when all are completed), false, or all-settled.',
    by: ['create', 'update', 'plans', 'add'],
    default: false,
    clearable: true,
    policy: true,
  }),
  /** What the next run does about an interrupted call. Default: the executor's, else the engine's (`fail`). */
  onInterrupt: field(() => z.enum(onInterruptPolicies), {
    meaning:
      "What the next run does about a call that a crash interrupted. Default: the executor's, else the engine's.",
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    definesWork: true,
    policy: true,
  }),
  /** Null: none, whatever the executor and the engine have. Default: the executor's, else the engine's. */
  onFailure: field(() => handlerSchema().nullable(), {
    meaning: 'The task that is created when this one fails for good.',
    by: ['create'],
  }),
  /** The same. */
  onInputRequired: field(() => handlerSchema().nullable(), {
    meaning: 'The task that is created when this one needs the answer of a person.',
    by: ['create'],
  }),
  /** The effect of the final failure of a child on this task. Default: the engine's (`ignore`). */
  onChildFailure: field(() => z.enum(childFailurePolicies), {
    meaning: 'What the final failure of a child does to the task.',
    by: ['create', 'update', 'plans', 'add'],
    default: 'ignore',
    clearable: true,
    policy: true,
  }),
  /** The effect on this task when a dependency finally fails or is canceled. Default: the engine's (`block`). */
  onDependencyFailure: field(() => z.enum(dependencyFailurePolicies), {
    meaning: 'What happens to the task when a dependency fails or is canceled.',
    by: ['create', 'update', 'plans', 'add'],
    default: 'block',
    clearable: true,
    policy: true,
  }),
  /**
   * When this task has finally settled, a message with its result, its error or its cancellation is sent to its parent in the same
   * transaction. An agent reads it before its next step, like a message sent with `steer`, but it does not answer a question; it ends
   * `wait_for_tasks`. A settled parent receives none. Refused for a task without a parent, and below a group, which reads no messages.
   * Default false.
   */
  notifyParent: field(() => z.boolean(), {
    meaning: 'Whether the parent receives a message when the task has ended. Refused below a group.',
    by: ['create', 'plans', 'add'],
    default: false,
    policy: true,
  }),
  /** Only without an executor: the role that a claim needs. */
  role: field(() => wordSchema, {
    meaning: 'Only agents of this role may claim the task.',
    by: ['create', 'update', 'plans', 'add', 'board'],
    clearable: true,
    definesWork: true,
    stored: textOrNull,
  }),
  tags: field(
    () =>
      z
        .array(wordSchema, 'expected a list of words')
        .max(100)
        // Each once, in the order given.
        .overwrite((words) => [...new Set(words)]),
    {
      meaning: 'Words by which tasks are claimed and listed.',
      by: ['create', 'update', 'plans', 'add', 'board', 'models'],
      default: [],
      stored: { shows: () => z.array(z.string()), first: () => [] as string[] },
      flag: 'tag',
    },
  ),
  /** The only worker that may claim it, until it is claimed and released again. */
  owner: field(() => wordSchema, {
    meaning: 'The only worker that may claim the task.',
    by: ['update', 'board'],
    clearable: true,
  }),
  /**
   * The creator: the task whose run or model created it, else the name of the caller (credentials, `--as`), else the surface (`library`,
   * `cli`, `http`, `mcp`). Null for children that a run spawned, whose creator is `parentId`.
   */
  createdBy: field(() => z.string(), {
    meaning: 'The creator: a task, a name from credentials, or the surface. Set by the engine.',
    by: [],
    stored: textOrNull,
  }),
  /**
   * Whether its executor may run commands: true when its creator, and every caller that changed its work, may run them. Otherwise an
   * executor that runs commands fails with `FORBIDDEN`.
   */
  mayRunCommands: field(() => z.boolean(), {
    meaning: 'Whether the executor may run commands. Set by the engine, from the rights of the creator.',
    by: [],
    default: true,
    stored: { shows: () => z.boolean(), first: () => true },
  }),
  /** The first message to its agent, in place of the agent's own instructions. Only for agents. */
  systemPrompt: field(() => text, {
    meaning: "Instructions for the agent of the task, in place of the agent's own.",
    by: ['create', 'plans', 'models'],
  }),
  /**
   * The model that its agent uses. Only for agents. Default: the agent's, else the engine's. Models, and clients without the right to run
   * commands, may only name one that the engine offers: a registered one, the default, or that of an agent.
   */
  model: field(() => wordSchema, {
    meaning: 'The name of the model that works on the task.',
    by: ['create', 'plans', 'models'],
    policy: true,
  }),
  /**
   * The abilities that its model may call: ids, `module:*`, `*`. Its children may not call others. Default: all except `ldg:*` and `bus:*`,
   * which no list allows. Tasks outside of its own subtree are always refused.
   */
  abilities: field(() => abilityListSchema, {
    meaning: 'The abilities that the model may call: ids, `module:*`, `*`. Never more than the parent task may call.',
    by: ['create', 'plans', 'models'],
  }),
  /**
   * True: the task is for a team. It has a branch of memory, `task/<its name>`, that agents join with their own branches. Any of the five
   * fields below implies it. `later`: it has that branch, and becomes a team task when its first agent joins; until then the work of an
   * agent of the engine on it is not observed. Default: neither until its first agent joins.
   */
  team: field(() => z.union([z.boolean(), z.literal('later')]), {
    meaning:
      'Whether several agents with one memory work on the task; implied by `type`, `objectives`, `parentBranch`, `durableThreshold` and `durableCategories`.',
    by: ['create', 'plans', 'add'],
  }),
  /** The kind of work, to list and compare tasks by. */
  type: field(() => wordSchema, {
    meaning: 'The kind of work, to list and compare tasks by: bug_fix, research, …',
    by: ['create', 'plans', 'add', 'models'],
  }),
  /** In order; each is todo, active, done or blocked. */
  objectives: field(
    () =>
      z
        .array(
          z.union(
            [objective, z.strictObject({ description: objective }).transform(({ description }) => description)],
            'expected an objective, as a string or { description }, of 1 to 10,000 characters',
          ),
          'expected a list of objectives, like ["The login is repaired", "It has tests"]',
        )
        .max(maxObjectives),
    {
      meaning: 'The objectives of the team, numbered from 1.',
      by: ['create', 'plans', 'add', 'models'],
      flag: 'objective',
    },
  ),
  /** The parent of its branch of memory. Default: the branch of the nearest team above, else `main`. */
  parentBranch: field(() => text.max(1_000), {
    meaning: 'The branch of memory that receives durable facts. Default: that of the nearest team above, else main.',
    by: ['create', 'plans', 'add', 'models'],
  }),
  /** The confidence that a fact needs to be merged into the parent branch, 0 to 1. Default: the engine's. */
  durableThreshold: field(() => z.number().min(0).max(1), {
    meaning: 'The confidence that a durable fact needs, 0 to 1.',
    by: ['create', 'plans', 'add', 'models'],
  }),
  /** The categories of facts that are merged. Default: the engine's. */
  durableCategories: field(() => z.array(wordSchema).max(100), {
    meaning: 'The categories of facts that are durable.',
    by: ['create', 'plans', 'add', 'models'],
    flag: 'durable-category',
  }),
  /** The name of its agent in a team (its own, or its parent's). Default: the name of its executor. */
  agentId: field(() => wordSchema, {
    meaning: 'The name of the agent in the team.',
    by: ['create', 'plans', 'models'],
  }),
}

type TaskFields = typeof taskFields
export type TaskField = keyof TaskFields

/** The fields that an input takes. */
export type FieldOf<T extends FieldTaker> = {
  [K in TaskField]: T extends TaskFields[K]['by'][number] ? K : never
}[TaskField]
type PolicyField = { [K in TaskField]: TaskFields[K] extends { policy: true } ? K : never }[TaskField]
type StoredField = { [K in TaskField]: TaskFields[K] extends { stored: object } ? K : never }[TaskField]

/** The type of an input. Editors show the comments above only where `keyof TaskFields` is written out. */
export type GivenFields<T extends FieldTaker> = {
  [K in keyof TaskFields as K extends FieldOf<T> ? K : never]?: Readable<
    z.input<TaskFields[K]['schema']> | (T extends 'update' ? ClearedValue<K> : never)
  >
}
type ClearedValue<K extends TaskField> = TaskFields[K] extends { clearable: true } ? null : never
/** Allows read-only arrays. */
type Readable<V> = V extends Array<infer E> ? readonly E[] : V

/** The fields that the policy of a task stores as given. */
export type PolicyFields = {
  [K in keyof TaskFields as K extends PolicyField ? K : never]?: z.output<TaskFields[K]['schema']>
}

/** The fields that are stored in columns and shown. */
export type StoredFields = {
  [K in keyof TaskFields as K extends StoredField ? K : never]: TaskFields[K] extends {
    stored: { shows: () => infer S }
  }
    ? z.output<S>
    : never
}

type OptionalShape<T extends FieldTaker> = { [K in FieldOf<T>]: z.ZodOptional<TaskFields[K]['schema']> }
type UpdateShape = {
  [K in FieldOf<'update'>]: TaskFields[K] extends { clearable: true }
    ? z.ZodOptional<z.ZodNullable<TaskFields[K]['schema']>>
    : z.ZodOptional<TaskFields[K]['schema']>
}

const rulesOf = new Map<string, FieldRules & { schema: z.ZodType }>(Object.entries(taskFields))

function shapeOf(taker: FieldTaker, schemaOf: (rules: FieldRules & { schema: z.ZodType }) => z.ZodType): object {
  return Object.fromEntries(rulesFor(taker).map(([name, rules]) => [name, schemaOf(rules)]))
}

/** The definitions of the fields that an input takes, by name. */
export function rulesFor(taker: FieldTaker): Array<[name: string, rules: FieldRules & { schema: z.ZodType }]> {
  return [...rulesOf].filter(([, { by }]) => by.includes(taker))
}

/** The schemas of the fields that an input takes when a task is created, all optional. */
export function fieldsFor<T extends Exclude<FieldTaker, 'update'>>(taker: T): OptionalShape<T> {
  return shapeOf(taker, ({ schema }) => schema.optional()) as OptionalShape<T>
}

/** The schemas of the fields that `update` takes; null clears a clearable field. */
export const updateFields = once(
  () =>
    shapeOf('update', ({ schema, clearable }) =>
      clearable ? schema.nullable().optional() : schema.optional(),
    ) as UpdateShape,
)

const namesWhere = (applies: (rules: FieldRules) => boolean) =>
  [...rulesOf].filter(([, rules]) => applies(rules)).map(([name]) => name)

/** The fields that cannot change while the task is WORKING or afterwards. */
export const workFields = namesWhere(({ definesWork }) => definesWork === true) as Array<FieldOf<'update'>>
export const policyFields = namesWhere(({ policy }) => policy === true) as PolicyField[]
const defaultPolicy = policyFields.map((name) => [name, rulesOf.get(name)?.default] as const)
const storedFields = Object.entries(taskFields).flatMap(([name, rules]) =>
  'stored' in rules ? [[name as StoredField, rules.stored.first] as const] : [],
)

/** The value that makes `update` reset a field to its default; undefined for a field without one. */
export function resetValue(name: FieldOf<'update'>): unknown {
  const { clearable, default: value } = rulesOf.get(name) as FieldRules
  return clearable ? null : value
}

/** The policy to store: values that equal the default are not written into each row. */
export function policyFrom(given: PolicyFields, engineDefaults: PolicyFields): PolicyFields {
  const policy: Record<string, unknown> = {}
  for (const [name, defaultValue] of defaultPolicy) {
    const value = given[name] ?? engineDefaults[name]
    if (value !== undefined && value !== defaultValue) policy[name] = value
  }
  return policy as PolicyFields
}

/** All stored fields; those that are not given have their first value. */
export function storedFrom(given: Partial<StoredFields>): StoredFields {
  const stored: Record<string, unknown> = {}
  for (const [name, first] of storedFields) stored[name] = given[name] ?? first()
  return stored as StoredFields
}

/** The schemas of the stored fields in views. */
export const storedShape = once(
  () =>
    Object.fromEntries(
      Object.entries(taskFields).flatMap(([name, rules]) => ('stored' in rules ? [[name, rules.stored.shows()]] : [])),
    ) as unknown as {
      [K in StoredField]: TaskFields[K] extends { stored: { shows: () => infer S extends z.ZodType } } ? S : never
    },
)

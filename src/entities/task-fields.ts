// The fields that a task is created and changed with, each once: its schema with its bounds, what it means, what holds without it,
// how it is stored, and who takes it. The types, the inputs of abilities, plans, flags and the tables of the documents derive from this.
import { z } from 'zod'
import { abilityListSchema } from './ability-pattern.ts'
import { maxObjectives } from './team.ts'

/**
 * Who takes fields: `create` and `update` (methods and abilities), plans, `errand add`, the board, and the abilities that models create
 * tasks with.
 */
export const fieldTakers = ['create', 'update', 'plans', 'add', 'board', 'models'] as const
export type FieldTaker = (typeof fieldTakers)[number]

interface FieldRules {
  /** What it means, in a line: for people and models. */
  says: string
  by: readonly FieldTaker[]
  /** What holds where nobody says it. */
  default?: string | number | boolean | readonly never[]
  /** `update` takes null, too: then it is as if it had never been said. */
  clearable?: true
  /** Part of the work itself: it cannot change while the task works, or after. */
  definesWork?: true
  /** Kept in the policy of the task, as it was given. */
  policy?: true
  /** Kept in a column and shown with every task: what it is there, and at first. */
  stored?: { shows: z.ZodType; first: () => unknown }
  /** What its number is; people may write a time or a duration. */
  unit?: keyof typeof units
  /** The flag of `errand add`, where it is not the name itself in kebab-case. */
  flag?: string
}

const units = { time: ' In epoch milliseconds.', duration: ' In milliseconds.' }

function field<S extends z.ZodType, const R extends FieldRules>(schema: S, rules: R): { schema: S } & R {
  const usual = rules.default === undefined ? '' : ` Default ${JSON.stringify(rules.default)}.`
  return {
    schema: schema.describe(`${rules.says}${rules.unit === undefined ? '' : units[rules.unit]}${usual}`),
    ...rules,
  }
}

/** What a call that a crash interrupted means for the next run: an error in it, a repetition, or a question to a person. */
export const onInterruptPolicies = ['fail', 'rerun', 'ask'] as const
export type OnInterrupt = (typeof onInterruptPolicies)[number]

/**
 * When a parent is completed by its children, once its own work is done: when all are completed (`true`), or when all have settled,
 * whatever they came to (`all-settled`; conformance C-43).
 */
export type AutoComplete = boolean | 'all-settled'

/** What the final failure of a child means for its parent: nothing, its failure too, or the end of the siblings. */
export const childFailurePolicies = ['ignore', 'fail', 'cancel-siblings'] as const
export type OnChildFailure = (typeof childFailurePolicies)[number]

/** What a dependency that failed or was canceled means for who comes after it: it stays blocked, is canceled, or goes on. */
export const dependencyFailurePolicies = ['block', 'cancel', 'ignore'] as const
export type OnDependencyFailure = (typeof dependencyFailurePolicies)[number]

const retryShape = {
  /** Attempts in all, the first included. Default 1. */
  maxAttempts: z.int().min(1).max(1_000_000),
  /** Milliseconds before the second attempt. Default 0. */
  backoffMs: z.number().min(0),
  /** `fixed` rests equally long each time, `exponential` twice as long as before. Default fixed. */
  backoff: z.enum(['fixed', 'exponential']),
  /** The longest rest that `exponential` comes to, in milliseconds. Default: none. */
  maxBackoffMs: z.number().min(0),
  /** Which part of each rest is random, 0 to 1: it is shortened by up to that part, so that many do not return at once. Default 0. */
  jitter: z.number().min(0).max(1),
  /** Codes of the errors that are tried again (`TIMEOUT`, `ECONNRESET`, those of a `Failure`); any other is final. Default: all. */
  on: z.array(z.string().min(1).max(100)).min(1).max(100),
}
export const retryPolicySchema = z.strictObject(retryShape).partial()

/** How often a task may be attempted, and how long it rests in between. */
export interface RetryPolicy extends z.output<z.ZodObject<typeof retryShape>> {}

export const taskIdSchema = z.string().min(1).max(100)
/** Names an executor. */
export const nameSchema = z.string().trim().min(1).max(500)
/** What is stored and compared as it is: a letter that no store keeps would make an owner a stranger to its own claim. */
export const wordSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine(
    (text) => text.isWellFormed() && !text.includes('\u0000'),
    'it holds a NUL character or half of a surrogate pair',
  )
export const millisecondsSchema = z.number().min(0).max(8.64e15)
/** A point in time, as the tables keep it: whole milliseconds, never earlier than it was named. */
export const timeSchema = millisecondsSchema.overwrite(Math.ceil)
const durationSchema = z.number().positive().max(8.64e15)
const objective = z.string().trim().min(1).max(10_000)

const text = z.string().trim().min(1)
const textOrNull = { shows: z.string().nullable(), first: () => null }
const numberOrNull = { shows: z.number().nullable(), first: () => null }

export const taskFields = {
  /** Optional with an executor or a goal; else required. A line, which in a folder of files from elsewhere may be a long one. */
  name: field(text.max(10_000), {
    says: 'What it is called in lists. Without it: the executor, or the first line of the goal.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    stored: { shows: z.string(), first: () => '' },
  }),
  /** What an agent is to achieve. */
  goal: field(text, {
    says: 'What the task is to achieve, in full: it is all that its agent is told.',
    by: ['create', 'update', 'plans', 'models'],
    clearable: true,
    definesWork: true,
    stored: textOrNull,
  }),
  description: field(z.string(), {
    says: 'What one needs to know to work on it.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    default: '',
    stored: { shows: z.string(), first: () => '' },
  }),
  executor: field(nameSchema, {
    says: 'The name of the agent, or other executor, that works on it. Without one, and without a goal, it waits to be claimed.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    definesWork: true,
    stored: textOrNull,
  }),
  input: field(z.unknown(), {
    says: 'What its executor is given, as JSON.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    definesWork: true,
    stored: { shows: z.unknown(), first: () => null },
  }),
  /** Higher runs first. Default 0. */
  priority: field(z.int().min(-1_000_000_000).max(1_000_000_000), {
    says: 'Higher runs first.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    default: 0,
    stored: { shows: z.number(), first: () => 0 },
  }),
  parentId: field(taskIdSchema, {
    says: 'The task that it is a subtask of. Where a task creates it: that task.',
    by: ['create', 'add', 'board', 'models'],
    stored: textOrNull,
    flag: 'parent',
  }),
  /** Ids of tasks that must be completed before this one starts. */
  blockedBy: field(z.array(taskIdSchema).max(10_000), {
    says: 'Tasks that must be completed before it starts, by their ids.',
    by: ['create', 'update', 'plans', 'add', 'board', 'models'],
    definesWork: true,
    flag: 'after',
  }),
  metadata: field(z.record(z.string(), z.unknown()), {
    says: 'Data of your own that is kept with it, as JSON.',
    by: ['create', 'update', 'plans', 'add', 'board'],
    stored: { shows: z.record(z.string(), z.unknown()), first: () => ({}) },
  }),
  /** Only with an executor; the same holds for `timeoutMs`: without one it would do nothing, and is refused. */
  retry: field(retryPolicySchema, {
    says: 'How often it is attempted, and how long it rests in between. Without it: as its executor says, else once.',
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    definesWork: true,
    policy: true,
  }),
  /** Longest run in milliseconds; beyond it the run fails with `TIMEOUT`. */
  timeoutMs: field(durationSchema, {
    says: 'The longest run. Without it: as its executor says, else unlimited.',
    unit: 'duration',
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    definesWork: true,
    policy: true,
    flag: 'timeout',
  }),
  /** Epoch milliseconds: when it fails for good, with `TIMEOUT`, unless it has settled. A group takes its tasks along. */
  deadline: field(timeSchema, {
    says: 'When it fails unless it has settled.',
    unit: 'time',
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    stored: numberOrNull,
  }),
  /** Epoch milliseconds: it starts no earlier. Of a task: null when none was set or it has passed into history. */
  notBefore: field(timeSchema, {
    says: 'When it may start at the earliest.',
    unit: 'time',
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    definesWork: true,
    stored: numberOrNull,
  }),
  /** How many of its children (executor runs of its direct children) may be open at once, in all engines. Default: no limit. */
  concurrency: field(
    z.int('expected a number of tasks').min(1, 'at least one task must be able to run').max(1_000_000),
    {
      says: 'How many of its children may run at once.',
      by: ['create', 'update', 'plans', 'add'],
      clearable: true,
      policy: true,
    },
  ),
  /** Deleted children count, too. The engine's limit of the same name holds beside it. */
  maxChildren: field(z.int().min(1).max(1_000_000), {
    says: 'How many children it may be given, at most as many as the engine allows.',
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    policy: true,
  }),
  /**
   * The same key returns the first task, whatever became of it. Compared are only the root's executor, goal, input, and whether
   * it is a group: where one differs, or the first was deleted, it is a `KEY_CONFLICT`. Everything else is not compared and
   * stays as it was: name, metadata, policy, dependencies, and the children in `tasks`, which may have changed by now.
   */
  key: field(z.string().min(1).max(500), {
    says: 'The same key returns the first task instead of making a second one.',
    by: ['create', 'add'],
    stored: textOrNull,
  }),
  /** False: it waits for `start` or `schedule`. Default: as its group, else the engine says (`true`). */
  autoStart: field(z.boolean(), {
    says: 'Whether it starts by itself.',
    by: ['create', 'plans'],
    default: true,
  }),
  /**
   * It is completed by its children once its own work is done: when all are completed (`true`), or when all have settled, whatever
   * they came to (`all-settled`). Default: the engine's (`false`).
   */
  autoComplete: field(z.union([z.boolean(), z.literal('all-settled')]), {
    says: 'Whether its children complete it once its own work is done: true (all are completed), false, or all-settled.',
    by: ['create', 'update', 'plans', 'add'],
    default: false,
    clearable: true,
    policy: true,
  }),
  /** What a call that was interrupted means for the next run. Default: the executor's, else the engine's (`fail`). */
  onInterrupt: field(z.enum(onInterruptPolicies), {
    says: 'What a crash in the middle of a call means for the next run. Without it: as its executor says, else the engine.',
    by: ['create', 'update', 'plans', 'add'],
    clearable: true,
    definesWork: true,
    policy: true,
  }),
  /** What the final failure of a child means for this task. Default: the engine's (`ignore`). */
  onChildFailure: field(z.enum(childFailurePolicies), {
    says: 'What the final failure of a child means for it.',
    by: ['create', 'update', 'plans', 'add'],
    default: 'ignore',
    clearable: true,
    policy: true,
  }),
  /** What becomes of this task when one that it comes after fails for good or is canceled. Default: the engine's (`block`). */
  onDependencyFailure: field(z.enum(dependencyFailurePolicies), {
    says: 'What becomes of it when one that it comes after fails or is canceled.',
    by: ['create', 'update', 'plans', 'add'],
    default: 'block',
    clearable: true,
    policy: true,
  }),
  /**
   * When this task has settled for good, its parent gets a message of it, in the same transaction: what it came to, or how it
   * failed, or that it was canceled. An agent reads it before its next step, as if it had been sent (`send` with `steer`), only that
   * it answers no question; one that waits for tasks is woken. A parent that has settled itself gets none. Refused for a task
   * without a parent, and below a group, which reads nothing. Default false.
   */
  notifyParent: field(z.boolean(), {
    says: 'Whether its parent gets a message when it has settled. A group reads none.',
    by: ['create', 'plans', 'add'],
    default: false,
    policy: true,
  }),
  /** Without an executor: only claims of this role get it. */
  role: field(wordSchema, {
    says: 'Only agents of this role may claim it.',
    by: ['create', 'update', 'plans', 'add', 'board'],
    clearable: true,
    definesWork: true,
    stored: textOrNull,
  }),
  tags: field(
    z
      .array(wordSchema, 'expected a list of words')
      .max(100)
      // Each once, in the order given.
      .overwrite((words) => [...new Set(words)]),
    {
      says: 'Words to claim and list by.',
      by: ['create', 'update', 'plans', 'add', 'board', 'models'],
      default: [],
      stored: { shows: z.array(z.string()), first: () => [] as string[] },
      flag: 'tag',
    },
  ),
  /** Who shall claim it: nobody else may, until it is claimed and released again. */
  owner: field(wordSchema, {
    says: 'Who shall claim it; nobody else may then.',
    by: ['update', 'board'],
    clearable: true,
  }),
  /**
   * Who created it: the task whose run or model did, else the name that is known of the caller (credentials, `--as`), else the surface
   * (`library`, `cli`, `http`, `mcp`). Null of children that a run spawned, which `parentId` names, and of tasks of earlier versions.
   */
  createdBy: field(z.string(), {
    says: 'Who created it: a task, a name known from credentials, or the surface. Set by the engine.',
    by: [],
    stored: textOrNull,
  }),
  /**
   * Whether its executor may run commands: whether its creator, and whoever changed what it does, may. Without that right a task
   * fails with `FORBIDDEN` where its executor runs commands.
   */
  mayRunCommands: field(z.boolean(), {
    says: 'Whether its executor may run commands. Set by the engine, from the rights of its creator.',
    by: [],
    default: true,
    stored: { shows: z.boolean(), first: () => true },
  }),
  /** What its agent is told first, in place of the agent's own instructions. Only for agents. */
  systemPrompt: field(text, {
    says: 'Instructions for its agent in place of the usual ones.',
    by: ['create', 'plans', 'models'],
  }),
  /**
   * The model that its agent uses. Only for agents. Default: the agent's, else the engine's. Models, and clients who may have no commands
   * run, may only name one that the engine offers: a registered one, the default, or that of an agent.
   */
  model: field(wordSchema, {
    says: 'The name of the model that works on it.',
    by: ['create', 'plans', 'models'],
    policy: true,
  }),
  /**
   * What its model may call: ids of abilities, `module:*`, `*`. Its children may never call more. Default: everything but `ldg:*`,
   * `bus:*` and tasks outside of its own subtree, which no list allows.
   */
  abilities: field(abilityListSchema, {
    says: 'What its model may call: ids of abilities, `module:*`, `*`. Never more than the task that it is below may.',
    by: ['create', 'plans', 'models'],
  }),
  /**
   * True: the task is for a team. It gets a branch of memory, `task/<its name>`, that agents join with branches of their own. Any of
   * the five fields below says the same. `later`: it has that branch, and a team with its first agent; until then what an agent of the
   * engine does on it is not observed. Default: it has neither until its first agent joins.
   */
  team: field(z.union([z.boolean(), z.literal('later')]), {
    says: 'Whether it is for several agents with one memory; each of `type`, `objectives`, `parentBranch`, `durableThreshold` and `durableCategories` says so, too.',
    by: ['create', 'plans', 'add'],
  }),
  /** What kind of work it is, to list and compare tasks by. */
  type: field(wordSchema, {
    says: 'What kind of work it is, to list and compare tasks by: bug_fix, research, …',
    by: ['create', 'plans', 'add', 'models'],
  }),
  /** What is to be reached, in order; each is todo, active, done or blocked (conformance S2-023). */
  objectives: field(
    z
      .array(
        z.union(
          [objective, z.strictObject({ description: objective }).transform(({ description }) => description)],
          'expected what is to be reached, as a text or { description }, of 1 to 10,000 characters',
        ),
        'expected a list of what is to be reached, like ["The login is repaired", "It has tests"]',
      )
      .max(maxObjectives),
    {
      says: 'What is to be reached, in parts; they are numbered from 1.',
      by: ['create', 'plans', 'add', 'models'],
      flag: 'objective',
    },
  ),
  /** The branch of memory that its own lies below. Default: that of the nearest team above, else `main`. */
  parentBranch: field(text.max(1_000), {
    says: 'Branch of memory that gets what lasts. Without it: that of the nearest team above, else main.',
    by: ['create', 'plans', 'add', 'models'],
  }),
  /** How certain a fact must be to reach the parent branch, 0 to 1. Default: the engine's. */
  durableThreshold: field(z.number().min(0).max(1), {
    says: 'How certain a fact must be to last, 0 to 1.',
    by: ['create', 'plans', 'add', 'models'],
  }),
  /** Which categories of facts may. Default: the engine's. */
  durableCategories: field(z.array(wordSchema).max(100), {
    says: 'Categories of facts that last.',
    by: ['create', 'plans', 'add', 'models'],
    flag: 'durable-category',
  }),
  /** In a team (its own, or its parent's): under which name its agent works. Default: the name of its executor. */
  agentId: field(wordSchema, {
    says: 'The name under which its agent works in the team.',
    by: ['create', 'plans', 'models'],
  }),
}

type TaskFields = typeof taskFields
export type TaskField = keyof TaskFields

/** The fields that somebody takes. */
export type FieldOf<T extends FieldTaker> = {
  [K in TaskField]: T extends TaskFields[K]['by'][number] ? K : never
}[TaskField]
type PolicyField = { [K in TaskField]: TaskFields[K] extends { policy: true } ? K : never }[TaskField]
type StoredField = { [K in TaskField]: TaskFields[K] extends { stored: object } ? K : never }[TaskField]

/** What a caller may give. Editors show the comments above only where `keyof TaskFields` is written out. */
export type GivenFields<T extends FieldTaker> = {
  [K in keyof TaskFields as K extends FieldOf<T> ? K : never]?: Readable<
    z.input<TaskFields[K]['schema']> | (T extends 'update' ? ClearedValue<K> : never)
  >
}
type ClearedValue<K extends TaskField> = TaskFields[K] extends { clearable: true } ? null : never
/** A list that is only read may be one that must not be written. */
type Readable<V> = V extends Array<infer E> ? readonly E[] : V

/** What the policy of a task keeps as it was given. */
export type PolicyFields = {
  [K in keyof TaskFields as K extends PolicyField ? K : never]?: z.output<TaskFields[K]['schema']>
}

/** What is kept in columns and shown. */
export type StoredFields = {
  [K in keyof TaskFields as K extends StoredField ? K : never]: TaskFields[K] extends { stored: { shows: infer S } }
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

/** What is defined of each field that somebody takes, by its name. */
export function rulesFor(taker: FieldTaker): Array<[name: string, rules: FieldRules & { schema: z.ZodType }]> {
  return [...rulesOf].filter(([, { by }]) => by.includes(taker))
}

/** The fields that somebody takes when a task is created, each of which may be left out. */
export function fieldsFor<T extends Exclude<FieldTaker, 'update'>>(taker: T): OptionalShape<T> {
  return shapeOf(taker, ({ schema }) => schema.optional()) as OptionalShape<T>
}

/** The fields that `update` takes: null takes a value away. */
export const updateFields = shapeOf('update', ({ schema, clearable }) =>
  clearable ? schema.nullable().optional() : schema.optional(),
) as UpdateShape

const namesWhere = (applies: (rules: FieldRules) => boolean) =>
  [...rulesOf].filter(([, rules]) => applies(rules)).map(([name]) => name)

/** What cannot change while the task works, or after. */
export const workFields = namesWhere(({ definesWork }) => definesWork === true) as Array<FieldOf<'update'>>
export const policyFields = namesWhere(({ policy }) => policy === true) as PolicyField[]
const defaultPolicy = policyFields.map((name) => [name, rulesOf.get(name)?.default] as const)
const storedFields = Object.entries(taskFields).flatMap(([name, rules]) =>
  'stored' in rules ? [[name as StoredField, rules.stored.first] as const] : [],
)

/** What `update` is told of a field that nobody says any more: undefined where it cannot be taken away. */
export function unsaid(name: FieldOf<'update'>): unknown {
  const { clearable, default: usual } = rulesOf.get(name) as FieldRules
  return clearable ? null : usual
}

/** The part of a policy that was said: what holds anyway is not written into each row. */
export function policyFrom(said: PolicyFields, usual: PolicyFields): PolicyFields {
  const policy: Record<string, unknown> = {}
  for (const [name, unless] of defaultPolicy) {
    const value = said[name] ?? usual[name]
    if (value !== undefined && value !== unless) policy[name] = value
  }
  return policy as PolicyFields
}

/** The stored fields of something that has them, or some: the others are what they are at first. */
export function storedFrom(given: Partial<StoredFields>): StoredFields {
  const stored: Record<string, unknown> = {}
  for (const [name, first] of storedFields) stored[name] = given[name] ?? first()
  return stored as StoredFields
}

/** The schemas of the stored fields as they are shown. */
export const storedShape = Object.fromEntries(
  Object.entries(taskFields).flatMap(([name, rules]) => ('stored' in rules ? [[name, rules.stored.shows]] : [])),
) as unknown as {
  [K in StoredField]: TaskFields[K] extends { stored: { shows: infer S extends z.ZodType } } ? S : never
}

// The schema of a plan: every key with its type, in zod. What keys mean together (one kind of work per task, names that exist, no
// cycles) is checked in plan-checks.ts.
import { z } from 'zod'
import { type StoredEnvironment, secretReferenceSchema } from '../commands/index.ts'
import { durationForms, parseDuration } from '../core/duration.ts'
import { parseTime, timeForms } from '../core/time-text.ts'
import { audiences } from '../entities/question.ts'
import { type FieldOf, fieldsFor, retryForms, retryPolicySchema, taskFields } from '../entities/task-fields.ts'

/** A time, or a duration after a run of the plan creates the task or retries it. */
export type PlanDeadline = { at: number } | { afterMs: number }

const text = z.string().trim().min(1, 'it must not be empty')

const env = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable is letters, digits and underscores'),
    z.union(
      [z.string(), z.number(), z.boolean(), secretReferenceSchema],
      'the value of a variable is text or a number, or { secret: NAME } for the variable NAME of the process that runs the plan',
    ),
  )
  .transform(
    (variables): StoredEnvironment =>
      Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [name, typeof value === 'object' ? value : String(value)]),
      ),
  )

const duration = z
  .unknown()
  .transform((value, context) => {
    const durationMs = typeof value === 'string' ? parseDuration(value) : undefined
    if (durationMs !== undefined) return durationMs
    const bare = typeof value === 'number' || (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value.trim()))
    const message = bare
      ? `${String(value)} has no unit, so it could mean seconds or milliseconds. Write ${String(value)}s, or one of ${durationForms}`
      : `expected a duration like ${durationForms}, got ${JSON.stringify(value)}`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
  .meta({ type: 'string', examples: ['90s', '5m', '2h'] })

const deadline = z
  .unknown()
  .transform((value, context): PlanDeadline => {
    const afterMs = typeof value === 'string' ? parseDuration(value) : undefined
    if (afterMs !== undefined) return { afterMs }
    const bare = typeof value === 'number' || (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value.trim()))
    const at = typeof value === 'string' ? parseTime(value) : undefined
    if (at !== undefined && at >= 0) return { at }
    const message = bare
      ? `${String(value)} has no unit, so it could be a duration or a time. Write ${String(value)}s, or one of ${durationForms}, or a time like ${timeForms}`
      : `expected a time that exists, like ${timeForms}, or a duration like ${durationForms}, got ${JSON.stringify(value)}`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
  .meta({ type: 'string', examples: ['2030-01-31T08:00:00Z', '2h'] })

const notBefore = z.union([z.number(), z.string()]).transform((value, context) => {
  const at = typeof value === 'number' ? value : parseTime(value)
  if (at !== undefined && Number.isFinite(at) && at >= 0) return at
  context.addIssue({
    code: 'custom',
    message: `expected a time that exists, like ${timeForms}, or epoch milliseconds, got "${value}"`,
  })
  return z.NEVER
})

/** A retry policy in a plan. */
export const planRetrySchema = z.strictObject({
  ...retryPolicySchema().shape,
  maxBackoff: duration.optional().describe('The same as a duration like `5m`.'),
  on: z.union([text.transform((code) => [code]), retryPolicySchema().shape.on.unwrap()]).optional(),
})

const retry = z.union(
  [
    z
      .int()
      .min(1)
      .transform((maxAttempts) => ({ maxAttempts })),
    planRetrySchema,
  ],
  `expected ${retryForms.replace('maxBackoffMs', 'maxBackoff: 5m')}`,
)

/** A question of a plan. */
export const planAskSchema = z.strictObject({
  question: text.describe('The question.'),
  default: z.unknown().optional().describe('The answer when there is no terminal.'),
  schema: z.record(z.string(), z.unknown()).optional().describe('A JSON Schema, which the answer has to match.'),
  for: z.enum(audiences).optional().describe('Who may answer: `person` (default): models may not; `anyone`.'),
})
const ask = z.union(
  [text.transform((words) => ({ question: words })), planAskSchema],
  'expected a question, or { question, default, schema, for: person or anyone }',
)

const after = z.union(
  [text.transform((name) => [name]), z.array(text)],
  'expected the name of a task beside this one, or a list of them',
)

const model = text.max(100).regex(/^[^\s:]+:\S.*$/, 'expected a model like "openai:gpt-5-mini", or "script:FILE"')

const list = taskFields.abilities.schema
const abilities = z.union(
  [text.transform((ids) => ids.split(',').map((id) => id.trim())).pipe(list), list],
  'expected what the agent may call: a list of abilities like [fs:read, "task:*"]',
)

const tasks = z.record(z.string(), z.unknown(), 'expected tasks by name, like { lines: { run: "wc -l *" } }')

/** A field of `create` that a plan takes in another form. */
function inPlan<S extends z.ZodType>(field: FieldOf<'plans'>, schema: S): z.ZodOptional<S> {
  return schema.optional().describe(taskFields[field].meaning)
}

/** The keys of a task: fields of `create`, and more. `tasks` is parsed level by level, so that each error is about one task. */
export const planTaskSchema = z.strictObject({
  ...fieldsFor('plans'),
  model: inPlan('model', model),
  abilities: inPlan('abilities', abilities),
  retry: inPlan('retry', retry),
  notBefore: inPlan('notBefore', notBefore),
  deadline: inPlan('deadline', deadline),
  run: text.optional().describe('A command for the shell. Its output is both the result and the log of the task.'),
  ask: ask
    .optional()
    .describe(
      'A question to a person: a text, or `{ question, default, schema, for }`. Without a terminal its default is the answer.',
    ),
  system: text.optional().describe('Short for `systemPrompt`.'),
  tasks: tasks.optional().describe('Makes it a group of these tasks, by name. It completes when all are completed.'),
  after: after.optional().describe('Tasks of the same group that must be completed before it: a name or a list.'),
  timeout: duration.optional().describe('The longest duration of a run: `90s`, `5m`, `2h`.'),
  cwd: text.optional().describe('The folder of a command. Default: that of the plan.'),
  env: env.optional().describe('Variables of a command: texts as they are written, or `{ secret: NAME }`.'),
  shell: text.optional().describe('The shell of a command.'),
})
export type RawPlanTask = z.output<typeof planTaskSchema>

/** The fields of `create` that a plan takes. */
export const planFields = Object.keys(fieldsFor('plans')) as Array<FieldOf<'plans'>>

/** The top level of the file. */
export const planSchema = z.strictObject({
  name: text.max(200).optional().describe('The name of the plan. Default: that of its file.'),
  description: z.string().optional().describe('What the plan is for.'),
  concurrency: taskFields.concurrency.schema.optional().describe('How many tasks may run at once.'),
  cwd: text.optional().describe('The folder in which commands begin. Default: that of the plan.'),
  env: env.optional().describe('Variables of all commands.'),
  shell: text.optional().describe('The shell of all commands.'),
  model: model
    .optional()
    .describe('The model of goals that name none, before `ERRAND_MODEL`. `--model` comes before it.'),
  files: text.optional().describe('The folder that its agents may read.'),
  mcp: z
    .union([text.transform((command) => [command]), z.array(text).min(1)])
    .optional()
    .describe('Commands of MCP servers, whose tools its agents may call: `COMMAND`, or `NAME=COMMAND`.'),
  maxIterations: z
    .int('expected a number of steps')
    .min(1, 'an agent must be able to take at least one step')
    .optional()
    .describe('How many steps an agent may take in one attempt. Default 10.'),
  tasks: tasks.describe('The tasks, by name.'),
})

export type RawPlan = z.output<typeof planSchema>

/** The keys of each mapping, to find the nearest name of an unknown one. */
export const planKeys = {
  plan: Object.keys(planSchema.shape),
  task: Object.keys(planTaskSchema.shape),
  ask: Object.keys(planAskSchema.shape),
  retry: Object.keys(planRetrySchema.shape),
} as const

const scheduled =
  'a plan has no times of its own; `errand schedule add NAME --every 2h --run "errand run FILE"`, or `--cron`, runs it again and again'

/** Keys that a plan may not have, each with what to do instead. */
export const refusedPlanKeys: Readonly<Record<string, string>> = { cron: scheduled, every: scheduled }

/** Keys that a task may not have, each with what to do instead. */
export const refusedTaskKeys: Readonly<Record<string, string>> = {
  ...refusedPlanKeys,
  key: 'the tasks of a plan are keyed by their names; `errand run --key` names a round',
  parentId: 'a task of a plan belongs to the group that it stands in; nest it under `tasks`',
}

/** The JSON Schema with which editors complete and check plans; `dist/plan.schema.json` is this. */
export function planJsonSchema(): object {
  const task: z.ZodType = z
    .strictObject({ ...planTaskSchema.shape, tasks: z.lazy(() => inside).optional() })
    .meta({ id: 'task' })
  const inside = z.record(z.string(), task).describe('Tasks by name.')
  // A handler is checked by a function, which has no JSON Schema.
  const schema = z.toJSONSchema(z.strictObject({ ...planSchema.shape, tasks: inside }), {
    io: 'input',
    unrepresentable: 'any',
  })
  return { ...schema, patternProperties: { '^x-': {} } }
}

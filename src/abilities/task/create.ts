// task:create: makes a task, or a whole tree of tasks, stored with the opening of its conversation before any work on it begins.
import { z } from 'zod'
import type { CreateOptions } from '../../api.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../errors.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { createFields } from '../../options.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refuseCommands } from '../commands-refused.ts'
import { eitherCase } from '../either-case.ts'
import { idsIn } from '../own-tasks.ts'
import { taskRowSchema, toRow } from '../views/task-row.ts'
import { createTasks } from './create-tasks.ts'
import { taskIdSchema } from './task-input.ts'

/** A child within `tasks`. */
interface ChildInput {
  after?: string | string[] | undefined
  executor?: string | undefined
  tasks?: Record<string, ChildInput> | undefined
  [field: string]: unknown
}

/** Keys that begin so are made by surfaces, from who calls and what they say: a client cannot name the key of another one. */
export const keyPrefixes = { http: 'http:', chat: 'chat:' } as const

const fields = {
  ...createFields,
  key: createFields.key.refine(
    (key) => Object.values(keyPrefixes).every((prefix) => key?.startsWith(prefix) !== true),
    `keys that begin with ${Object.values(keyPrefixes).join(' or ')} are not given, but made`,
  ),
  executor: z.string().trim().min(1).max(500).optional().describe('The name of the executor that works on it.'),
  tags: z.array(z.string()).max(100).optional(),
}

const childSchema: z.ZodType<ChildInput> = z
  .lazy(() =>
    z.strictObject({
      ...fields,
      after: z
        .union([z.string(), z.array(z.string())])
        .optional()
        .describe('Siblings that come first, by their keys.'),
      tasks: z.record(z.string().min(1), childSchema).optional(),
    }),
  )
  .meta({ id: 'ChildTask' }) as z.ZodType<ChildInput>

const parentId = taskIdSchema
  .optional()
  .describe('The task that it is a subtask of. Default: the task that calls, if one does.')

const inputSchema = z
  .strictObject({
    ...fields,
    parentId,
    tasks: z.record(z.string().min(1), childSchema).optional().describe('Its subtasks, by names of their own.'),
  })
  .refine(({ name, goal, description, executor }) => (name ?? goal ?? description ?? executor) !== undefined, {
    path: ['name'],
    message: 'expected a name, a goal, a description or an executor',
  })
type CreateInput = z.output<typeof inputSchema>

/** What a model is offered of it: the rest is for programs. */
const modelInputSchema = z.strictObject({
  goal: fields.goal.describe(
    'What the task is to achieve, in full: it is all that its agent is told. Without one (then with a name or a description) it is for agents that join it.',
  ),
  name: fields.name.describe('A short name for lists. Default: the first line of the goal, or of the description.'),
  description: fields.description.describe('What one needs to know to work on it.'),
  parentId,
  executor: fields.executor,
  model: fields.model.describe('The name of the model that works on it.'),
  systemPrompt: fields.systemPrompt.describe('Instructions for its agent in place of the usual ones.'),
  abilities: fields.abilities.describe(
    'What its model may call: ids of abilities, `module:*`, `*`. Never more than the task that calls may.',
  ),
  input: fields.input.describe('Data for it, as JSON.'),
  priority: fields.priority.describe('Higher runs first. Default 0.'),
  blockedBy: fields.blockedBy.describe('Ids of tasks that must be completed before it starts.'),
  tags: fields.tags,
  type: fields.type.describe('What kind of work it is, to list and compare tasks by: bug_fix, research, …'),
  objectives: fields.objectives.describe('What is to be reached, in parts; they are numbered from 1.'),
  parentBranch: fields.parentBranch.describe(
    'Branch of memory that gets what lasts. Default: that of the team above, else main.',
  ),
  durableThreshold: fields.durableThreshold.describe('How certain a fact must be to last, 0 to 1.'),
  durableCategories: fields.durableCategories.describe('Categories of facts that last.'),
  agentId: fields.agentId.describe('The name under which its agent works in the team.'),
})

const aliases = { parentTaskId: 'parentId' }

/**
 * Resolves as soon as the task is stored. The same `key` returns the first task. Repeated under the identity of a call it is made once. A
 * caller with a task makes subtasks of its own.
 */
export function taskCreate(host: AbilityHost) {
  return defineAbility({
    id: 'task:create',
    access: 'create',
    description:
      'Creates a task, or a whole tree of tasks: for an agent that works towards its goal, for an executor, or for those who claim or join it.',
    input: eitherCase(inputSchema, aliases),
    modelInput: eitherCase(modelInputSchema, aliases),
    output: z.object({
      taskId: z.string(),
      /** Its branch of memory; null where it has none. */
      branch: z.string().nullable(),
      task: taskRowSchema,
    }),
    onInterrupt: 'rerun',
    scope: ({ parentId: parent, blockedBy = [] }) => [...idsIn(parent), ...blockedBy],
    async handle(input, { caller, identity }) {
      for (const executor of executorsIn(input)) refuseCommands(caller, executor)
      const { parentBranch } = input
      if (parentBranch !== undefined) await host.read((tx) => requireOwnBranch(tx, caller, parentBranch))
      const spec = { ...input, ...namedBy(input), ...teamOf(input), parentId: input.parentId ?? caller.taskId }
      const [created] = await createTasks(host, caller, [{ ...spec, key: input.key ?? identity }])
      const taskId = (created as { id: string }).id
      return host.read(function* (tx) {
        const task = yield* tx.task.get(taskId)
        if (task === undefined) throw new Error(`${taskId} was purged in the very moment of its creation`)
        return { taskId, branch: (yield* tx.branch.ofTask(taskId))?.name ?? null, task: toRow(task) }
      })
    },
  })
}

const longestDefaultName = 80

/** A task without a goal is called what it is described as. */
function namedBy({ goal, name, executor, description }: CreateInput): Pick<CreateOptions, 'name'> {
  if ((goal ?? name ?? executor) !== undefined || description === undefined) return {}
  return { name: (description.split('\n')[0] as string).trim().slice(0, longestDefaultName).toWellFormed() }
}

/** What nothing works on by itself is for agents that join it; what an agent works on by itself others may join later. */
function teamOf({ team, goal, executor, role, tasks }: CreateInput): Pick<CreateOptions, 'team'> {
  if (team !== undefined || executor !== undefined || role !== undefined || tasks !== undefined) return {}
  return { team: goal === undefined ? true : 'later' }
}

function executorsIn({ executor, tasks = {} }: ChildInput): string[] {
  return [...(executor === undefined ? [] : [executor]), ...Object.values(tasks).flatMap(executorsIn)]
}

/** What a task's model learns goes to its own team, wherever it would rather have it. @throws ErrandError FORBIDDEN */
function* requireOwnBranch(tx: Reads, { taskId }: Caller, branch: string): Op<void> {
  if (taskId === undefined) return
  const place = (yield* tx.task.get(taskId))?.policy.team
  const team = place === undefined ? undefined : yield* tx.team.get(place.taskId)
  if (team?.branch === branch) return
  throw new ErrandError(
    'FORBIDDEN',
    `What is below ${taskId} gives what it learns to ${team === undefined ? 'the branch that is its own' : `"${team.branch}"`}, and not to "${branch}". Leave \`parentBranch\` out.`,
    { taskId, branch },
  )
}

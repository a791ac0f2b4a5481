// task:submit: makes a task, or a whole tree, of anything that `engine.create` takes: what programs and people create with from
// outside of the process.
import { z } from 'zod'
import type { CreateOptions } from '../../api.ts'
import { defineAbility } from '../../bus/ability.ts'
import { createFields } from '../../options.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refuseCommands } from '../commands-refused.ts'
import { eitherCase } from '../either-case.ts'
import { idsIn } from '../own-tasks.ts'
import { taskRowSchema, toRow } from '../views/task-row.ts'
import { namedBy } from './create.ts'
import { taskIdSchema } from './task-input.ts'

/** A child within `tasks`. */
interface ChildInput {
  after?: string | string[] | undefined
  executor?: string | undefined
  tasks?: Record<string, ChildInput> | undefined
  [field: string]: unknown
}

/** Keys that begin so are made by surfaces, of who calls and what they say: nobody names the key of somebody else. */
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

const inputSchema = z
  .strictObject({
    ...fields,
    goal: fields.goal
      .nullable()
      .describe(
        'What its agent is to achieve. Without one, and without executor, role and tasks, it is for agents that join it; null: for whoever claims it.',
      ),
    parentTaskId: taskIdSchema.optional().describe('The task that it is a subtask of.'),
    tasks: z.record(z.string().min(1), childSchema).optional().describe('Its subtasks, by names of their own.'),
  })
  .refine(({ name, goal, description, executor }) => (name ?? goal ?? description ?? executor) !== undefined, {
    path: ['name'],
    message: 'expected a name, a goal, a description or an executor',
  })
type SubmitInput = z.output<typeof inputSchema>

/**
 * The same `key` returns the first task. Repeated under the identity of a call it is made once. A caller with a task makes subtasks of
 * its own, as `task:create` does.
 */
export function taskSubmit(host: AbilityHost) {
  return defineAbility({
    id: 'task:submit',
    access: 'create',
    description:
      'Creates a task, or a whole tree of tasks, from outside: for an executor, an agent, or whoever claims it.',
    input: eitherCase(inputSchema, { parentId: 'parentTaskId' }),
    output: z.object({
      taskId: z.string(),
      /** Its branch of memory; null where it has none. */
      branch: z.string().nullable(),
      task: taskRowSchema,
    }),
    models: false,
    onInterrupt: 'rerun',
    scope: ({ parentTaskId, blockedBy = [] }) => [...idsIn(parentTaskId), ...blockedBy],
    async handle(input, { caller, identity }) {
      for (const executor of executorsIn(input)) refuseCommands(caller, executor)
      const { parentTaskId, goal: _goal, ...given } = input
      const parentId = parentTaskId ?? caller.taskId
      const engine = await host.engineFor(caller)
      const [created] = await engine.create([
        {
          ...(given as CreateOptions & { executor?: string }),
          ...workersOf(input),
          ...(parentId === undefined ? {} : { parentId }),
          ...(identity === undefined || input.key !== undefined ? {} : { key: identity }),
        },
      ])
      const taskId = (created as { id: string }).id
      return host.read(function* (tx) {
        const task = yield* tx.task.get(taskId)
        if (task === undefined) throw new Error(`${taskId} was purged in the very moment of its creation`)
        return { taskId, branch: (yield* tx.branch.ofTask(taskId))?.name ?? null, task: toRow(task) }
      })
    },
  })
}

/** As `task:create` has it, a task of which only the name or the description is said is for agents that join it (conformance S2-001, S2-050). */
function workersOf(input: SubmitInput): Pick<CreateOptions, 'goal' | 'name' | 'team'> {
  const { goal, executor, tasks, role, team } = input
  if (typeof goal === 'string') return { goal }
  const isMeantForOthers = [goal, executor, tasks, role, team].some((each) => each !== undefined)
  return { ...(executor === undefined ? namedBy(input) : {}), ...(isMeantForOthers ? {} : { team: true }) }
}

function executorsIn({ executor, tasks = {} }: ChildInput): string[] {
  return [...(executor === undefined ? [] : [executor]), ...Object.values(tasks).flatMap(executorsIn)]
}

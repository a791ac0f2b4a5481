// task:submit: makes a task, or a whole tree, of anything that `engine.create` takes: what programs and people create with from
// outside of the process.
import { z } from 'zod'
import type { CreateOptions } from '../../api.ts'
import { defineAbility } from '../../bus/ability.ts'
import { fieldsFor } from '../../entities/task-fields.ts'
import { childrenSchema } from '../../options.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refuseCommands } from '../commands-refused.ts'
import { eitherCase } from '../either-case.ts'
import { idsIn } from '../own-tasks.ts'
import { taskRowSchema, toRow } from '../views/task-row.ts'

/** Keys that begin so are made by surfaces, of who calls and what they say: nobody names the key of somebody else. */
export const keyPrefixes = { http: 'http:', chat: 'chat:' } as const

const { parentId, key, goal, ...further } = fieldsFor('create')
const fields = {
  ...further,
  goal,
  key: key.refine(
    (given) => Object.values(keyPrefixes).every((prefix) => given?.startsWith(prefix) !== true),
    `keys that begin with ${Object.values(keyPrefixes).join(' or ')} are not given, but made`,
  ),
}

const inputSchema = z
  .strictObject({
    ...fields,
    goal: goal
      .nullable()
      .describe(
        'What it is to achieve. Default, without executor and tasks: the description, else the name. null: none; it waits for a claim.',
      ),
    parentTaskId: parentId,
    tasks: childrenSchema(fields, 'ChildTask').optional(),
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
      const engine = await host.engineFor(caller)
      const [created] = await engine.create([
        {
          ...(given as CreateOptions & { executor?: string }),
          ...goalOf(input),
          parentId: parentTaskId ?? caller.taskId,
          key: input.key ?? identity,
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

/** Whoever says only what is to be done says a goal. With an executor or tasks it says what it is called. */
function goalOf({ goal, description, name, executor, tasks }: SubmitInput): Pick<CreateOptions, 'goal'> {
  if (goal !== undefined) return goal === null ? {} : { goal }
  const text = description ?? name
  return executor !== undefined || tasks !== undefined || text === undefined ? {} : { goal: text }
}

function executorsIn({ executor, tasks = {} }: Pick<SubmitInput, 'executor' | 'tasks'>): string[] {
  return [...(executor === undefined ? [] : [executor]), ...Object.values(tasks).flatMap(executorsIn)]
}

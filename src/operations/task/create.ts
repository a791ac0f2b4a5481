// task:create: creates a task or a tree of tasks, stored with the opening message of its conversation before any work begins.

import { z } from 'zod'
import type { Caller } from '../../bus/caller.ts'
import { once } from '../../core/once.ts'
import { startOf } from '../../core/storable-text.ts'
import type { CreateOptions } from '../../engine/engine-api.ts'
import type { CreationSize } from '../../entities/creation-bounds.ts'
import { childrenSchema } from '../../entities/options.ts'
import { fieldsOfOneTask } from '../../entities/schedule.ts'
import { fieldsFor } from '../../entities/task-fields.ts'
import type { AbilityHost } from '../ability-host.ts'
import { defineOperation } from '../define-operation.ts'
import { eitherCase } from '../key-case.ts'
import { idsIn } from '../own-tasks.ts'
import { requireTeams } from '../steps/step-context.ts'
import { taskRowSchema, toRow } from '../views/task-row.ts'
import { createTasks } from './create-tasks.ts'
import { isMadeKey, keyPrefixes } from './keys.ts'

const inputSchema = once(() => {
  const { key, ...further } = fieldsFor('create')
  const fields = {
    ...further,
    key: key.refine(
      (given) => given === undefined || !isMadeKey(given),
      `keys that begin with ${Object.values(keyPrefixes).join(' or ')} are reserved`,
    ),
  }
  const { parentId: _parentId, ...childFields } = fields
  return requireTitle(z.strictObject({ ...fields, tasks: childrenSchema(childFields, 'ChildTask').optional() }))
})

/** What is created again and again: it has no fields that only one task can have. */
export const templateSchema = once(() => {
  const isOfOne = (field: string): boolean => (fieldsOfOneTask as readonly string[]).includes(field)
  const fields = Object.fromEntries(Object.entries(fieldsFor('create')).filter(([field]) => !isOfOne(field))) as Omit<
    ReturnType<typeof fieldsFor<'create'>>,
    (typeof fieldsOfOneTask)[number]
  >
  return requireTitle(z.strictObject({ ...fields, tasks: childrenSchema(fields, 'TemplateTask').optional() }))
})

type Template = z.output<ReturnType<typeof templateSchema>>
type Titled = Partial<Record<'name' | 'goal' | 'description', string | undefined>> & { executor?: unknown }

function requireTitle<S extends z.ZodType<Titled>>(schema: S): S {
  return schema.refine(
    ({ name, goal, description = '', executor }) => (name ?? goal ?? executor ?? description.trim()) !== '',
    { path: ['name'], message: 'expected a name, a goal, a description or an executor' },
  )
}

const aliases = { parentTaskId: 'parentId' }

/**
 * Resolves as soon as the task is stored. The same `key` returns the first task; so does a repetition of a call with the same identity.
 * A caller with a task creates subtasks of it.
 */
export const taskCreate = defineOperation({
  id: 'task:create',
  access: 'create',
  description:
    'Creates a task or a tree of tasks: for an agent with a goal, for an executor, or to be claimed or joined.',
  routes: [
    { endpoint: 'POST /tasks', tag: 'Tasks', operationId: 'createTask', summary: 'Create a task', creates: true },
  ],
  input: () => eitherCase(inputSchema(), aliases),
  modelInput: () => eitherCase(z.strictObject(fieldsFor('models')), aliases),
  output: () =>
    z.object({
      taskId: z.string(),
      /** Memory branch of the task; null if it has none. */
      branch: z.string().nullable(),
      task: taskRowSchema(),
    }),
  onInterrupt: 'rerun',
  own: true,
  scope: ({ parentId: parent, blockedBy = [] }) => [...idsIn(parent), ...blockedBy],
  creationIn,
  async handle(input, { caller, identity }, host) {
    const spec = { ...(await specOf(input, caller, host)), parentId: input.parentId ?? caller.taskId }
    const [created] = await createTasks(host, caller, [{ ...spec, key: input.key ?? identity }])
    const taskId = (created as { id: string }).id
    return host.read(function* (tx) {
      const task = yield* tx.task.get(taskId)
      if (task === undefined) throw new Error(`${taskId} was purged immediately after its creation`)
      return { taskId, branch: (yield* tx.branch.ofTask(taskId))?.name ?? null, task: toRow(task) }
    })
  },
})

/** Counts the tasks of the input at any depth. Iterative, because input that is nested too deeply is only refused later. */
export function creationIn(given: unknown): CreationSize {
  const specs = [given]
  let dependencies = 0
  for (const spec of specs) {
    const { tasks, after, blockedBy, blocked_by: sameInSnakeCase } = Object(spec) as Record<string, unknown>
    for (const named of [after, blockedBy, sameInSnakeCase]) {
      if (named !== undefined) dependencies += Array.isArray(named) ? named.length : 1
    }
    if (typeof tasks === 'object' && tasks !== null) for (const each of Object.values(tasks)) specs.push(each)
  }
  return { tasks: specs.length, dependencies }
}

/** The input with its defaults. @throws ErrandError FORBIDDEN, NOT_FOUND for a branch that the caller may not name. */
export async function specOf<I extends Template>(input: I, caller: Caller, host: AbilityHost) {
  const branches = branchesIn(input)
  if (branches.length > 0) {
    const teams = requireTeams(await host.stepContext())
    await host.read((tx) => teams.requireBranches(tx, caller, branches))
  }
  return { ...input, ...defaultName(input), ...teamOf(input) }
}

const maxDefaultNameLength = 80

/** The default name of a task without a goal is its description. */
function defaultName({ goal, name, executor, description }: Template): Pick<CreateOptions, 'name'> {
  if ((goal ?? name ?? executor) !== undefined || description === undefined) return {}
  return { name: startOf((description.split('\n')[0] as string).trim(), maxDefaultNameLength) }
}

/** A task without an executor or goal is for agents that join it; other agents may also join the task of an agent later. */
function teamOf({ team, goal, executor, role, tasks }: Template): Pick<CreateOptions, 'team'> {
  if (team !== undefined || executor !== undefined || role !== undefined || tasks !== undefined) return {}
  return { team: goal === undefined ? true : 'later' }
}

function branchesIn({ parentBranch, tasks = {} }: Pick<Template, 'parentBranch' | 'tasks'>): string[] {
  return [...(parentBranch === undefined ? [] : [parentBranch]), ...Object.values(tasks).flatMap(branchesIn)]
}

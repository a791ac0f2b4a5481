// task:create: makes a task, or a whole tree of tasks, stored with the opening of its conversation before any work on it begins.
import { z } from 'zod'
import { childrenSchema } from '../../api/options.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { CreateOptions } from '../../engine-api.ts'
import type { CreationSize } from '../../entities/creation-bounds.ts'
import { fieldsFor } from '../../entities/task-fields.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { requireBranchFor } from '../../steps/branch.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../key-case.ts'
import { idsIn } from '../own-tasks.ts'
import { taskRowSchema, toRow } from '../views/task-row.ts'
import { createTasks } from './create-tasks.ts'
import { isMadeKey, keyPrefixes } from './keys.ts'

const { key, ...further } = fieldsFor('create')
const fields = {
  ...further,
  key: key.refine(
    (given) => given === undefined || !isMadeKey(given),
    `keys that begin with ${Object.values(keyPrefixes).join(' or ')} are not given, but made`,
  ),
}
const { parentId: _parentId, ...childFields } = fields

const inputSchema = z
  .strictObject({ ...fields, tasks: childrenSchema(childFields, 'ChildTask').optional() })
  .refine(({ name, goal, description = '', executor }) => (name ?? goal ?? executor ?? description.trim()) !== '', {
    path: ['name'],
    message: 'expected a name, a goal, a description or an executor',
  })
type CreateInput = z.output<typeof inputSchema>

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
    modelInput: eitherCase(z.strictObject(fieldsFor('models')), aliases),
    output: z.object({
      taskId: z.string(),
      /** Its branch of memory; null where it has none. */
      branch: z.string().nullable(),
      task: taskRowSchema,
    }),
    onInterrupt: 'rerun',
    scope: ({ parentId: parent, blockedBy = [] }) => [...idsIn(parent), ...blockedBy],
    creationIn,
    async handle(input, { caller, identity }) {
      const branches = branchesIn(input)
      if (branches.length > 0) await host.read((tx) => requireOwnBranches(tx, caller, branches))
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

/** It and all that it holds, at any depth. Step by step: what is nested too deep is refused only later. */
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

const maxDefaultNameLength = 80

/** A task without a goal is called what it is described as. */
function namedBy({ goal, name, executor, description }: CreateInput): Pick<CreateOptions, 'name'> {
  if ((goal ?? name ?? executor) !== undefined || description === undefined) return {}
  return { name: (description.split('\n')[0] as string).trim().slice(0, maxDefaultNameLength).toWellFormed() }
}

/** What nothing works on by itself is for agents that join it; what an agent works on by itself others may join later. */
function teamOf({ team, goal, executor, role, tasks }: CreateInput): Pick<CreateOptions, 'team'> {
  if (team !== undefined || executor !== undefined || role !== undefined || tasks !== undefined) return {}
  return { team: goal === undefined ? true : 'later' }
}

function branchesIn({ parentBranch, tasks = {} }: Pick<CreateInput, 'parentBranch' | 'tasks'>): string[] {
  return [...(parentBranch === undefined ? [] : [parentBranch]), ...Object.values(tasks).flatMap(branchesIn)]
}

/**
 * What a task's model learns goes to its own team, wherever it would rather have it; what a principal's task learns, to no task that the
 * principal may not affect. @throws ErrandError FORBIDDEN, NOT_FOUND
 */
function* requireOwnBranches(tx: Reads, caller: Caller, branches: readonly string[]): Op<void> {
  const { taskId } = caller
  if (taskId === undefined) {
    for (const name of branches) yield* requireBranchFor(tx, caller, name)
    return
  }
  const place = (yield* tx.task.get(taskId))?.policy.team
  const team = place === undefined ? undefined : yield* tx.team.get(place.taskId)
  const branch = branches.find((name) => name !== team?.branch)
  if (branch === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `What is below ${taskId} gives what it learns to ${team === undefined ? 'the branch that is its own' : `"${team.branch}"`}, and not to "${branch}". Leave \`parentBranch\` out.`,
    { taskId, branch },
  )
}

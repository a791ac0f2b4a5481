// task:create: makes a task, stored with the opening of its conversation before anybody works on it, and with the branch of memory
// that whoever works on it has in common.
import { z } from 'zod'
import type { CreateOptions } from '../../api.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../errors.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { anyTaskSchema, createTask, tasksNamedBy } from './new-task.ts'

const inputSchema = anyTaskSchema.refine(
  ({ goal, name, description = '' }) => (goal ?? name ?? description.trim()) !== '',
  { path: ['goal'], message: 'expected a goal, or for a task that agents join a name or a description' },
)

/** Returns without waiting for any of the work. */
export function taskCreate(host: AbilityHost) {
  return defineAbility({
    id: 'task:create',
    access: 'create',
    description:
      'Creates a task that works towards a goal in the background; a task that calls gets a subtask of its own.',
    input: eitherCase(inputSchema),
    output: z.object({ taskId: z.string(), branch: z.string() }),
    scope: tasksNamedBy,
    // Made once under the identity of its call, so to make it again does no harm.
    onInterrupt: 'rerun',
    async handle(input, context) {
      const { parentBranch } = input
      if (parentBranch !== undefined) await host.read((tx) => requireOwnBranch(tx, context.caller, parentBranch))
      // Whoever works towards a goal by itself is no team; others may join it.
      const team = input.goal === undefined ? true : ('later' as const)
      const { id: taskId } = await createTask(host, input, context, { ...namedBy(input), team })
      const branch = await host.read((tx) => tx.branch.ofTask(taskId))
      return { taskId, branch: branch?.name as string }
    },
  })
}

const longestDefaultName = 80

/** A task without a goal is called what it is described as. */
function namedBy({ goal, name, description }: z.output<typeof inputSchema>): Pick<CreateOptions, 'name'> {
  if (goal !== undefined || name !== undefined) return {}
  return { name: description?.trim().split('\n')[0]?.trim().slice(0, longestDefaultName).toWellFormed() }
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

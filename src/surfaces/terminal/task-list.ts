// The tasks that `ps` lists: the filter for the ledger, and the same filter for one changed task.
import type { Engine } from '../../engine/engine-api.ts'
import { filterByStatus, type StatusWord } from '../../entities/status-filter.ts'
import { type BriefTask, openStatuses, type Task } from '../../entities/task.ts'
import { isReleased } from '../../machines/readiness.ts'

/** A part of the filter of `engine.list`. */
export interface TaskChoice {
  status?: StatusWord[] | undefined
  ready?: boolean | undefined
  owner?: string | undefined
  /** A task must have all of them. */
  tags?: string[] | undefined
}

export function isChosen(task: Task, { status, ready, owner, tags = [] }: TaskChoice): boolean {
  return (
    (status === undefined || hasStatus(task, status)) &&
    (ready === undefined || task.ready === ready) &&
    (owner === undefined || task.owner === owner) &&
    tags.every((tag) => task.tags.includes(tag))
  )
}

function hasStatus(task: Task, words: StatusWord[]): boolean {
  const { statuses, released } = filterByStatus(words)
  return (
    statuses.includes(task.status) &&
    (task.status !== 'waiting' || released === undefined || isReleased(task) === released)
  )
}

/** The tasks that are not settled, and the failed groups that contain them. */
export async function openTasks<T extends BriefTask>(
  engine: Engine,
  list: (engine: Engine, filter: { status: StatusWord[] }) => Promise<T[]>,
): Promise<Array<T | Task>> {
  const open = await list(engine, { status: [...openStatuses] })
  return [...(await failedGroupsOf(engine, open)), ...open]
}

/** A group can fail while tasks in it are still open and blocked. */
async function failedGroupsOf(engine: Pick<Engine, 'get'>, open: readonly BriefTask[]): Promise<Task[]> {
  const seen = new Set(open.map(({ id }) => id))
  const failed: Task[] = []
  for (const { parentId } of open) {
    for (let id = parentId; id !== null && !seen.has(id); ) {
      seen.add(id)
      const parent = await engine.get(id)
      if (parent?.status !== 'failed' || !parent.group) break
      failed.push(parent)
      id = parent.parentId
    }
  }
  return failed
}

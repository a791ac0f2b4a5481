// The tasks that `ps` lists: the filter for the ledger, and the same filter for one changed task.
import type { Engine } from '../../engine/engine-api.ts'
import type { TaskFilterOptions } from '../../entities/filter-options.ts'
import { filterByStatus, type StatusWord } from '../../entities/status-filter.ts'
import { type BriefTask, openStatuses, type Task } from '../../entities/task.ts'
import { isReleased } from '../../machines/readiness.ts'

/** What `ps` chooses tasks by. */
export type TaskChoice = Pick<
  TaskFilterOptions,
  'status' | 'ready' | 'executor' | 'owner' | 'tags' | 'metadata' | 'code' | 'text' | 'since' | 'before' | 'system'
>

/** The filter of the ledger, for one task. */
export function isChosen(task: Task, choice: TaskChoice): boolean {
  const { status, ready, executor, owner, tags = [], metadata = {}, code, text, since, before, system } = choice
  const endedAt = task.completedAt ?? task.createdAt
  return (
    (status === undefined || hasStatus(task, [status].flat())) &&
    (system === 'include' || !task.system) &&
    (ready === undefined || task.ready === ready) &&
    (executor === undefined || task.executor === executor) &&
    (owner === undefined || task.owner === owner) &&
    tags.every((tag) => task.tags.includes(tag)) &&
    Object.entries(metadata).every(([name, value]) => task.metadata[name] === value) &&
    (code === undefined || task.error?.code === code) &&
    (text === undefined || hasWords(task, text)) &&
    (since === undefined || endedAt >= since) &&
    (before === undefined || endedAt < before)
  )
}

function hasWords({ id, name, goal, description }: Task, text: string): boolean {
  const all = [name, goal ?? '', description].join('\n').toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word) || id.startsWith(word) || id.startsWith(`task-${word}`))
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

// The tasks that `ps` lists.
import type { Engine } from '../../api.ts'
import { openStatuses, type Task } from '../../entities/task.ts'
import { allTasks } from './each-task.ts'

/** What is not settled, and the failed groups that it is in. */
export async function openTasks(engine: Engine): Promise<Task[]> {
  const open = await allTasks(engine, { status: [...openStatuses] })
  return [...(await failedGroupsOf(engine, open)), ...open]
}

/** What cannot move any more is open, and the group that failed by it is not. */
async function failedGroupsOf(engine: Pick<Engine, 'get'>, open: readonly Task[]): Promise<Task[]> {
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

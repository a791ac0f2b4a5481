// The task that a command is about, or the refusal that there is none.

import { ErrandError } from '../../core/errors.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'
import { namedTask } from '../terminal/named-task.ts'

/** @throws ErrandError NOT_FOUND, or INVALID_INPUT { candidates } when several tasks fit. */
export async function findTask(engine: Engine, ref: string): Promise<Task> {
  const task = await namedTask(engine, ref)
  if (task !== null) return task
  throw new ErrandError(
    'NOT_FOUND',
    `There is no task ${ref}. Name a task by its number (#3), its id (or any unique prefix of it), or its name; "errand ps --all" lists them.`,
    { taskId: ref },
  )
}

/** The id of the task that an optional option names. @throws as `findTask` */
export async function optionalTaskId(engine: Engine, ref: string | undefined): Promise<string | undefined> {
  return ref === undefined ? undefined : (await findTask(engine, ref)).id
}

// What a task says from some moment on, until it has answered: it ends, asks, or comes to rest. Letting go does not stop it.
import type { StreamItem } from '../../api.ts'
import { isSettled, type Task } from '../../entities/task.ts'
import { goesOn } from '../cli/going-on.ts'
import { changedLine } from '../cli/task-words.ts'
import { ToldAnswer } from '../cli/told-answer.ts'
import type { Session } from './session.ts'

/** Tells what comes after the position `after`; resolves when nothing more is to be expected, or the signal aborts. */
export async function followTask(session: Session, task: Task, after: number, signal: AbortSignal): Promise<void> {
  const { printer } = session
  if (!(await isWorthFollowing(session, task))) {
    printer.line(changedLine(task, 'told'))
    return
  }
  const told = new ToldAnswer(
    { text: (piece) => printer.text(piece), note: (words) => printer.line(`· ${words}`) },
    { hearsAll: false },
  )
  session.followed = task.id
  try {
    for await (const item of session.stream<StreamItem>('task:stream', { taskId: task.id, after }, signal)) {
      told.take(item)
      if (await isAnswered(session, item)) break
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    if (!signal.aborted) told.end()
    session.followed = undefined
  }
  if (signal.aborted) return
  const now = await session.engine.get(task.id)
  if (now !== null && now.status !== 'completed') printer.line(`· ${changedLine(now)}`)
}

/** Whoever works on a task by hand may answer at any time, or never. A script waits only for what certainly goes on. */
async function isWorthFollowing({ engine, interactive }: Session, task: Task): Promise<boolean> {
  if (task.executor === null || !(await goesOn(engine, [task]))) return false
  return interactive || task.status === 'working' || engine.status.get().context.working
}

async function isAnswered({ engine }: Session, item: StreamItem): Promise<boolean> {
  if (item.type === 'end' || item.type === 'question') return true
  if (item.type !== 'state' || item.status === 'working') return false
  const task = await engine.get(item.taskId)
  return task === null || isSettled(task.status) ? false : !(await goesOn(engine, [task]))
}

// Prints changes of tasks while the user is at the prompt, one line each. By default only changes of the tasks of this session, and the
// questions of all tasks.

import { ErrandError } from '../../core/errors.ts'
import { messageOf } from '../../core/stored-error.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { failureText, statusAfter, textOf } from '../terminal/event-fields.ts'
import { taskNumbers } from '../terminal/task-labels.ts'
import { cleanLine, firstLine, fitWidth } from '../terminal/terminal-text.ts'
import type { Session } from './session.ts'

const announcedTypes = [
  'task.created',
  'task.started',
  'task.paused',
  'task.resumed',
  'task.waiting',
  'task.completed',
  'task.failed',
  'task.retried',
  'task.canceled',
  'question.asked',
] as const satisfies ReadonlyArray<TaskEvent['type']>

/** Prints the events after a position of the feed, until the signal aborts or the engine closes. */
export async function announce(session: Session, after: number, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of session.stream<TaskEvent>('event:feed', { after, types: announcedTypes }, signal)) {
      if (isAnnounced(session, event)) session.printer.notice(await announcement(session, event))
    }
  } catch (error) {
    if (signal.aborted || (ErrandError.isInstance(error) && error.code === 'ENGINE_CLOSED')) return
    session.printer.notice(`Changes of tasks are no longer shown: ${messageOf(error)}`)
  }
}

function isAnnounced(session: Session, event: TaskEvent): boolean {
  if (session.loudness === 'quiet' || session.followed === event.taskId) return false
  if (event.type === 'question.asked') return true
  if (session.loudness === 'own' && !session.owns(event.taskId)) return false
  return session.isChange(event.taskId, statusAfter(event))
}

async function announcement({ engine }: Session, event: TaskEvent): Promise<string> {
  const numberOf = await taskNumbers(engine, [event.taskId])
  const label = `${numberOf(event.taskId)} ${fitWidth(cleanLine(textOf(event, 'name')), 60)}`
  if (event.type === 'question.asked') return `${label} asks: ${firstLine(textOf(event, 'question'))}`
  return `${label} ${event.type === 'task.failed' ? failureText(event) : event.type.replace('task.', '')}`
}

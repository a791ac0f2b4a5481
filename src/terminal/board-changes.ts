// What happens on the board, in words: who claimed what, what was done, what came free by it.

import type { BoardTask } from '../entities/board.ts'
import type { TaskEvent } from '../entities/event.ts'
import { answeredText, failureText, reasonText, textOf } from './event-fields.ts'
import { cleanLine } from './terminal-text.ts'

/** A line of news. */
export interface BoardChange {
  event: TaskEvent
  /** As it is now; undefined when it is gone. */
  task: BoardTask | undefined
  /** `#2 claimed by ann (claim 1)` */
  text: string
}

/** Undefined for what changes nothing that the board shows. `label` names the task, for when it is gone. */
export function changesOf(event: TaskEvent, task: BoardTask | undefined, label: string): BoardChange | undefined {
  const text = textFor(event, task)
  return text === undefined ? undefined : { event, task, text: cleanLine(`${label} ${text}`) }
}

/** `#2 Write code` */
export function labelOf({ id, subject }: Pick<BoardTask, 'id' | 'subject'>): string {
  return `#${id} ${cleanLine(subject)}`
}

function textFor(event: TaskEvent, task: BoardTask | undefined): string | undefined {
  switch (event.type) {
    case 'task.created':
      return 'added'
    case 'task.claimed':
      return `claimed by ${textOf(event, 'owner')}${claimNumber(event)}`
    case 'task.released':
      return `let go by ${textOf(event, 'owner')}${reasonText(event)}`
    case 'task.started':
      // A claim tells the same, and by whom.
      return task === undefined || task.owner !== '' ? undefined : 'begun'
    case 'task.unblocked':
      return task?.ready === true || (task?.status === 'pending' && task.blockedBy.length === 0)
        ? 'came free'
        : undefined
    case 'task.completed':
      return `completed${task === undefined || task.owner === '' ? '' : ` by ${task.owner}`}`
    case 'task.failed':
      return failureText(event)
    case 'task.canceled':
      // Whoever takes a task off cancels it first.
      return task === undefined ? undefined : `deleted${reasonText(event)}`
    case 'task.deleted':
      return 'taken off the board'
    case 'task.retried':
      return 'pending again'
    case 'task.paused':
      return 'paused'
    case 'task.resumed':
      return 'resumed'
    case 'task.input_required':
      return 'asks something'
    case 'task.answered':
      return answeredText(event)
    case 'agent.joined':
      return `joined by ${textOf(event, 'agentId')}`
    case 'agent.completed':
      return `left by ${textOf(event, 'agentId')}, who has done a part of it`
    case 'objective.updated':
      return `objective ${String(event.data['objectiveId'])} is ${textOf(event, 'to')}`
    case 'task.updated':
      return 'changed'
    case 'task.waiting':
    case 'task.promoted':
    case 'task.diverged':
    case 'task.repaired':
    case 'timer.fired':
    case 'run.closed':
    case 'call.started':
    case 'call.completed':
    case 'call.failed':
    case 'model.failed':
    case 'question.asked':
    case 'message.appended':
    case 'output.written':
    case 'progress.reported':
    case 'team.closed':
      return undefined
  }
}

function claimNumber({ data }: TaskEvent): string {
  return typeof data['fence'] === 'number' ? ` (claim ${data['fence']})` : ''
}

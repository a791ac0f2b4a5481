// Describes changes of the board: claims, completions, unblocked tasks.

import type { BoardTask } from '../../entities/board.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { stateText } from '../../entities/machine-view.ts'
import { answeredText, failureText, reasonText, textOf } from './event-fields.ts'
import { cleanLine } from './terminal-text.ts'

/** A change that the board shows. */
export interface BoardChange {
  event: TaskEvent
  /** The current task; undefined when it is deleted. */
  task: BoardTask | undefined
  /** `#2 claimed by ann (claim 1)` */
  text: string
}

/** Returns undefined for an event that changes nothing on the board. `label` names the task, which may be deleted. */
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
      return `released by ${textOf(event, 'owner')}${reasonText(event)}`
    case 'task.started':
      // For a task with an owner, `task.claimed` has reported it.
      return task === undefined || task.owner !== '' ? undefined : 'started'
    case 'task.unblocked':
      return task?.ready === true || (task?.status === 'pending' && task.blockedBy.length === 0)
        ? 'unblocked'
        : undefined
    case 'task.completed':
      return `completed${task === undefined || task.owner === '' ? '' : ` by ${task.owner}`}`
    case 'task.failed':
      return failureText(event)
    case 'task.canceled':
      // A deletion cancels the task first, and `task.deleted` reports it.
      return task === undefined ? undefined : `deleted${reasonText(event)}`
    case 'task.deleted':
      return 'deleted from the board'
    case 'task.retried':
      return 'pending again'
    case 'task.paused':
      return 'paused'
    case 'task.resumed':
      return 'resumed'
    case 'task.input_required':
      return 'asks a question'
    case 'task.answered':
      return answeredText(event)
    case 'signal.received':
      return `got the signal ${textOf(event, 'signal')}`
    case 'machine.moved':
      return `${textOf(event, 'event')}: ${stateText(event.data['value'])}`
    case 'agent.joined':
      return `joined by ${textOf(event, 'agentId')}`
    case 'agent.completed':
      return `left by ${textOf(event, 'agentId')}`
    case 'objective.updated':
      return `objective ${String(event.data['objectiveId'])} is ${textOf(event, 'to')}`
    case 'task.updated':
      return 'changed'
    case 'task.waiting':
    case 'task.promoted':
    case 'task.diverged':
    case 'task.repaired':
    case 'timer.fired':
    case 'run.parked':
    case 'run.continued':
    case 'run.closed':
    case 'call.started':
    case 'call.completed':
    case 'call.failed':
    case 'model.failed':
    case 'model.prompt_cut':
    case 'question.asked':
    case 'message.appended':
    case 'output.written':
    case 'progress.reported':
    case 'team.closed':
    case 'machine.emitted':
      return undefined
  }
}

function claimNumber({ data }: TaskEvent): string {
  return typeof data['fence'] === 'number' ? ` (claim ${data['fence']})` : ''
}

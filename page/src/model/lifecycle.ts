// The states of a task as shown to people, and the actions allowed in each, from the engine's own transition table.

import {
  isQueuedTask,
  isSettled,
  type StateWord,
  stateWord,
  type TaskStatus,
  taskStatuses,
} from '../../../src/entities/task.ts'
import { acceptedEvents, eventBetween } from '../../../src/machines/task-edges.ts'
import type { TaskRow } from './wire.ts'

export { acceptedEvents, eventBetween, isQueuedTask as isQueued, isSettled, type StateWord, stateWord, taskStatuses }

export interface StateLook {
  /** Distinguishes the state without colour. */
  glyph: string
  word: string
}

export const stateLooks: Readonly<Record<TaskStatus, StateLook>> = {
  submitted: { glyph: '○', word: 'submitted' },
  working: { glyph: '▶', word: 'working' },
  paused: { glyph: '‖', word: 'paused' },
  input_required: { glyph: '?', word: 'input_required' },
  waiting: { glyph: '…', word: 'waiting' },
  completed: { glyph: '✓', word: 'completed' },
  failed: { glyph: '✕', word: 'failed' },
  canceled: { glyph: '⊘', word: 'canceled' },
}

/** The words of the states in the order of a lifecycle. */
export const stateWords: readonly StateWord[] = ['blocked', 'claimable', 'queued', 'interrupted', ...taskStatuses]

/** The state of a row in the word that the terminal uses, too. */
export function wordOf(
  row: Pick<TaskRow, 'status' | 'statusReason' | 'ready' | 'executor' | 'openBlockers'>,
): StateWord {
  return stateWord(row, row.openBlockers)
}

/** Actions that a person may take on the page. */
export const actions = ['start', 'answer', 'pause', 'resume', 'retry', 'send', 'priority', 'cancel', 'fork'] as const
export type Action = (typeof actions)[number]

export const actionLabels: Readonly<Record<Action, string>> = {
  start: 'Start',
  answer: 'Answer',
  pause: 'Pause',
  resume: 'Resume',
  retry: 'Retry',
  send: 'Send message',
  priority: 'Change priority',
  cancel: 'Cancel',
  fork: 'Fork',
}

/** Actions that are not events of the machine, and when they make sense: a message to a task that has ended is never read. */
const otherActions: Readonly<Partial<Record<Action, (status: TaskStatus) => boolean>>> = {
  send: (status) => !isSettled(status),
  priority: (status) => !isSettled(status),
}

/** The actions that a task in this state accepts, in the order of `actions`. */
export function possibleActions(status: TaskStatus): readonly Action[] {
  const accepted: readonly string[] = acceptedEvents(status)
  return actions.filter((action) => otherActions[action]?.(status) ?? accepted.includes(action))
}

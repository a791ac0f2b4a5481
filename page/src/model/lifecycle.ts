// The states of a task as shown to people, and the actions allowed in each, from the engine's own transition table.

import { isSettled, type TaskStatus, taskStatuses } from '../../../src/entities/task.ts'
import { acceptedEvents, eventBetween } from '../../../src/machines/task-machine.ts'

export { acceptedEvents, eventBetween, isSettled, taskStatuses }

export interface StateLook {
  /** Distinguishes the state without colour. */
  glyph: string
  word: string
}

export const stateLooks: Readonly<Record<TaskStatus, StateLook>> = {
  submitted: { glyph: '○', word: 'submitted' },
  working: { glyph: '▶', word: 'working' },
  paused: { glyph: '‖', word: 'paused' },
  input_required: { glyph: '?', word: 'input required' },
  waiting: { glyph: '…', word: 'waiting' },
  completed: { glyph: '✓', word: 'completed' },
  failed: { glyph: '✕', word: 'failed' },
  canceled: { glyph: '⊘', word: 'canceled' },
}

/** Shown as queued: waits for a slot or for the end of its last run, whatever its state. */
export function isQueued(task: { ready: boolean; executor: string | null }): boolean {
  return task.ready && task.executor !== null
}

/** Actions that a person may take on the page. */
export const actions = ['start', 'answer', 'pause', 'resume', 'retry', 'send', 'priority', 'cancel'] as const
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
}

/** Actions that are not events of the machine, and when they make sense: a message to a task that has ended is never read. */
const otherActions: Readonly<Partial<Record<Action, (status: TaskStatus) => boolean>>> = {
  send: (status) => !isSettled(status),
  priority: (status) => !isSettled(status),
}

/** Why an action is not possible now, for people; null if it is. */
export function whyNot(action: Action, task: { status: TaskStatus }): string | null {
  const possible = otherActions[action]?.(task.status) ?? acceptedEvents(task.status).some((event) => event === action)
  if (possible) return null
  const accepted = actions.filter((each) => whyNotByTable(each, task.status) === null)
  const instead = accepted.length === 0 ? 'no further actions are possible' : `possible: ${accepted.join(', ')}`
  return `It is ${stateLooks[task.status].word}; ${instead}.`
}

function whyNotByTable(action: Action, status: TaskStatus): string | null {
  return acceptedEvents(status).some((event) => event === action) ? null : status
}

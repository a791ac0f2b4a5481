// The history of a task from its events: its state at a position, and its path through the states.

import { clipped } from '../../../src/core/storable-text.ts'
import type { TaskEventName } from '../../../src/machines/task-machine.ts'
import { textIn } from './event-data.ts'
import { eventBetween } from './lifecycle.ts'
import { lineOfMarkdown } from './markdown.ts'
import { shownLine } from './output.ts'
import type { TaskEvent, TaskStatus } from './wire.ts'

/** One step through the state chart. */
export interface PathStep {
  /** Counts from 1. */
  n: number
  from: TaskStatus
  to: TaskStatus
  /** Name of the machine's event; null if the table has no such edge. */
  event: TaskEventName | null
  at: number
  seq: number
}

/** Events up to a position of the feed; all if it is null. */
export function upTo(events: readonly TaskEvent[], position: number | null): TaskEvent[] {
  return position === null ? [...events] : events.filter(({ seq }) => seq <= position)
}

/** The edges along which the task moved, in order. A failure with attempts left counts as two. */
export function pathTaken(events: readonly TaskEvent[]): PathStep[] {
  const steps: PathStep[] = []
  let current: TaskStatus | undefined
  for (const { data, at, seq } of events) {
    const to = data['status'] as TaskStatus | undefined
    if (to === undefined) continue
    const from = current
    current = to
    if (from === undefined || from === to) continue
    steps.push({ n: steps.length + 1, from, to, event: eventBetween(from, to) ?? null, at, seq })
  }
  return steps
}

/** A task as of an event, as far as its events contain it. */
export interface TaskSnapshot {
  name: string
  status: TaskStatus
  attempt: number
  run: number
  owner: string | null
  progress: { fraction: number; note: string | null } | null
  error: { code: string; message: string } | null
  at: number
  seq: number
}

/** The state of a task after these events; undefined before its first event. */
export function snapshotAfter(events: readonly TaskEvent[]): TaskSnapshot | undefined {
  let snapshot: TaskSnapshot | undefined
  for (const event of events) snapshot = after(snapshot, event)
  return snapshot
}

function after(before: TaskSnapshot | undefined, { type, data, at, seq }: TaskEvent): TaskSnapshot {
  const snapshot: TaskSnapshot = {
    ...(before ?? { attempt: 1, run: 0, owner: null, progress: null, error: null }),
    name: textIn(data, 'name') || (before?.name ?? ''),
    status: (data['status'] as TaskStatus | undefined) ?? before?.status ?? 'submitted',
    at,
    seq,
  }
  if (typeof data['attempt'] === 'number') snapshot.attempt = data['attempt']
  if (typeof data['run'] === 'number') snapshot.run = data['run']
  switch (type) {
    case 'progress.reported':
      return {
        ...snapshot,
        progress: { fraction: Number(data['fraction']), note: (data['note'] as string | null) ?? null },
      }
    case 'task.failed':
      return { ...snapshot, error: (data['error'] as TaskSnapshot['error']) ?? null }
    case 'task.retried':
      return { ...snapshot, error: null, progress: null }
    case 'task.claimed':
      return { ...snapshot, owner: (data['owner'] as string | null) ?? null }
    case 'task.released':
      return { ...snapshot, owner: null }
    default:
      return snapshot
  }
}

const maxNoteLength = 160

/** One line about an event in addition to its type. */
export function noteOf({ type, data }: TaskEvent): string {
  const note = plainNote(type, data)
  return clipped(note, maxNoteLength + 1)
}

function plainNote(type: TaskEvent['type'], data: Record<string, unknown>): string {
  const error = data['error'] as { code?: string; message?: string } | undefined
  if (error !== undefined && error !== null) return `${error.code ?? ''}: ${error.message ?? ''}`
  switch (type) {
    case 'call.started':
    case 'call.completed':
      return textIn(data, 'tool')
    case 'question.asked':
      return lineOfMarkdown(textIn(data, 'question'), 2 * maxNoteLength)
    case 'task.answered':
      return JSON.stringify(data['answer'] ?? null)
    case 'progress.reported':
      return `${Math.round(Number(data['fraction']) * 100)} %${data['note'] ? `, ${textIn(data, 'note')}` : ''}`
    case 'task.updated':
      return Array.isArray(data['changed']) ? `changed: ${data['changed'].join(', ')}` : ''
    case 'output.written':
      return shownLine(textIn(data, 'text').trim().split('\n', 1)[0] ?? '')
    case 'task.claimed':
      return textIn(data, 'owner')
    default:
      return typeof data['reason'] === 'string' ? data['reason'] : ''
  }
}

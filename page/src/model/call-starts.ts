// When calls began. A call that a person must approve is recorded when a model requests it, and begins once it is approved.

import { textIn } from './event-data.ts'
import type { Call, TaskEvent } from './wire.ts'

/** When a call began; when it was recorded if it has not begun. */
export type StartOf = (call: Pick<Call, 'id' | 'createdAt'>) => number

export function callStarts(events: readonly TaskEvent[]): StartOf {
  const starts = new Map<string, number>()
  for (const { type, data, at } of events) {
    const id = type === 'call.started' ? textIn(data, 'callId') : ''
    if (id !== '' && !starts.has(id)) starts.set(id, at)
  }
  return ({ id, createdAt }) => starts.get(id) ?? createdAt
}

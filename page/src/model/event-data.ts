// Reads values from the data of events. The data comes from the writer, so types are checked.

import type { TaskEvent } from './wire.ts'

export function textIn(data: TaskEvent['data'], field: string): string {
  const value = data[field]
  return typeof value === 'string' ? value : ''
}

/** ` by ada (http)`: who answered, and through which surface; empty where there is no answerer. */
export function answererIn(data: TaskEvent['data']): string {
  const by = data['answeredBy'] as TaskEvent['data'] | undefined
  if (by === undefined) return ''
  const who = textIn(by, 'owner') || textIn(by, 'taskId')
  return `${who === '' ? '' : ` by ${who}`} (${textIn(by, 'surface')})`
}

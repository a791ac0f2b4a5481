// What an event carries is data of whoever wrote it: a text is taken for one only where it is one.

import type { TaskEvent } from './wire.ts'

export function textIn(data: TaskEvent['data'], field: string): string {
  const value = data[field]
  return typeof value === 'string' ? value : ''
}

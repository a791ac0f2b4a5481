// The open questions of the tasks that are shown as asking. Rows do not contain them, so they are read task by task, a few at a time.

import { signal } from '@preact/signals'
import { problemOf } from '../live/api-client.ts'
import type { Question, ShownTask, TaskRow } from '../model/wire.ts'
import { api } from './api.ts'

interface Read {
  /** When the row that was read had changed last. */
  updatedAt: number
  questions: Question[]
}

const maxAtOnce = 4

/** By task. A task whose questions could not be read has none. */
export const readQuestions = signal<ReadonlyMap<string, Read>>(new Map())
const reading = new Set<string>()

/** Reads the questions of tasks that are not known, or that have changed. Called again after each read, until all are known. */
export function requireQuestions(rows: readonly TaskRow[]): void {
  const known = readQuestions.peek()
  for (const { id, updatedAt } of rows) {
    if (reading.size >= maxAtOnce) return
    if (!reading.has(id) && known.get(id)?.updatedAt !== updatedAt) void read(id, updatedAt, rows)
  }
}

async function read(id: string, updatedAt: number, rows: readonly TaskRow[]): Promise<void> {
  reading.add(id)
  let questions: Question[] = []
  try {
    questions = (await api.get<ShownTask>(`tasks/${encodeURIComponent(id)}`)).task.questions
  } catch (error) {
    console.warn('Could not read the questions of a task', problemOf(error))
  } finally {
    reading.delete(id)
  }
  // Only the questions of tasks that still ask are kept.
  const kept = [...readQuestions.peek()].filter(([known]) => rows.some((row) => row.id === known))
  readQuestions.value = new Map([...kept, [id, { updatedAt, questions }]])
}

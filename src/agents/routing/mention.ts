// The explicit mention: `@task-abc text` names the task that a message is for. It takes precedence over everything
// else.

import { startOf } from '../../core/storable-text.ts'
import { isRecognizedId, maxTaskIdLength } from '../../entities/task-id.ts'

/** A message that begins with the id of a task: one that begins with `task-`, or a UUID. */
export interface Mention {
  taskId: string
  /** The message without the mention; empty for a bare `@task-abc`. */
  text: string
}

/** A mention ends within these characters, however long the message is. */
const mentionReach = maxTaskIdLength + 2
const mentionPattern = /^@(\S+)(?=\s|$)/

/**
 * The task that a message names at its beginning, `@task-abc123 and so on`; null for a message without a mention.
 *
 * @example
 * extractMention('@task-abc123 Also check Q2')   // { taskId: 'task-abc123', text: 'Also check Q2' }
 * extractMention('Ask @task-abc123 about Q2')    // null: only the beginning counts
 */
export function extractMention(message: string): Mention | null {
  const found = mentionPattern.exec(startOf(message, mentionReach))
  const taskId = found?.[1] ?? ''
  if (!found || taskId.length > maxTaskIdLength || !isRecognizedId(taskId)) return null
  return { taskId, text: message.slice(found[0].length).trimStart() }
}

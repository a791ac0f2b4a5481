// The explicit mention: `@task-abc text` names the task that a message is for. It takes precedence over everything
// else.

/** A message that begins with the id of a task. */
export interface Mention {
  taskId: string
  /** The message without the mention; empty for a bare `@task-abc`. */
  text: string
}

/** Ids have at most 100 characters, so a mention ends within these, however long the message is. */
const mentionReach = 128
const mentionPattern = /^@(task-[a-z0-9]{1,95})(?=\s|$)/

/**
 * The task that a message names at its beginning, `@task-abc123 and so on`; null for a message without a mention.
 *
 * @example
 * extractMention('@task-abc123 Also check Q2')   // { taskId: 'task-abc123', text: 'Also check Q2' }
 * extractMention('Ask @task-abc123 about Q2')    // null: only the beginning counts
 */
export function extractMention(message: string): Mention | null {
  const found = mentionPattern.exec(message.slice(0, mentionReach))
  if (!found) return null
  return { taskId: found[1] as string, text: message.slice(found[0].length).trimStart() }
}

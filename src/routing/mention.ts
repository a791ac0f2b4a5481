// The explicit mention: `@task-abc text` names the task that a message is for. It is looked for before anything else, because
// whoever writes it has decided already.

/** A message that begins with the name of a task. */
export interface Mention {
  taskId: string
  /** What is left for the task: the message without the mention; empty for a bare `@task-abc`. */
  text: string
}

/** Ids are at most 100 characters long, so nothing beyond these can be part of a mention, however long the message is. */
const mentionReach = 128
const mentionPattern = /^@(task-[a-z0-9]{1,95})(?=\s|$)/

/**
 * The task that a message names at its very beginning, `@task-abc123 and so on`; null for a message without a mention.
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

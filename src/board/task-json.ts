// A task as a JSON object: the seven keys that every such board has, in their order, then whatever else there is to say. Tools
// answer with it, and files hold it.
import type { BoardTask } from '../entities/board.ts'

/** The seven keys, in the order in which they stand. */
export const sevenKeys: readonly string[] = ['id', 'subject', 'description', 'status', 'blockedBy', 'blocks', 'owner']

/** Keys beside the seven that mean something here; each stands only where it says something. */
export const furtherKeys = ['activeForm', 'priority', 'metadata', 'role', 'tags', 'parent', 'workspace'] as const

/** Keys that only the engine writes: what stands in them in a file is read by nobody. */
export const engineKeys: readonly string[] = ['canonicalStatus', 'statusReason', 'taskId', 'version']

/** What the task says of itself, without a word of the engine: the shape of an exported file. */
export function plainTask(task: BoardTask): Record<string, unknown> {
  const { id, subject, description, status, blockedBy, blocks, owner } = task
  const { activeForm, priority, metadata, role, tags, parent, workspace, extra } = task
  return {
    id,
    subject,
    description,
    status,
    blockedBy,
    blocks,
    owner,
    ...(activeForm === undefined ? {} : { activeForm }),
    ...(priority === 0 ? {} : { priority }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(role === undefined ? {} : { role }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(parent === undefined ? {} : { parent }),
    ...(workspace === undefined ? {} : { workspace }),
    ...extra,
  }
}

/** The same with the engine's own words, so that no view loses what another one tells. */
export function fullTask(task: BoardTask): Record<string, unknown> {
  const { canonicalStatus, statusReason, taskId } = task
  return { ...plainTask(task), canonicalStatus, statusReason, taskId }
}

/** Two spaces, as every file and every answer has it. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

/** A task as an answer, with the numbers of those that came free by what was done. */
export function taskText({ task, unblocked = [] }: { task: BoardTask; unblocked?: Array<{ id: number }> }): string {
  const freed = unblocked.length === 0 ? {} : { unblocked: unblocked.map(({ id }) => id) }
  return jsonText({ ...fullTask(task), ...freed })
}

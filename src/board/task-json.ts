// A task as a JSON object: the seven keys that all such boards share, in their order, then the rest. Tools return it, files hold it.
import type { BoardTask } from '../entities/board.ts'

/** The seven shared keys, in their order. */
export const sevenKeys: readonly string[] = ['id', 'subject', 'description', 'status', 'blockedBy', 'blocks', 'owner']

/** Optional keys that the board understands; each is written only when it has a value. */
export const furtherKeys = ['activeForm', 'priority', 'metadata', 'role', 'tags', 'parent', 'workspace'] as const

/** Keys that only the engine writes; their values in a file are ignored. */
export const engineKeys: readonly string[] = ['canonicalStatus', 'statusReason', 'taskId', 'version']

/** The task without the engine's keys: the shape of an exported file. */
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

/** The same with the engine's keys, so that no view loses what another shows. */
function fullTask(task: BoardTask): Record<string, unknown> {
  const { canonicalStatus, statusReason, taskId } = task
  return { ...plainTask(task), canonicalStatus, statusReason, taskId }
}

/** JSON indented by two spaces, as in every file and every answer. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

/** A task as the text of an answer, with the numbers of the tasks that the change unblocked. */
export function taskText({ task, unblocked = [] }: { task: BoardTask; unblocked?: Array<{ id: number }> }): string {
  const freed = unblocked.length === 0 ? {} : { unblocked: unblocked.map(({ id }) => id) }
  return jsonText({ ...fullTask(task), ...freed })
}

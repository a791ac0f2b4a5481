// The stored snapshot of a task's machine: version, state value and context as JSON of our own, not XState's persisted format, so
// that a newer XState changes code and not data. The row wins where the two disagree.
import { z } from 'zod'
import { type TaskRecord, type TaskStatus, taskStatuses } from '../entities/task.ts'
import { type TaskMachineContext, type taskMachine, taskMachineVersion } from './task-machine.ts'

const snapshotSchema = z.object({
  version: z.literal(taskMachineVersion),
  value: z.enum(taskStatuses),
  context: z.object({ taskId: z.string(), name: z.string(), attempt: z.int(), run: z.int() }),
})

type SnapshotSource = Pick<TaskRecord, 'id' | 'name' | 'status' | 'attempt' | 'run'>

/** What of a row the machine of its task is restored from. */
export type StoredTask = SnapshotSource & Pick<TaskRecord, 'snapshot'>

/** The text stored in the row's `snapshot`. */
export function writeSnapshot(task: SnapshotSource): string {
  return `{"version":${taskMachineVersion},"value":"${task.status}","context":{"taskId":${JSON.stringify(task.id)},"name":${JSON.stringify(task.name)},"attempt":${task.attempt},"run":${task.run}}}`
}

export type TaskSnapshot = ReturnType<typeof taskMachine.resolveState>

/** The snapshots of a machine with the lifecycle of a task. Each state is resolved once: those of tasks differ in their contexts only. */
export function snapshotsOf(
  machine: typeof taskMachine,
): (status: TaskStatus, context: TaskMachineContext) => TaskSnapshot {
  const resolved = Object.fromEntries(
    taskStatuses.map((value) => {
      const context: TaskMachineContext = { taskId: '', name: '', attempt: 1, run: 0 }
      return [value, machine.resolveState({ value, context })]
    }),
  ) as Record<TaskStatus, TaskSnapshot>
  return (status, context) => ({ ...resolved[status], context }) as TaskSnapshot
}

/** Why a stored snapshot is invalid and the row is used instead; null for a valid one. */
export function snapshotFault(task: StoredTask): string | null {
  // A valid snapshot equals the text that would be written now, so it needs no parsing.
  if (task.snapshot === writeSnapshot(task)) return null
  let stored: unknown
  try {
    stored = JSON.parse(task.snapshot)
  } catch {
    return 'it is not JSON'
  }
  const parsed = snapshotSchema.safeParse(stored)
  if (!parsed.success) return 'it is of an unknown version or shape'
  if (parsed.data.value !== task.status) return `its state is ${parsed.data.value}, that of the row is ${task.status}`
  return 'its context is not that of the row'
}

/** State and context of a task's machine: those of the stored snapshot or, where that is at fault, of the row. */
export function readSnapshot(task: StoredTask): {
  value: TaskStatus
  context: TaskMachineContext
  fault: string | null
} {
  const fault = snapshotFault(task)
  const text = fault === null ? task.snapshot : writeSnapshot(task)
  return { ...(JSON.parse(text) as Pick<TaskSnapshot, 'value' | 'context'>), fault }
}

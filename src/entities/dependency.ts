// The dependency: an edge between two tasks. `after` gates the start of a task; `wait` is a run that waits for another task.

export const dependencyKinds = ['after', 'wait'] as const
export type DependencyKind = (typeof dependencyKinds)[number]

export interface DependencyRecord {
  taskId: string
  blockerId: string
  kind: DependencyKind
  /** The journal entry that waits; empty for `after`. */
  callId: string
  /** When it stopped blocking; null while open. */
  satisfiedAt: number | null
  createdAt: number
}

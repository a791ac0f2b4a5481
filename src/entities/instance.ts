// The instance: one engine in one process. It owns the runs it started.

export interface InstanceRecord {
  id: string
  pid: number
  host: string
  startedAt: number
  /** Until when it counts as working without a sign of life. */
  leaseUntil: number
  /** When it was closed, or found dead and recovered; null while it may be alive. */
  endedAt: number | null
}

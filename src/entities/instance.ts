// The instance: one engine in one process. It owns the runs it started.

export interface InstanceRecord {
  id: string
  pid: number
  host: string
  startedAt: number
  /** When its lease ends unless it is renewed. */
  leaseUntil: number
  /** When it was closed, or was found dead and recovered; null while it may be alive. */
  endedAt: number | null
}

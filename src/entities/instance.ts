// The instance: one engine in one process. It owns the runs it started.

export interface InstanceRecord {
  id: string
  pid: number
  /** Where its pid counts: the name of its host, and what else identifies its processes (core/process-place.ts). */
  host: string
  startedAt: number
  /** When its lease ends unless it is renewed. */
  leaseUntil: number
  /** When it was closed, or was found dead and recovered; null while it may be alive. */
  endedAt: number | null
}

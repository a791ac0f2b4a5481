// Notices that another server has taken over from the one before (a failover), and whether it has what was acknowledged. A server that is promoted
// begins a new timeline. With synchronous replication it has every acknowledged commit; with asynchronous replication it may lack the last ones,
// and an engine must not go on as if they were there.
import { counted } from '../../../core/counted.ts'
import { ErrandError } from '../../../core/errors.ts'
import type { TaskEvent } from '../../../entities/event.ts'
import type { NewEvent } from '../../ledger.ts'

/** The events with so many of the latest numbers are looked for on the new server. */
const maxRemembered = 1_000
const maxNamed = 10

interface Queries {
  query(sql: string, parameters?: unknown[]): Promise<{ rows: unknown[] }>
}

export class ServerHistory {
  readonly #ledger: string
  /** That of the server in use; undefined while one is looked at. Transactions on another one wait until it has been looked at too. */
  timeline: string | undefined
  #lookedAt: string | undefined
  /** Called when another server has taken over, before what it has is known: connections to the server before are to be closed at once. */
  onTakeover: () => void = () => {}
  /** Events that are durable on the server, by their numbers: what this process has written or read last. */
  readonly #remembered = new Map<number, TaskEvent>()
  #latest = 0
  /** The highest number of an event of this process whose commit was acknowledged. */
  #acknowledged = 0

  constructor(ledger: string) {
    this.#ledger = ledger
  }

  /** The commit of these events of this process was acknowledged. */
  acknowledged(events: readonly TaskEvent[]): void {
    this.#acknowledged = Math.max(this.#acknowledged, events.at(-1)?.seq ?? 0)
    this.seen(events)
  }

  /**
   * These events were read, of any process. The latest are remembered: a reader of the past does not displace them, nor do events to which
   * a server that has taken over gives the numbers of those that it lacks.
   */
  seen(events: readonly TaskEvent[]): void {
    for (const event of events) {
      this.#latest = Math.max(this.#latest, event.seq)
      const isLate = event.seq <= this.#latest - maxRemembered
      if (!isLate && !this.#remembered.has(event.seq)) this.#remembered.set(event.seq, event)
    }
    if (this.#remembered.size <= 2 * maxRemembered) return
    for (const seq of this.#remembered.keys()) {
      if (seq <= this.#latest - maxRemembered) this.#remembered.delete(seq)
    }
  }

  /** Whether the server has an event that is later than all acknowledged ones of this process. */
  async has(connection: Queries, { taskId, type, instanceId, at }: NewEvent): Promise<boolean> {
    const { rows } = await connection.query(
      `select exists (select 1 from event where seq > $1 and task_id = $2 and type = $3 and instance_id = $4 and at = $5) as found`,
      [this.#acknowledged, taskId, type, instanceId, at],
    )
    return (rows as [{ found: boolean }])[0].found
  }

  /**
   * Looks at the server of a new connection.
   * @throws ErrandError LEDGER_UNAVAILABLE { lost } if another one has taken over that lacks events
   */
  async look(connection: Queries): Promise<void> {
    const timeline = await timelineOf(connection)
    const before = this.#lookedAt
    if (before !== undefined && timeline !== before) {
      // The server before may still commit: what it acknowledges from here on would not be looked for.
      this.timeline = undefined
      this.onTakeover()
      const lost = await this.#lostOn(connection)
      if (lost.length > 0) throw lostEvents(this.#ledger, lost)
    }
    this.#lookedAt = timeline
    this.timeline = timeline
  }

  async #lostOn(connection: Queries): Promise<TaskEvent[]> {
    // Others may be read from the new server before it answers.
    const remembered = [...this.#remembered.values()]
    const { rows } = await connection.query(
      `select event.seq, task_id, type, (select value::int8 from setting where name = 'purgedThrough') as purged
        from (select 1) as one left join event on event.seq = any($1::int8[])`,
      [remembered.map(({ seq }) => seq)],
    )
    const [{ purged }] = rows as [{ purged: number | null }]
    const found = new Map((rows as Array<{ seq: number; task_id: string; type: string }>).map((row) => [row.seq, row]))
    return remembered.filter(({ seq, taskId, type }) => {
      const there = found.get(seq)
      return seq > (purged ?? 0) && (there?.task_id !== taskId || there.type !== type)
    })
  }
}

/** The timeline on which a statement runs. */
export const currentTimeline = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'

/** Empty where the server does not say. */
async function timelineOf(connection: Queries): Promise<string> {
  try {
    const { rows } = await connection.query(`select ${currentTimeline} as timeline`)
    return (rows as [{ timeline: string }])[0].timeline
  } catch (error) {
    // feature_not_supported, undefined_function, insufficient_privilege: of servers that others operate
    if (['0A000', '42883', '42501'].includes((error as { code?: string }).code ?? '')) return ''
    throw error
  }
}

function lostEvents(ledger: string, lost: readonly TaskEvent[]): ErrandError {
  const tasks = [...new Set(lost.map(({ taskId }) => taskId))]
  const named = tasks.slice(0, maxNamed).join(', ') + (tasks.length > maxNamed ? ' and others' : '')
  return new ErrandError(
    'LEDGER_UNAVAILABLE',
    `Another server has taken over the ledger ${ledger} without ${counted(lost.length, 'committed event')}, because its replication is not synchronous. Tasks: ${named}. This engine has stopped; a new one goes on with what the server has.`,
    { ledger, lost: lost.map(({ seq, type, taskId }) => ({ seq, type, taskId })) },
  )
}

// Notices that another server has taken over from the one before (a failover), and whether it has what was acknowledged. A server that is promoted
// begins a new timeline. With synchronous replication it has every acknowledged commit; with asynchronous replication it may lack the last ones,
// and an engine must not go on as if they were there.
import { ErrandError } from '../../../core/errors.ts'
import type { TaskEvent } from '../../../entities/event.ts'
import type { NewEvent } from '../../ledger.ts'

/** Of the events that this process has written, so many are looked for on the new server. */
const maxRemembered = 1_000
const maxNamed = 10

interface Queries {
  query(sql: string, parameters?: unknown[]): Promise<{ rows: unknown[] }>
}

export class ServerHistory {
  readonly #ledger: string
  #timeline: string | undefined
  #remembered: TaskEvent[] = []
  /** Called when another server has taken over. */
  onTakeover: () => void = () => {}

  constructor(ledger: string) {
    this.#ledger = ledger
  }

  /** Where commits are: the id of a transaction means something in one of them only. */
  get timeline(): string | undefined {
    return this.#timeline
  }

  /** The commit of these events was acknowledged. */
  acknowledged(events: readonly TaskEvent[]): void {
    for (const event of events) this.#remembered.push(event)
    if (this.#remembered.length > 2 * maxRemembered) this.#remembered = this.#remembered.slice(-maxRemembered)
  }

  /** Whether the server has an event that is later than all acknowledged ones of this process. */
  async has(connection: Queries, { taskId, type, instanceId, at }: NewEvent): Promise<boolean> {
    const { rows } = await connection.query(
      `select exists (select 1 from event where seq > $1 and task_id = $2 and type = $3 and instance_id = $4 and at = $5) as found`,
      [this.#remembered.at(-1)?.seq ?? 0, taskId, type, instanceId, at],
    )
    return (rows as [{ found: boolean }])[0].found
  }

  /** Looks at a new connection. @throws ErrandError LEDGER_UNAVAILABLE { lost } if the server lacks events that were acknowledged */
  async look(connection: Queries): Promise<void> {
    const { rows } = await connection.query('select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline')
    const [{ timeline }] = rows as [{ timeline: string }]
    if (this.#timeline !== undefined && timeline !== this.#timeline) {
      const lost = await this.#lostOn(connection)
      if (lost.length > 0) throw lostEvents(this.#ledger, lost)
      this.onTakeover()
    }
    this.#timeline = timeline
  }

  async #lostOn(connection: Queries): Promise<TaskEvent[]> {
    const seqs = this.#remembered.map(({ seq }) => seq)
    const { rows } = await connection.query(
      `select event.seq, task_id, type, (select value::int8 from setting where name = 'purgedThrough') as purged
        from (select 1) as one left join event on event.seq = any($1::int8[])`,
      [seqs],
    )
    const [{ purged }] = rows as [{ purged: number | null }]
    const found = new Map((rows as Array<{ seq: number; task_id: string; type: string }>).map((row) => [row.seq, row]))
    return this.#remembered.filter(({ seq, taskId, type }) => {
      const there = found.get(seq)
      return seq > (purged ?? 0) && (there?.task_id !== taskId || there.type !== type)
    })
  }
}

function lostEvents(ledger: string, lost: readonly TaskEvent[]): ErrandError {
  const tasks = [...new Set(lost.map(({ taskId }) => taskId))]
  const named = tasks.slice(0, maxNamed).join(', ') + (tasks.length > maxNamed ? ' and others' : '')
  return new ErrandError(
    'LEDGER_UNAVAILABLE',
    `Another server has taken over the ledger ${ledger} without ${lost.length} events that had been acknowledged, because its replication is not synchronous. They concern ${named}. This engine has stopped; a new one goes on with what the server has.`,
    { ledger, lost: lost.map(({ seq, type, taskId }) => ({ seq, type, taskId })) },
  )
}

// Notices that another server has taken over from the one before (a failover), and whether it has what was acknowledged. A server that is promoted
// begins a new timeline. With synchronous replication it has every acknowledged commit; with asynchronous replication it may lack the last ones,
// and an engine must not go on as if they were there.
import { counted } from '../../core/counted.ts'
import { ErrandError } from '../../core/errors.ts'
import type { TaskEvent } from '../../entities/event.ts'
import type { NewEvent } from '../ledger.ts'

/** The events with so many of the latest numbers are looked for on the new server. */
const maxRemembered = 1_000
const maxNamed = 10
/** How many events a small ledger has. */
const small = 100

interface Queries {
  query(sql: string, parameters?: unknown[]): Promise<{ rows: unknown[] }>
}

export class ServerHistory {
  readonly #ledger: string
  /** That of the server in use; undefined while one is looked at. Transactions on another one wait until it has been looked at too. */
  timeline: string | undefined
  /** The server in use from one start to the next. After a crash or a takeover a transaction may get the id of one that was lost. */
  incarnation: string | undefined
  #lookedAt: string | undefined
  #looks = 0
  /** Called when another server has taken over, before what it has is known: connections to the previous server are to be closed at once. */
  onTakeover: () => void = () => {}
  /** Called when the server was started anew, or has recovered from a crash. */
  onRestart: () => void = () => {}
  /** Called when a transaction has begun on a server that is not the one in use. */
  onUnknownServer: () => void = () => {}
  /** Called when the ledger has twice as many events as at the last call, or as a small one. */
  onGrown: () => void = () => {}
  #size = small
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
    if (this.#latest >= 2 * this.#size) {
      this.#size = this.#latest
      this.onGrown()
    }
    if (this.#remembered.size <= 2 * maxRemembered) return
    for (const seq of this.#remembered.keys()) {
      if (seq <= this.#latest - maxRemembered) this.#remembered.delete(seq)
    }
  }

  /** Looks on the server for an event that is later than all acknowledged ones of this process. */
  async find(connection: Queries, event: NewEvent): Promise<TaskEvent | undefined> {
    const { taskId, type, instanceId, at } = event
    const { rows } = await connection.query(
      `select seq from event where seq > $1 and task_id = $2 and type = $3 and instance_id = $4 and at = $5 order by seq limit 1`,
      [this.#acknowledged, taskId, type, instanceId, at],
    )
    const [found] = rows as Array<{ seq: number }>
    return found && { ...event, seq: found.seq }
  }

  /**
   * Looks at the server of a new connection.
   * @throws ErrandError LEDGER_UNAVAILABLE { lost } if another one has taken over that lacks events
   */
  async look(connection: Queries): Promise<void> {
    const timeline = (await answerTo(connection, currentTimeline)) ?? ''
    // A crash takes the statistics with it.
    const started = await answerTo(
      connection,
      `concat_ws(' ', pg_postmaster_start_time(), (select stats_reset from pg_stat_bgwriter))`,
    )
    const incarnation = `${timeline} ${started ?? ++this.#looks}`
    const before = this.#lookedAt
    if (before !== undefined && incarnation !== this.incarnation) this.onRestart()
    if (before !== undefined && timeline !== before) {
      // The previous server may still commit: what it acknowledges from here on would not be looked for.
      this.timeline = undefined
      this.onTakeover()
      const lost = await this.#lostOn(connection)
      if (lost.length > 0) throw lostEvents(this.#ledger, lost)
    }
    this.#lookedAt = timeline
    this.timeline = timeline
    this.incarnation = incarnation
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

/** Undefined where the server does not say. */
async function answerTo(connection: Queries, expression: string): Promise<string | undefined> {
  try {
    const { rows } = await connection.query(`select ${expression} as answer`)
    return (rows as [{ answer: string }])[0].answer
  } catch (error) {
    // feature_not_supported, undefined_function or table or column, insufficient_privilege: of servers that others operate
    if (['0A000', '42883', '42P01', '42703', '42501'].includes((error as { code?: string }).code ?? ''))
      return undefined
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

// Rules about the audit trail of a task: how it begins, and the states that its events report.
import { jsonObject } from '../../core/json.ts'
import type { TaskStatus } from '../../entities/task.ts'
import { eventBetween } from '../../machines/task-edges.ts'
import { taskEdges } from '../../machines/task-table.ts'
import type { LedgerSnapshot } from '../snapshot.ts'
import { sql } from '../statement.ts'
import { type Check, type Findings, isKept, pages, type Rule, statementCheck } from './rule.ts'

const beginning = statementCheck(
  {
    name: 'history-beginning',
    explains:
      'The first event of a task reports its creation, because events are only added and leave the ledger only with their task.',
  },
  // Grouped: PostgreSQL would look for the first event of each task among all events.
  sql`select task.id as subject, opening.type
    from task
    left join (select task_id, min(seq) as seq from event group by task_id) as first_event on first_event.task_id = task.id
    left join event as opening on opening.seq = first_event.seq
    where opening.type is null or opening.type <> 'task.created'`,
  ({ type }) => (type === null ? 'It has no event.' : `Its first event is ${type}.`),
)

const lastStatus: Rule = {
  name: 'last-event',
  explains: 'The last event of a task reports the status of its row, because both are written in one transaction.',
}
const edges: Rule = {
  name: 'event-order',
  explains:
    'Each event of a task reports a status that the one before allows, because a status changes only along an edge of the table of transitions.',
}

interface EventRow {
  task: string
  seq: number
  type: string
  data: string
  status: TaskStatus
}

async function readHistory(ledger: LedgerSnapshot, findings: Findings): Promise<void> {
  const events = pages<EventRow>(
    ledger,
    // CROSS JOIN makes SQLite begin with the events, in the order of their index.
    (
      hole,
    ) => sql`select event.task_id as task, event.seq, event.type, event.data, task.status from event cross join task
      where task.id = event.task_id and (event.task_id, event.seq) > (${hole('task')}, ${hole('seq')})
        and ${isKept(sql`event.task_id`)}
      order by event.task_id, event.seq limit ${hole('limit')}`,
    { task: '', seq: 0 },
  )
  let last: EventRow | undefined
  let reported: TaskStatus | undefined
  const end = (): void => {
    if (last === undefined || reported === undefined || reported === last.status) return
    findings.add(
      lastStatus,
      last.task,
      `It is ${last.status}, and its last event (${describe(last)}) reports ${reported}.`,
    )
  }
  for await (const page of events) {
    for (const event of page) {
      if (event.task !== last?.task) {
        end()
        reported = undefined
      }
      const status = statusIn(event.data)
      const before = reported
      if (before !== undefined && status !== undefined && isImpossible(before, status)) {
        findings.add(
          edges,
          event.task,
          `Event ${describe(event)} reports ${status}, and the one before it reports ${before}.`,
        )
      }
      reported = status ?? before
      last = event
    }
  }
  end()
}

const describe = ({ seq, type }: EventRow): string => `${seq}, ${type}`

function isImpossible(before: TaskStatus, status: TaskStatus): boolean {
  if (before === status) return false
  return taskEdges[before] === undefined || eventBetween(before, status) === undefined
}

/** An event that cannot be read is a violation of its own. */
function statusIn(data: string): TaskStatus | undefined {
  const status = jsonObject(data)?.['status']
  return typeof status === 'string' ? (status as TaskStatus) : undefined
}

export const historyChecks: readonly Check[] = [beginning, { rules: [lastStatus, edges], run: readHistory }]

// Rules about dependencies: what blocks a task, and which tasks can no longer move.
import { counted } from '../../core/counted.ts'
import type { LedgerSnapshot } from '../snapshot.ts'
import { queryRows, type RawSql, sql } from '../statement.ts'
import { IntegerGraph } from './integer-graph.ts'
import { type Check, type Findings, pages, type Rule, statementCheck } from './rule.ts'

/** A task that may still run: by itself, or once it is retried. Of others the counts are not kept up to date. */
const mayRun = sql`task.status not in ('completed', 'canceled') and task.deleted_at is null`

const openBlockers = statementCheck(
  {
    name: 'open-blockers',
    explains: 'A task counts its open dependencies, because it is free to run when that number is 0.',
  },
  sql`select task.id as subject, task.open_blockers as says, coalesce(edges.found, 0) as found
    from task left join (
      select task_id, count(*) as found from dependency where kind = 'after' and satisfied_at is null group by task_id
    ) as edges on edges.task_id = task.id
    where ${mayRun} and task.open_blockers <> coalesce(edges.found, 0)`,
  ({ says, found }) =>
    `It counts ${counted(Number(says), 'open dependency', 'open dependencies')}, and it has ${found}.`,
)

/** The key is found as a key alone: within a text of the policy the quotes are escaped. */
const isNotBlocking = sql`(task.policy like '%"onDependencyFailure":"ignore"%' or task.policy like '%"onDependencyFailure":"cancel"%')`

const endedBlockers = statementCheck(
  {
    name: 'ended-dependency',
    explains:
      'A dependency or wait that has ended is not open, because the task that comes after it would wait for an end that is over.',
  },
  sql`select task.id as subject, blocker.id as blocker, blocker.status, blocker.deleted_at as deleted, edge.kind
    from dependency as edge
    join task on task.id = edge.task_id
    join task as blocker on blocker.id = edge.blocker_id
    where edge.satisfied_at is null and ${mayRun} and (
      (edge.kind = 'wait' and blocker.completed_at is not null)
      or (edge.kind = 'after' and (blocker.status = 'completed' or blocker.deleted_at is not null
        or (task.completed_at is null and blocker.status in ('failed', 'canceled') and ${isNotBlocking}))))`,
  ({ blocker, status, deleted, kind }) =>
    `It still ${kind === 'wait' ? 'waits for' : 'comes after'} ${blocker}, which ${deleted === null ? `is ${status}` : 'is deleted'}${
      kind === 'after' && deleted === null && status !== 'completed'
        ? ', and its policy is not to be blocked by that'
        : ''
    }.`,
)

const earlyEdges = statementCheck(
  {
    name: 'early-dependency',
    explains:
      'A dependency is satisfied only after its task has ended, because the task that comes after it may need its result.',
  },
  sql`select edge.task_id as subject, blocker.id as blocker, blocker.status
    from dependency as edge join task as blocker on blocker.id = edge.blocker_id
    where edge.kind = 'after' and edge.satisfied_at is not null
      and blocker.completed_at is null and blocker.deleted_at is null and blocker.attempt = 1
      and blocker.generation = 1`,
  ({ blocker, status }) => `Its dependency on ${blocker} is satisfied, and that task is ${status} and has never ended.`,
)

const cycleRule: Rule = {
  name: 'dependency-cycle',
  explains:
    'No task comes after itself, directly or through others, because none of the tasks of such a cycle could ever run.',
}

interface Edge {
  task: string
  blocker: string
  call: string
  from: number
  to: number
}

async function findCycles(ledger: LedgerSnapshot, findings: Findings): Promise<void> {
  const graph = new IntegerGraph()
  const edges = pages<Edge>(
    ledger,
    // CROSS JOIN makes SQLite begin with the edges, in the order of their key.
    (
      hole,
    ) => sql`select edge.task_id as task, edge.blocker_id as blocker, edge.call_id as call, task.seq as "from", upper.seq as "to"
      from dependency as edge cross join task cross join task as upper
      where task.id = edge.task_id and upper.id = edge.blocker_id and edge.kind = 'after' and edge.satisfied_at is null
        and (edge.task_id, edge.blocker_id, edge.call_id) > (${hole('task')}, ${hole('blocker')}, ${hole('call')})
      order by edge.task_id, edge.blocker_id, edge.call_id limit ${hole('limit')}`,
    { task: '', blocker: '', call: '' },
  )
  for await (const page of edges) for (const { from, to } of page) graph.add(from, to)
  const cyclic = graph.cyclic()
  const others = counted(cyclic.length - 1, 'other task')
  for (const seq of cyclic.slice(0, findings.limit)) {
    const query = ledger.dialect.db.selectFrom('task').select('id').where('seq', '=', seq)
    const [found] = await ledger.run(queryRows<{ id: string }>(query.compile()))
    findings.add(
      cycleRule,
      String(found?.id),
      `It comes after itself through its open dependencies, in a circle with ${others}.`,
    )
  }
  findings.addUnlisted(cycleRule, Math.max(0, cyclic.length - findings.limit))
}

const cycles: Check = { rules: [cycleRule], run: findCycles }

/** A task that will not complete without help: it has failed, was canceled, or is stuck itself. */
const isBroken = (task: RawSql) =>
  sql`(${task}.status in ('failed', 'canceled') or (${task}.stuck_by is not null and ${task}.completed_at is null))`

const awaitsChildren = sql`(task.status = 'waiting' and coalesce(task.status_reason, '') = 'children')`

const stuck = statementCheck(
  {
    name: 'stuck-task',
    explains:
      'An open task names the failed, canceled or stuck task that keeps it from moving exactly while there is one, because a group fails when all of its tasks are stuck.',
  },
  sql`select task.id as subject, task.stuck_by as says, (
      select min(edge.blocker_id) from dependency as edge join task as blocker on blocker.id = edge.blocker_id
        where edge.task_id = task.id and edge.kind = 'after' and edge.satisfied_at is null
          and blocker.deleted_at is null and ${isBroken(sql`blocker`)}) as found
    from task
    where task.completed_at is null and task.deleted_at is null and task.is_group = 0
      and (task.stuck_by is not null or task.open_blockers > 0)
      and case when task.stuck_by is null
        then exists (select 1 from dependency as edge join task as blocker on blocker.id = edge.blocker_id
          where edge.task_id = task.id and edge.kind = 'after' and edge.satisfied_at is null
            and blocker.deleted_at is null and ${isBroken(sql`blocker`)})
        else not exists (select 1 from task as culprit where culprit.id = task.stuck_by and ${isBroken(sql`culprit`)}
          and (${awaitsChildren} or exists (select 1 from dependency as edge where edge.task_id = task.id
            and edge.blocker_id = culprit.id and edge.kind = 'after' and edge.satisfied_at is null)))
        end`,
  ({ says, found }) =>
    says === null
      ? `It comes after ${found}, which will not complete, and it does not count as stuck.`
      : `It counts as stuck behind ${says}, which does not keep it from moving.`,
)

export const graphChecks: readonly Check[] = [openBlockers, endedBlockers, earlyEdges, cycles, stuck]

// The SQL of both dialects contains no text of users.
import { describe, expect, it } from 'vitest'
import type { Op, Tx } from '../../src/ledger/ledger.ts'
import { migrationTexts } from '../../src/ledger/migrations/migrations.ts'
import { postgresDialect } from '../../src/ledger/postgres/dialect.ts'
import { sqliteDialect } from '../../src/ledger/sqlite/dialect.ts'
import type { Request } from '../../src/ledger/statement.ts'
import { createTables } from '../../src/ledger/tables/tables.ts'
import {
  branchRow,
  callRow,
  consolidationRow,
  decisionRow,
  edgeRow,
  eventRow,
  factRow,
  messageRow,
  objectiveRow,
  observationRow,
  runRow,
  stintRow,
  taskRow,
  teamRow,
} from './factories.ts'

const hostile = `x'); drop table task; --`

/** The requests of an operation whose every reply is empty. */
function requestsOf(op: Op<unknown>): Request[] {
  const seen: Request[] = []
  for (let next = op.next(); !next.done; ) {
    const request = next.value as Request
    seen.push(request)
    next = op.next(request.want === 'rows' ? [] : 1)
  }
  return seen
}

const operations: Record<string, (tx: Tx) => Op<unknown>> = {
  'task.get': (tx) => tx.task.get(hostile),
  'task.getByKey': (tx) => tx.task.getByKey(hostile),
  'task.findByPrefix': (tx) => tx.task.findByPrefix(hostile, 1),
  'task.ready': (tx) => tx.task.ready(hostile, hostile, 1),
  'task.anyAwake': (tx) => tx.task.anyAwake([hostile], [hostile], { rootKeys: [hostile], rootKeyPrefixes: [hostile] }),
  'task.list': (tx) =>
    tx.task.list(
      {
        executor: hostile,
        parentId: hostile,
        keyPrefix: hostile,
        statuses: [hostile as never],
        metadata: { [hostile]: hostile },
      },
      1,
    ),
  'task.count': (tx) =>
    tx.task.count({ keyPrefix: 'k', metadata: { [hostile]: hostile }, tags: [hostile], type: hostile }),
  'task.oldest': (tx) => tx.task.oldest({ ids: [hostile], owner: hostile, failedWith: hostile }, 1, 0),
  'task.idsBelow': (tx) => tx.task.idsBelow(hostile),
  'task.insert': (tx) =>
    tx.task.insert(
      taskRow({
        id: hostile,
        key: hostile,
        name: hostile,
        goal: hostile,
        description: hostile,
        status: hostile as never,
        statusReason: hostile,
        executor: hostile,
        owner: hostile,
        parentId: hostile,
        snapshot: hostile,
        input: hostile,
        result: hostile,
        error: { code: hostile, message: hostile },
        metadata: { [hostile]: hostile },
        policy: { [hostile]: hostile } as never,
      }),
    ),
  'task.children': (tx) => tx.task.children(hostile),
  'task.subtree': (tx) => tx.task.subtree(hostile),
  'task.ancestors': (tx) => tx.task.ancestors(hostile),
  'task.childFacts': (tx) => tx.task.childFacts(hostile),
  'task.setStuck': (tx) => tx.task.setStuck(hostile, hostile),
  'dependency.stuckBehind': (tx) => tx.dependency.stuckBehind(hostile),
  'dependency.insert': (tx) => tx.dependency.insert(edgeRow({ taskId: hostile, blockerId: hostile, callId: hostile })),
  'dependency.path': (tx) => tx.dependency.path([hostile], new Set(['end'])),
  'run.insert': (tx) => tx.run.insert(runRow({ taskId: hostile, instanceId: hostile })),
  'call.insert': (tx) =>
    tx.call.insert(
      callRow({ id: hostile, taskId: hostile, name: hostile, ident: hostile, params: { [hostile]: hostile } }),
    ),
  'message.append': (tx) => tx.message.append(messageRow({ id: hostile, taskId: hostile, content: hostile })),
  'event.append': (tx) =>
    tx.event.append(eventRow({ taskId: hostile, instanceId: hostile, data: { [hostile]: hostile } })),
  'event.after': (tx) => tx.event.after(0, 1, hostile),
  'instance.insert': (tx) =>
    tx.instance.insert({ id: hostile, pid: 1, host: hostile, startedAt: 0, leaseUntil: 0, endedAt: null }),
  'task.claimable': (tx) => tx.task.claimable({ role: hostile, parentId: hostile, tags: [hostile] }),
  'task.lanes': (tx) => tx.task.lanes(hostile),
  'task.openInLane': (tx) => tx.task.openInLane(hostile),
  'setting.put': (tx) => tx.setting.put(hostile, hostile),
  'branch.insert': (tx) => tx.branch.insert(branchRow({ name: hostile, description: hostile, taskId: hostile })),
  'branch.list': (tx) => tx.branch.list({ parent: hostile, taskId: hostile }, 1, 0),
  'branch.lineage': (tx) => tx.branch.lineage(hostile),
  'observation.insert': (tx) =>
    tx.observation.insert(observationRow({ id: hostile, branch: hostile, content: hostile })),
  'observation.list': (tx) =>
    tx.observation.list({ branch: hostile, types: [hostile as never], agentId: hostile }, 1, 9),
  'observation.pending': (tx) => tx.observation.pending(hostile, hostile, 1),
  'fact.insert': (tx) => tx.fact.insert(factRow({ id: hostile, text: hostile, category: hostile })),
  'fact.findByPrefix': (tx) => tx.fact.findByPrefix(hostile, 1),
  'fact.countActive': (tx) => tx.fact.countActive([hostile]),
  'fact.list': (tx) => tx.fact.list({ branches: [hostile], category: hostile, sessionId: hostile }, 1, 9),
  'fact.candidates': (tx) => tx.fact.candidates('main', [hostile], 0.5),
  'fact.sameSubject': (tx) => tx.fact.sameSubject(hostile, hostile),
  'fact.search': (tx) => tx.fact.search([hostile], [hostile], 1),
  'fact.keepVector': (tx) => tx.fact.keepVector(hostile, hostile, hostile),
  'consolidation.insert': (tx) => tx.consolidation.insert(consolidationRow({ id: hostile, summary: hostile })),
  'consolidation.list': (tx) =>
    tx.consolidation.list({ branch: hostile, agentId: hostile, type: hostile as never }, 1, 9),
  'consolidation.decisionsNaming': (tx) => tx.consolidation.decisionsNaming(hostile, 1),
  'consolidation.decide': (tx) =>
    tx.consolidation.decide(decisionRow({ consolidationId: hostile, factId: hostile, note: hostile })),
  'team.insert': (tx) => tx.team.insert(teamRow({ taskId: hostile, branch: hostile, durableCategories: [hostile] })),
  'team.list': (tx) => tx.team.list({ type: hostile, statuses: [hostile as never] }, 1, 0),
  'team.insertObjective': (tx) => tx.team.insertObjective(objectiveRow({ taskId: hostile, description: hostile })),
  'team.insertStint': (tx) =>
    tx.team.insertStint(stintRow({ taskId: hostile, agentId: hostile, branch: hostile, role: hostile })),
  'cascade.cancel': (tx) => tx.cascade.cancel({ root: hostile, reason: hostile, at: 0, instanceId: hostile }),
  'cascade.hide': (tx) => tx.cascade.hide({ root: hostile, at: 0, instanceId: hostile }),
  'cascade.edgesOut': (tx) => tx.cascade.edgesOut({ type: hostile as never, first: 0, last: 0 }),
}

describe.each([sqliteDialect, postgresDialect])('statements on $kind', (dialect) => {
  it.each(Object.keys(operations))(
    'X-043 text of users is a bound value and not part of the statement of %s',
    (name) => {
      const requests = requestsOf((operations[name] as (tx: Tx) => Op<unknown>)(createTables(dialect)))
      expect(requests.length).toBeGreaterThan(0)
      for (const request of requests) expect(request.sql).not.toContain('drop table')
      expect(requests.some((request) => request.parameters.some((value) => String(value).includes('drop table')))).toBe(
        true,
      )
    },
  )
})

it('the check for text of users in statements finds a planted one', () => {
  const [request] = requestsOf(
    (function* (): Op<unknown> {
      return yield {
        sql: `select * from task where name = '${hostile}'`,
        parameters: [],
        want: 'rows',
      } satisfies Request
    })(),
  )
  expect(request?.sql).toContain('drop table')
})

describe('the two dialects', () => {
  it('both dialects create the same tables, indexes and triggers, in the same order', () => {
    const names = (texts: string[]) =>
      texts.flatMap(
        (text) => /^create (?:virtual table|table|unique index|index|trigger) "?(\w+)/.exec(text)?.[1] ?? [],
      )
    // PostgreSQL needs an index where SQLite's table is one, and SQLite creates a table twice to alter it.
    const ofPostgres = names(migrationTexts(postgresDialect, 0)).filter((name) => name !== 'fact_text_words')
    expect([...new Set(ofPostgres)]).toEqual([...new Set(names(migrationTexts(sqliteDialect, 0)))])
  })
})

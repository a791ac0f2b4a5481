// What reaches a database: SQL that no user's text is part of, on either dialect.
import { describe, expect, it } from 'vitest'
import { postgresDialect } from '../../src/ledger/dialects/postgres/dialect.ts'
import { sqliteDialect } from '../../src/ledger/dialects/sqlite/dialect.ts'
import type { Op, Tx } from '../../src/ledger/ledger.ts'
import { migrationTexts } from '../../src/ledger/migrations/migrations.ts'
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
} from '../../src/testing/index.ts'

const poison = `x'); drop table task; --`

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

const poisoned: Record<string, (tx: Tx) => Op<unknown>> = {
  'task.get': (tx) => tx.task.get(poison),
  'task.getByKey': (tx) => tx.task.getByKey(poison),
  'task.findByPrefix': (tx) => tx.task.findByPrefix(poison, 1),
  'task.ready': (tx) => tx.task.ready(poison, poison, 1),
  'task.anyAwake': (tx) => tx.task.anyAwake([poison], [poison], { rootKeys: [poison], rootKeyPrefixes: [poison] }),
  'task.list': (tx) =>
    tx.task.list(
      {
        executor: poison,
        parentId: poison,
        keyPrefix: poison,
        statuses: [poison as never],
        metadata: { [poison]: poison },
      },
      1,
    ),
  'task.count': (tx) => tx.task.count({ keyPrefix: 'k', metadata: { [poison]: poison }, tags: [poison], type: poison }),
  'task.oldest': (tx) => tx.task.oldest({ ids: [poison], owner: poison, failedWith: poison }, 1, 0),
  'task.idsBelow': (tx) => tx.task.idsBelow(poison),
  'task.insert': (tx) =>
    tx.task.insert(
      taskRow({
        id: poison,
        key: poison,
        name: poison,
        goal: poison,
        description: poison,
        status: poison as never,
        statusReason: poison,
        executor: poison,
        owner: poison,
        parentId: poison,
        snapshot: poison,
        input: poison,
        result: poison,
        error: { code: poison, message: poison },
        metadata: { [poison]: poison },
        policy: { [poison]: poison } as never,
      }),
    ),
  'task.children': (tx) => tx.task.children(poison),
  'task.subtree': (tx) => tx.task.subtree(poison),
  'task.ancestors': (tx) => tx.task.ancestors(poison),
  'task.childFacts': (tx) => tx.task.childFacts(poison),
  'task.setStuck': (tx) => tx.task.setStuck(poison, poison),
  'dependency.stuckBehind': (tx) => tx.dependency.stuckBehind(poison),
  'dependency.insert': (tx) => tx.dependency.insert(edgeRow({ taskId: poison, blockerId: poison, callId: poison })),
  'dependency.path': (tx) => tx.dependency.path([poison], new Set(['end'])),
  'run.insert': (tx) => tx.run.insert(runRow({ taskId: poison, instanceId: poison })),
  'call.insert': (tx) =>
    tx.call.insert(callRow({ id: poison, taskId: poison, name: poison, ident: poison, params: { [poison]: poison } })),
  'message.append': (tx) => tx.message.append(messageRow({ id: poison, taskId: poison, content: poison })),
  'event.append': (tx) => tx.event.append(eventRow({ taskId: poison, instanceId: poison, data: { [poison]: poison } })),
  'event.after': (tx) => tx.event.after(0, 1, poison),
  'instance.insert': (tx) =>
    tx.instance.insert({ id: poison, pid: 1, host: poison, startedAt: 0, leaseUntil: 0, endedAt: null }),
  'task.claimable': (tx) => tx.task.claimable({ role: poison, parentId: poison, tags: [poison] }),
  'task.lanes': (tx) => tx.task.lanes(poison),
  'task.openInLane': (tx) => tx.task.openInLane(poison),
  'setting.put': (tx) => tx.setting.put(poison, poison),
  'branch.insert': (tx) => tx.branch.insert(branchRow({ name: poison, description: poison, taskId: poison })),
  'branch.list': (tx) => tx.branch.list({ parent: poison, taskId: poison }, 1, 0),
  'branch.lineage': (tx) => tx.branch.lineage(poison),
  'observation.insert': (tx) => tx.observation.insert(observationRow({ id: poison, branch: poison, content: poison })),
  'observation.list': (tx) => tx.observation.list({ branch: poison, types: [poison as never], agentId: poison }, 1, 9),
  'observation.pending': (tx) => tx.observation.pending(poison, poison, 1),
  'fact.insert': (tx) => tx.fact.insert(factRow({ id: poison, text: poison, category: poison })),
  'fact.findByPrefix': (tx) => tx.fact.findByPrefix(poison, 1),
  'fact.countActive': (tx) => tx.fact.countActive([poison]),
  'fact.list': (tx) => tx.fact.list({ branches: [poison], category: poison, sessionId: poison }, 1, 9),
  'fact.candidates': (tx) => tx.fact.candidates('main', [poison], 0.5),
  'fact.sameSubject': (tx) => tx.fact.sameSubject(poison, poison),
  'fact.search': (tx) => tx.fact.search([poison], [poison], 1),
  'fact.keepVector': (tx) => tx.fact.keepVector(poison, poison, poison),
  'consolidation.insert': (tx) => tx.consolidation.insert(consolidationRow({ id: poison, summary: poison })),
  'consolidation.list': (tx) => tx.consolidation.list({ branch: poison, agentId: poison, type: poison as never }, 1, 9),
  'consolidation.decisionsNaming': (tx) => tx.consolidation.decisionsNaming(poison, 1),
  'consolidation.decide': (tx) =>
    tx.consolidation.decide(decisionRow({ consolidationId: poison, factId: poison, note: poison })),
  'team.insert': (tx) => tx.team.insert(teamRow({ taskId: poison, branch: poison, durableCategories: [poison] })),
  'team.list': (tx) => tx.team.list({ type: poison, statuses: [poison as never] }, 1, 0),
  'team.insertObjective': (tx) => tx.team.insertObjective(objectiveRow({ taskId: poison, description: poison })),
  'team.insertStint': (tx) =>
    tx.team.insertStint(stintRow({ taskId: poison, agentId: poison, branch: poison, role: poison })),
  'cascade.cancel': (tx) => tx.cascade.cancel({ root: poison, reason: poison, at: 0, instanceId: poison }),
  'cascade.hide': (tx) => tx.cascade.hide({ root: poison, at: 0, instanceId: poison }),
  'cascade.edgesOut': (tx) => tx.cascade.edgesOut({ type: poison as never, first: 0, last: 0 }),
}

describe.each([sqliteDialect, postgresDialect])(
  'X-043 on $kind, user text is a value and never part of a statement:',
  (dialect) => {
    it.each(Object.keys(poisoned))('%s', (name) => {
      const requests = requestsOf((poisoned[name] as (tx: Tx) => Op<unknown>)(createTables(dialect)))
      expect(requests.length).toBeGreaterThan(0)
      for (const request of requests) expect(request.sql).not.toContain('drop table')
      expect(requests.some((request) => request.parameters.some((value) => String(value).includes('drop table')))).toBe(
        true,
      )
    })
  },
)

it('a statement that user text is part of would be found', () => {
  const [request] = requestsOf(
    (function* (): Op<unknown> {
      return yield {
        sql: `select * from task where name = '${poison}'`,
        parameters: [],
        want: 'rows',
      } satisfies Request
    })(),
  )
  expect(request?.sql).toContain('drop table')
})

describe('the two dialects', () => {
  it('have the same migrations, statement for statement up to the spelling', () => {
    const names = (texts: string[]) =>
      texts.flatMap(
        (text) => /^create (?:virtual table|table|unique index|index|trigger) "?(\w+)/.exec(text)?.[1] ?? [],
      )
    // Where SQLite has a table that is an index, PostgreSQL has both; a table that SQLite must make anew, it makes twice.
    const ofPostgres = names(migrationTexts(postgresDialect, 0)).filter((name) => name !== 'fact_text_words')
    expect([...new Set(ofPostgres)]).toEqual([...new Set(names(migrationTexts(sqliteDialect, 0)))])
  })
})

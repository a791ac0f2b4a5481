// Rules about memory: branches, facts, and the record of how they came to be.
import type { LedgerSnapshot } from '../snapshot.ts'
import { queryRows, type RawSql, sql } from '../statement.ts'
import { IntegerGraph } from './integer-graph.ts'
import { type Check, type Findings, pages, type Rule, statementCheck } from './rule.ts'

const branchTree = statementCheck(
  {
    name: 'branch-tree',
    explains: 'Each branch of memory is below main, because a branch sees the facts of those above it up to main.',
  },
  sql`with recursive known (name) as (
      select name from branch where parent is null
      union select branch.name from known cross join branch where branch.parent = known.name)
    select branch.name as subject, branch.parent from branch where branch.name not in (select name from known)`,
  ({ parent }) => `It is below ${parent}, and not below main: the branches above it form a circle.`,
)

const successor: Rule = {
  name: 'fact-successor',
  explains:
    'A superseded fact leads, through its successors on its branch, to one that holds, because otherwise what it said would be lost.',
}

const successors = statementCheck(
  successor,
  sql`select fact.id as subject, fact.branch, fact.successor_id as successor, other.branch as found
    from fact left join fact as other on other.id = fact.successor_id
    where fact.status = 'superseded' and (other.id is null or other.branch <> fact.branch)`,
  ({ branch, successor: named, found }) =>
    found === null
      ? `Its successor ${named} does not exist.`
      : `It is on the branch ${branch}, and its successor ${named} is on ${found}.`,
)

interface SuccessorRow {
  seq: number
  next: number
}

async function findCircles(ledger: LedgerSnapshot, findings: Findings): Promise<void> {
  const graph = new IntegerGraph()
  const superseded = pages<SuccessorRow>(
    ledger,
    (hole) => sql`select fact.seq, other.seq as next from fact cross join fact as other
      where other.id = fact.successor_id and fact.status = 'superseded' and fact.seq > ${hole('seq')}
      order by fact.seq limit ${hole('limit')}`,
    { seq: 0 },
  )
  for await (const page of superseded) for (const { seq, next } of page) graph.add(seq, next)
  for (const seq of graph.cyclic()) {
    const query = ledger.dialect.db.selectFrom('fact').select(['id', 'successor_id as next']).where('seq', '=', seq)
    const [found] = await ledger.run(queryRows<{ id: string; next: string }>(query.compile()))
    findings.add(successor, String(found?.id), `Its successor ${found?.next} leads back to it, so none of them holds.`)
  }
}

const circles: Check = { rules: [successor], run: findCircles }

/** Rows that name a row of another table which does not exist. */
const missing = (place: string, table: RawSql, subject: RawSql, id: RawSql, others: RawSql) =>
  sql`select ${subject} as subject, cast(${place} as text) as place, ${id} as id
    from ${table} left join ${others} as named on named.id = ${id} where ${id} is not null and named.id is null`

const [ofFact, ofDecision] = [
  [sql`fact`, sql`fact.id`],
  [sql`decision`, sql`decision.consolidation_id`],
] as const
const references = statementCheck(
  {
    name: 'memory-references',
    explains:
      'What a fact, an observation, a decision or a team names in memory exists, because memory is kept with its history and nothing of it is deleted.',
  },
  sql`${missing('observation of the fact', ...ofFact, sql`fact.observation_id`, sql`observation`)}
    union all ${missing('fact that the fact was merged into', ...ofFact, sql`fact.merged_to`, sql`fact`)}
    union all ${missing('fact that the fact was copied from', ...ofFact, sql`fact.origin_id`, sql`fact`)}
    union all ${missing('consolidation of the observation', sql`observation`, sql`observation.id`, sql`observation.consolidated_by`, sql`consolidation`)}
    union all ${missing('fact of a decision', ...ofDecision, sql`decision.fact_id`, sql`fact`)}
    union all ${missing('other fact of a decision', ...ofDecision, sql`decision.other_id`, sql`fact`)}
    union all ${missing('observation of a decision', ...ofDecision, sql`decision.observation_id`, sql`observation`)}
    union all ${missing('checkpoint of the team', sql`team`, sql`team.task_id`, sql`team.checkpoint_id`, sql`consolidation`)}
    union all ${missing('merge of the team', sql`team`, sql`team.task_id`, sql`team.merge_id`, sql`consolidation`)}`,
  ({ place, id }) => `The ${place} is ${id}, which does not exist.`,
)

const origin = statementCheck(
  {
    name: 'fact-origin',
    explains: 'A fact is younger than the one that it was copied from, because it was copied from an existing one.',
  },
  sql`select fact.id as subject, origin.id as origin from fact join fact as origin on origin.id = fact.origin_id
    where origin.seq >= fact.seq`,
  ({ origin: older }) => `It was copied from ${older}, which is not older.`,
)

const consumed = statementCheck(
  {
    name: 'consumed-observation',
    explains:
      'An observation that was consolidated led to a decision about a fact, because otherwise what was seen would be lost.',
  },
  sql`select observation.id as subject, observation.consolidated_by as run
    from observation left join decision on decision.observation_id = observation.id
      and decision.consolidation_id = observation.consolidated_by
    where observation.consolidated_by is not null and decision.seq is null`,
  ({ run }) => `It was consolidated by ${run}, which decided nothing about it.`,
)

export const memoryChecks: readonly Check[] = [branchTree, successors, circles, references, origin, consumed]

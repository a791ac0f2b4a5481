// The fact table. The text of a fact never changes; an active fact is also found by its words, its subject and its vectors.
import { summaryCategory } from '../../../entities/confidence.ts'
import { subjectOf } from '../../../entities/disagreement.ts'
import { wordsOf } from '../../../entities/fact-tokens.ts'
import { type FactRecord, type FactStatus, factStatuses } from '../../../entities/memory.ts'
import type { FactFilter, Op, Tx } from '../../ledger.ts'
import { among, type Dialect, insertSeq, listed, rows, type StatementCompiler, sql, write } from '../../statement.ts'
import { defineTable, flag, json, plain, serial, statementsOf } from '../../table-mapping.ts'
import { createFactSearch, rankedByBm25 } from './fact-search.ts'
import { createFactWords, indexKey } from './fact-word.ts'

/** The number of found texts that are ranked by the whole formula: reading more would cost more than it improves. */
const minRanked = 100

/** A value that is measured repeatedly has a fact for each measurement; the latest ones are enough to show that they differ. */
const maxOfSubject = 100

/** What `save` writes: everything that changes while a fact is active. */
const stateFields = {
  confidence: plain,
  statedBy: json,
  status: plain,
  successorId: plain,
  disputed: flag,
  verdict: plain,
  comparedBy: plain,
  mergedTo: plain,
  mergedConfidence: plain,
  updatedAt: plain,
}

export const facts = defineTable('fact', {
  seq: serial,
  id: plain,
  branch: plain,
  text: plain,
  category: plain,
  sessionId: plain,
  taskId: plain,
  agentId: plain,
  observationId: plain,
  originId: plain,
  createdAt: plain,
  ...stateFields,
})

/** The conditions of the partial indexes, verbatim, because the planner uses the indexes only then. */
export const isComparable = sql<boolean>`status = 'active' and category <> 'summary'`
const isUnmerged = sql<boolean>`merged_confidence is distinct from confidence`

const isIndexed = (fact: Pick<FactRecord, 'status' | 'category'>): boolean =>
  fact.status === 'active' && fact.category !== summaryCategory

/** Facts are written by steps that run alone. */
const unshared = { reads: 'unshared' } as const

export function createFactTable(compiler: StatementCompiler): Tx['fact'] {
  const { dialect } = compiler
  const wordIndex = createFactWords(compiler)
  const textIndex = createFactSearch(compiler)

  const { finds, insert, saves } = statementsOf(compiler, facts, unshared)
  const { selectByPrefix, selectBySeqs, selectActive, countActive, selectSummary } = factStatements(compiler)
  const { selectSameSubject, selectUncompared, selectUnmerged } = comparisonStatements(compiler)
  const { selectVectors, upsertVector, deleteVectors } = vectorStatements(compiler)
  const insertFact = insert(undefined, (hole) => ({ subject: hole('subject') }))
  const saveState = saves(stateFields, ['seq'])
  function* bySeqs(seqs: readonly number[]): Op<FactRecord[]> {
    return seqs.length === 0 ? [] : yield* facts.list(selectBySeqs, { seqs: JSON.stringify(seqs) })
  }

  return {
    get: finds('id'),
    findByPrefix: (prefix, limit) => facts.list(selectByPrefix, { from: prefix, to: `${prefix}\u{10ffff}`, limit }),
    *list(filter, limit, before) {
      const found: FactRecord[] = []
      for (const branch of new Set(filter.branches)) {
        for (const status of filter.status === undefined ? factStatuses : [filter.status]) {
          for (const fact of yield* latestOf(dialect, branch, status, filter, limit, before)) found.push(fact)
        }
      }
      return found.sort((a, b) => b.seq - a.seq).slice(0, limit)
    },
    active: (branch, after, limit) => facts.list(selectActive, { branch, after, limit }),
    *countActive(branches) {
      const counted = yield* rows<{ branch: string; facts: number }>(countActive, {
        branches: JSON.stringify([...new Set(branches)]),
      })
      return new Map(counted.map((each) => [each.branch, Number(each.facts)]))
    },
    *candidates(branch, words, threshold) {
      return yield* bySeqs(yield* wordIndex.candidates(branch, words, threshold))
    },
    *sameSubject(branch, subject) {
      if (subject === '') return []
      return (yield* facts.list(selectSameSubject, { branch, subject: indexKey(subject) })).reverse()
    },
    uncompared: (branch, measure, limit) => facts.list(selectUncompared, { branch, measure, limit }),
    unmerged: (branch, after, limit) => facts.list(selectUnmerged, { branch, after, limit }),
    summaryOf: (branch, agent) => facts.one(selectSummary, { branch, agent }),
    *search(branches, words, limit) {
      const found = yield* textIndex.search(branches, words, Math.max(limit, minRanked))
      const texts = new Map((yield* bySeqs(found.map(({ seq }) => seq))).map((fact) => [fact.seq, fact]))
      return rankedByBm25(found, texts).slice(0, limit)
    },
    vectors: (branch, model) => rows(selectVectors, { branch, model }),
    *insert(fact) {
      const seq = yield* insertSeq(insertFact, { ...fact, subject: indexKey(subjectOf(fact.text)) })
      if (!isIndexed(fact)) return seq
      const indexed = { seq, branch: fact.branch, words: wordsOf(fact.text) }
      yield* wordIndex.add(indexed)
      yield* textIndex.add(indexed)
      return seq
    },
    *save(fact) {
      yield* saveState(fact)
      if (fact.status === 'active') return
      yield* wordIndex.remove({ seq: fact.seq, branch: fact.branch, words: wordsOf(fact.text) })
      yield* textIndex.remove(fact.seq)
      yield* write(deleteVectors, { fact: fact.seq })
    },
    keepVector: (id, model, vector) => write(upsertVector, { id, model, vector }),
  }
}

function factStatements(compiler: StatementCompiler) {
  const { prepareText, dialect } = compiler
  const { select } = statementsOf(compiler, facts, unshared)
  const selectByPrefix = select((fact, hole) =>
    fact.where('id', '>=', hole('from')).where('id', '<', hole('to')).orderBy('id').limit(hole('limit')),
  )
  // Rows found by an index are checked again: another version, which may split a text into other words, may have written it.
  const selectBySeqs = prepareText('unshared', (hole) => {
    return sql`select ${facts.columns()} from fact
      where seq ${among(dialect, hole('seqs'), 'bigint')} and ${isComparable}
      order by seq`
  })
  const selectActive = select((fact, hole) =>
    fact
      .where(isComparable)
      .where('branch', '=', hole('branch'))
      .where('seq', '>', hole('after'))
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  // All minus the summaries: both are counted in indexes alone, while a condition on the category would read every row.
  const countActive = prepareText('unshared', (hole) => {
    const active = sql`select count(*) from fact where branch = each.value and status = 'active'`
    return sql`select each.value as branch, (${active}) - (${active} and category = 'summary') as facts
      from ${listed(dialect, hole('branches'))} as each`
  })
  const selectSummary = select((fact, hole) =>
    fact
      .where(sql<boolean>`status = 'active' and category = 'summary'`)
      .where('branch', '=', hole('branch'))
      .where('agent_id', '=', hole('agent'))
      .orderBy('seq', 'desc')
      .limit(1),
  )
  return { selectByPrefix, selectBySeqs, selectActive, countActive, selectSummary }
}

function vectorStatements(compiler: StatementCompiler) {
  const { prepare, prepareText } = compiler
  const selectVectors = prepareText(
    'unshared',
    (hole) => sql`select fact.id as "factId", fact_vector.vector from fact cross join fact_vector
      where fact.branch = ${hole('branch')} and fact.status = 'active'
        and fact_vector.fact = fact.seq and fact_vector.model = ${hole('model')}
      order by fact.seq`,
  )
  const upsertVector = prepareText(
    { changes: 'fact_vector' },
    (hole) => sql`insert into fact_vector (fact, model, vector)
      select seq, ${hole('model')}, ${hole('vector')} from fact where id = ${hole('id')}
      on conflict (fact, model) do update set vector = excluded.vector`,
  )
  const deleteVectors = prepare((db, hole) => db.deleteFrom('fact_vector').where('fact', '=', hole('fact')))
  return { selectVectors, upsertVector, deleteVectors }
}

function comparisonStatements(compiler: StatementCompiler) {
  const { prepareText } = compiler
  const { select } = statementsOf(compiler, facts, unshared)
  const selectSameSubject = select((fact, hole) =>
    fact
      .where(isComparable)
      .where(sql<boolean>`subject <> ''`)
      .where('branch', '=', hole('branch'))
      .where('subject', '=', hole('subject'))
      .orderBy('seq', 'desc')
      .limit(maxOfSubject),
  )
  // Three ranges of one index; a condition "is different" would scan all of it.
  const selectUncompared = prepareText('unshared', (hole) => {
    const stretch = (compared: unknown) =>
      sql`select seq from fact where ${isComparable} and branch = ${hole('branch')} and ${compared}`
    return sql`select ${facts.columns()} from fact where seq in (
        ${stretch(sql`compared_by is null`)}
        union all ${stretch(sql`compared_by < ${hole('measure')}`)}
        union all ${stretch(sql`compared_by > ${hole('measure')}`)})
      order by seq limit ${hole('limit')}`
  })
  const selectUnmerged = select((fact, hole) =>
    fact
      .where(isComparable)
      .where(isUnmerged)
      .where('branch', '=', hole('branch'))
      .where('seq', '>', hole('after'))
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  return { selectSameSubject, selectUncompared, selectUnmerged }
}

/** One branch and one status at a time, so that the index finds the latest. */
function latestOf(
  dialect: Dialect,
  branch: string,
  status: FactStatus,
  { category, taskId, agentId, sessionId, verdict, disputed }: FactFilter,
  limit: number,
  before: number,
): Op<FactRecord[]> {
  const having = { branch, status, category, taskId, agentId, sessionId, verdict, disputed }
  return facts.query(
    facts.from(dialect.db, having).where('seq', '<', before).orderBy('seq', 'desc').limit(limit),
    'unshared',
  )
}

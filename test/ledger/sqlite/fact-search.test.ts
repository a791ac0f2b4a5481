// Full-text search among more facts than one search reads, which matters for common words. Only the index is filled.
import { describe, expect, it } from 'vitest'
import { sqliteDialect } from '../../../src/ledger/sqlite/dialect.ts'
import { createCompiler, type Request } from '../../../src/ledger/statement.ts'
import { createFactSearch, rankedByBm25 } from '../../../src/ledger/tables/memory/fact-search.ts'
import { branchRow, factRow } from '../factories.ts'
import { migrated } from './migrated.ts'

const many = 6_000

/** Every fact has the word `usual`, those with an even number `even`, and some have `special` words. */
async function setup(special: Record<number, string[]>) {
  const { connection, tx, drive } = await migrated()
  const index = createFactSearch(createCompiler(sqliteDialect))
  drive(tx.branch.insert(branchRow({ name: 'side' })))
  drive(tx.fact.insert(factRow({ id: 'last', text: '' })))
  connection.execute(`update sqlite_sequence set seq = ${many} where name = 'fact'`)
  connection.execute(`update fact set seq = ${many}`)
  connection.execute('begin immediate')
  for (let seq = 1; seq <= many; seq++) {
    const words = ['usual', ...(seq % 2 === 0 ? ['even'] : []), ...(special[seq] ?? [])]
    drive(index.add({ seq, branch: 'main', words }))
  }
  connection.execute('commit')
  const search = (words: string[], limit: number, branches = ['main']) => {
    const seen: Request[] = []
    const found = drive(index.search(branches, words, limit), seen)
    return {
      found: found.map(({ seq }) => seq),
      ranks: found.map(({ worths }) => worths.reduce((sum, [, worth]) => sum + worth, 0)),
      seen,
    }
  }
  return { drive, index, search }
}

describe('a search among 6,000 facts', () => {
  it('fact search finds the facts with a rare word however old they are, those that also have the common words first', async () => {
    const { search } = await setup({ 3: ['rare'], 4: ['rare'], 5999: ['rare'] })
    const { found, ranks } = search(['usual', 'even', 'rare'], 5)
    expect(found.slice(0, 3)).toEqual([4, 5_999, 3])
    expect(ranks[0]!).toBeGreaterThan(ranks[1]!)
    expect(ranks[1]!).toBe(ranks[2]!)
    // Then follow the latest that have all other words.
    expect(found.slice(3)).toEqual([6_000, 5_998])
  })

  it('fact search for common words finds the facts that have all of them, latest first', async () => {
    const { search } = await setup(Object.fromEntries(Array.from({ length: 2_500 }, (_, n) => [n + 1, ['old']])))
    expect(search(['usual', 'old'], 3).found).toEqual([2_500, 2_499, 2_498])
    expect(search(['old', 'even', 'usual'], 3).found).toEqual([2_500, 2_498, 2_496])
    expect(search(['usual'], 2).found).toEqual([6_000, 5_999])
  })

  it('fact search reads a bounded number of matches, and only those of the given branches', async () => {
    const { drive, index, search } = await setup({})
    drive(index.add({ seq: many + 1, branch: 'side', words: ['usual', 'aside'] }))
    expect(search(['usual'], 9_999).found).toHaveLength(4_000)
    expect(search(['usual', 'even'], 9_999).found.length).toBeLessThanOrEqual(8_000)
    expect(search(['usual'], 2, ['side']).found).toEqual([many + 1])
    expect(search(['usual', 'aside'], 2, ['main', 'side']).found).toEqual([many + 1, many])
    drive(index.remove(many + 1))
    expect(search(['usual'], 2, ['side']).found).toEqual([])
    // Each statement has a limit.
    const limits = search(['usual', 'even'], 9).seen.flatMap(({ sql, parameters }) =>
      sql.includes('match') ? [parameters.at(-1)] : [],
    )
    expect(limits).toEqual([2_000, 2_000, 4_000])
  })
})

describe('the rank of a found fact', () => {
  const ranked = (texts: string[], ...words: Array<[word: string, worth: number]>) => {
    const facts = new Map(texts.map((text, at) => [at + 1, { ...factRow({ id: `f${at + 1}`, text }), seq: at + 1 }]))
    const found = texts.map((_, at) => ({ seq: at + 1, worths: words }))
    return rankedByBm25(found, facts)
  }

  it('rankedByBm25 counts a word that occurs twice more, but not twice as much', () => {
    const [twice, once] = ranked(['retry later please', 'retry and retry'], ['retry', 2])
    expect([twice?.fact.text, once?.fact.text]).toEqual(['retry and retry', 'retry later please'])
    // Both are as long as the average: worth * times * 2.2 / (times + 1.2).
    expect(once?.rank).toBeCloseTo((2 * 1 * 2.2) / 2.2)
    expect(twice?.rank).toBeCloseTo((2 * 2 * 2.2) / 3.2)
  })

  it('rankedByBm25 ranks short texts above long ones, and the latest of equals first', () => {
    const texts = ['retry the whole upload of every file again', 'retry it', 'retry it']
    expect(ranked(texts, ['retry', 1]).map(({ fact }) => fact.seq)).toEqual([3, 2, 1])
  })

  it('rankedByBm25 counts a word found by its stem once, and omits deleted facts', () => {
    expect(ranked(['retried uploads'], ['retry', 1])[0]?.rank).toBeCloseTo(1)
    expect(rankedByBm25([{ seq: 9, worths: [['retry', 1]] }], new Map())).toEqual([])
  })
})

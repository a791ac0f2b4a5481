// The lookup of similar facts, compared with a scan of all facts: it never misses one. Only the lists of words are filled, because inserting
// the facts themselves would be slow.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { likeness } from '../../../src/entities/fact-tokens.ts'
import type { Op } from '../../../src/ledger/ledger.ts'
import { sqliteDialect } from '../../../src/ledger/sqlite/dialect.ts'
import { createCompiler, type Request } from '../../../src/ledger/statement.ts'
import { createFactWords } from '../../../src/ledger/tables/memory/fact-word.ts'
import { runs } from '../../tier.ts'
import { branchRow } from '../factories.ts'
import { migrated } from './migrated.ts'

/** A planted fault: changes a statement. */
type Fault = (request: Request) => Request

async function setup() {
  const { connection, tx, drive } = await migrated()
  const words = createFactWords(createCompiler(sqliteDialect))
  drive(tx.branch.insert(branchRow({ name: 'side' })))
  const empty = () => connection.execute('delete from fact_word')
  const fill = (branch: string, facts: readonly string[][]) => {
    connection.execute('begin immediate')
    for (const [index, fact] of facts.entries()) drive(words.add({ seq: index + 1, branch, words: fact }))
    connection.execute('commit')
  }
  const candidates = (text: readonly string[], threshold: number, fault: Fault = (request) => request): number[] => {
    const op: Op<number[]> = words.candidates('main', text, threshold)
    let next = op.next()
    while (!next.done) next = op.next(connection.run(fault(next.value as Request)))
    return next.value
  }
  return { connection, drive, words, empty, fill, candidates }
}

/** The `seq` of the facts that a lookup has missed. */
function missing(
  facts: readonly string[][],
  text: readonly string[],
  threshold: number,
  found: readonly number[],
): number[] {
  const seen = new Set(found)
  return facts.flatMap((fact, index) => (likeness(fact, text) > threshold && !seen.has(index + 1) ? [index + 1] : []))
}

const someWords = (vocabulary: number, min: number, max: number) =>
  fc.uniqueArray(
    fc.nat(vocabulary - 1).map((n) => `word${n}`),
    { minLength: min, maxLength: max },
  )

const thresholds = fc.constantFrom(0, 0.3, 0.5, 0.85, 0.99)

const worlds = fc.integer({ min: 3, max: 20 }).chain((vocabulary) =>
  fc.record({
    facts: fc.array(someWords(vocabulary, 0, 12), { maxLength: 30 }),
    text: someWords(vocabulary, 0, 12),
    threshold: thresholds,
  }),
)

const isFactLookup = ({ sql }: Request) => sql.startsWith('select fact from fact_word')

/** Changes the words of a lookup: the only list among its values. (The minimum of shared words is the last value but one.) */
const withWords = (request: Request, change: (words: string[]) => string[]): Request => ({
  ...request,
  parameters: request.parameters.map((value) =>
    typeof value === 'string' && value.startsWith('[') ? JSON.stringify(change(JSON.parse(value) as string[])) : value,
  ),
})

it('the lookup of similar facts misses none, at any threshold and however common the words are', async () => {
  const { empty, fill, candidates } = await setup()
  fc.assert(
    fc.property(worlds, ({ facts, text, threshold }) => {
      empty()
      fill('side', [text])
      fill('main', facts)
      expect(missing(facts, text, threshold, candidates(text, threshold))).toEqual([])
    }),
    { numRuns: runs(40, 150) },
  )
})

it('the check of the lookup of similar facts fails if one word fewer is looked up', async () => {
  const { empty, fill, candidates } = await setup()
  const oneFewer: Fault = (request) => (isFactLookup(request) ? withWords(request, (words) => words.slice(1)) : request)
  const { failed } = fc.check(
    fc.property(worlds, ({ facts, text, threshold }) => {
      empty()
      fill('main', facts)
      return missing(facts, text, threshold, candidates(text, threshold, oneFewer)).length === 0
    }),
    { numRuns: runs(100, 500) },
  )
  expect(failed).toBe(true)
})

/** Three thousand facts from so few words that most facts share some with every other. */
function commonFacts(): string[][] {
  const facts = fc.sample(someWords(14, 4, 10), { numRuns: 3_000, seed: 7 })
  return [...facts, ...facts.slice(0, 20)]
}

it('the lookup of similar facts misses none when many facts share a word and more words are looked up', async () => {
  const { fill, candidates } = await setup()
  const facts = commonFacts()
  fill('main', facts)
  let narrowed = 0
  const counting: Fault = (request) => {
    if (isFactLookup(request) && request.parameters.at(-2) !== 1) narrowed++
    return request
  }
  fc.assert(
    fc.property(someWords(14, 1, 12), thresholds, (text, threshold) => {
      expect(missing(facts, text, threshold, candidates(text, threshold, counting))).toEqual([])
    }),
    { numRuns: runs(20, 60) },
  )
  expect(narrowed).toBeGreaterThan(10)
})

it('the check of the lookup of similar facts fails if a fact has to share one more word', async () => {
  const { fill, candidates } = await setup()
  const facts = commonFacts()
  fill('main', facts)
  const oneMore: Fault = (request) => {
    if (!isFactLookup(request) || request.parameters.at(-2) === 1) return request
    return { ...request, parameters: request.parameters.with(-2, (request.parameters.at(-2) as number) + 1) }
  }
  const { failed } = fc.check(
    fc.property(
      someWords(14, 1, 12),
      thresholds,
      (text, threshold) => missing(facts, text, threshold, candidates(text, threshold, oneMore)).length === 0,
    ),
    { numRuns: runs(100, 500) },
  )
  expect(failed).toBe(true)
})

it('the lookup of similar facts returns only facts that share rare words and have a similar number of words', async () => {
  const { fill, candidates } = await setup()
  const facts = Array.from({ length: 4_000 }, (_, n) => [
    'the',
    'of',
    `topic${n % 40}`,
    `detail${n}`,
    `more${n}`,
    'end',
  ])
  fill('main', facts)
  const text = facts[123] as string[]
  expect(candidates(text, 0.85)).toEqual([124])
  expect(candidates(['the', 'of', 'topic3', 'never', 'seen', 'end'], 0.85)).toEqual([])
  expect(candidates(['the', 'of'], 0.85)).toEqual([])
  expect(candidates(['the'], 0.1)).toHaveLength(4_000)
})

it('the lookup of similar facts omits a removed fact, and no word of it stays stored', async () => {
  const { connection, drive, words, fill, candidates } = await setup()
  const long = 'x'.repeat(5_000)
  fill('main', [
    ['one', 'two', long],
    ['one', 'two', `${long}y`],
  ])
  expect(candidates(['one', 'two', long], 0.85)).toEqual([1])
  drive(words.remove({ seq: 1, branch: 'main', words: ['one', 'two', long] }))
  expect(candidates(['one', 'two', long], 0.1)).toEqual([2])
  drive(words.remove({ seq: 2, branch: 'main', words: ['one', 'two', `${long}y`] }))
  expect(connection.run({ sql: 'select * from fact_word', parameters: [], want: 'rows' })).toEqual([])
})

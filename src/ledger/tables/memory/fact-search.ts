// Full-text search of facts: the index of each database finds the facts with a word, by its stem; the ranking is the same on both, BM25.
// The ranking functions of the databases would read every match of a common word, tens of thousands of them; here a first rank, by the
// weight of the found words, selects the texts for the whole formula.
import { everyWord, wordsOf } from '../../../entities/fact-tokens.ts'
import type { FactRecord } from '../../../entities/memory.ts'
import type { Op } from '../../ledger.ts'
import { among, change, column, listed, numberOf, type StatementCompiler, sql } from '../../statement.ts'
import { type IndexedFact, indexKey } from './fact-word.ts'

/** The maximum of words of a search; more add nothing. */
const maxWords = 64

/** The maximum of matches that are read, so that a search takes as long among 100,000 facts as among 10,000. */
const maxMatches = 4_000

export interface FactSearch extends Pick<TextIndex, 'add' | 'remove'> {
  /** Facts by their `seq`, those with the words of the highest weight first, the latest of equals first. */
  search(branches: readonly string[], words: readonly string[], limit: number): Op<Found[]>
}

/** A found fact, with the weight of each word by which it was found (the idf of BM25). */
export interface Found {
  seq: number
  worths: Array<readonly [word: string, worth: number]>
}

/** Facts with all words of the one list and, if the other is not empty, any of its words. */
interface Match {
  all: readonly string[]
  any: readonly string[]
}

/** A word as it is searched: Latin letters without their accents. Marks of other scripts are letters of their own and stay. */
function searchWord(word: string): string {
  return indexKey(
    word
      .normalize('NFD')
      .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
      .normalize('NFC'),
  )
}

const searchTerms = (words: readonly string[]): string[] => [...new Set(words.map(searchWord))]

export function createFactSearch(compiler: StatementCompiler): FactSearch {
  const { prepareText } = compiler
  const selectLast = prepareText('unshared', () => sql`select max(seq) as seq from fact`)
  const { add, remove, matches } = compiler.dialect.kind === 'sqlite' ? withFts5(compiler) : withArrays(compiler)

  return {
    add,
    remove,
    *search(branches, wanted, limit) {
      const words = searchTerms(wanted.flatMap(wordsOf)).slice(0, maxWords)
      if (words.length === 0) return []
      const share = Math.ceil(maxMatches / words.length)
      const found = new Map<string, Set<number>>()
      for (const word of words) found.set(word, new Set(yield* matches(branches, { all: [word], any: [] }, share)))
      for (const question of stillToAsk(found, share)) {
        const seqs = yield* matches(branches, question, maxMatches)
        for (const word of question.all) for (const seq of seqs) found.get(word)?.add(seq)
      }
      return byWorth(found, yield* numberOf(selectLast)).slice(0, limit)
    },
  }
}

/**
 * The words to look up again: of a word that has used up its share only the latest facts were read. Which facts with a rare word also have
 * it is checked for each; if all words are common, which facts have all of them.
 */
function stillToAsk(found: ReadonlyMap<string, ReadonlySet<number>>, share: number): Match[] {
  const words = [...found.keys()]
  const sizeOf = (word: string) => found.get(word)?.size ?? 0
  const common = words.filter((word) => sizeOf(word) === share)
  const rare = words.filter((word) => sizeOf(word) > 0 && sizeOf(word) < share)
  if (rare.length > 0) return common.map((word) => ({ all: [word], any: rare }))
  return common.length > 1 ? [{ all: common, any: [] }] : []
}

function byWorth(found: ReadonlyMap<string, ReadonlySet<number>>, facts: number): Found[] {
  const worths = new Map<number, Found['worths']>()
  for (const [word, seqs] of found) {
    const worth = [word, Math.log(1 + (facts - seqs.size + 0.5) / (seqs.size + 0.5))] as const
    for (const seq of seqs) worths.set(seq, [...(worths.get(seq) ?? []), worth])
  }
  const sum = ({ worths: all }: Found): number => all.reduce((total, [, worth]) => total + worth, 0)
  return [...worths]
    .map(([seq, all]) => ({ found: { seq, worths: all }, total: sum({ seq, worths: all }) }))
    .sort((a, b) => b.total - a.total || b.found.seq - a.found.seq)
    .map((each) => each.found)
}

/** How soon a repeated word adds nothing, and how much the length of a text counts against it: the standard values. */
const saturation = 1.2
const lengthPenalty = 0.75

/** BM25 of the found texts, relative to their average length. A word that was found only by its stem counts once. */
export function rankedByBm25(
  found: readonly Found[],
  facts: ReadonlyMap<number, FactRecord>,
): Array<{ fact: FactRecord; rank: number }> {
  const texts = found.flatMap(({ seq, worths }) => {
    const fact = facts.get(seq)
    return fact === undefined ? [] : [{ fact, worths, words: [...everyWord(fact.text)].map(searchWord) }]
  })
  const averageLength = texts.reduce((sum, { words }) => sum + words.length, 0) / Math.max(1, texts.length)
  const ranked = texts.map(({ fact, worths, words }) => {
    const dampened = saturation * (1 - lengthPenalty + (lengthPenalty * words.length) / averageLength)
    const rank = worths.reduce((sum, [word, worth]) => {
      const times = Math.max(1, words.filter((each) => each === word).length)
      return sum + (worth * times * (saturation + 1)) / (times + dampened)
    }, 0)
    return { fact, rank }
  })
  return ranked.sort((a, b) => b.rank - a.rank || b.fact.seq - a.fact.seq)
}

interface TextIndex {
  add(fact: IndexedFact): Op<void>
  remove(seq: number): Op<void>
  /** The latest facts that match, by their `seq`. */
  matches(branches: readonly string[], match: Match, limit: number): Op<number[]>
}

/**
 * SQLite: FTS5, whose query language the builder does not support. Each word has the number of its branch before it, joined by a character
 * that FTS5 takes for a letter: with a separate word for the branch, every search would read all facts of the branch.
 */
function withFts5(compiler: StatementCompiler): TextIndex {
  const { prepareText } = compiler
  const insertText = prepareText(
    { inserts: 'fact_text' },
    (hole) => sql`insert into fact_text (rowid, words) values (${hole('fact')}, ${hole('words')})`,
  )
  const deleteText = prepareText(
    { changes: 'fact_text' },
    (hole) => sql`delete from fact_text where rowid = ${hole('fact')}`,
  )
  const selectBranches = prepareText(
    (hole) => sql`select seq from branch where name ${among(compiler.dialect, hole('branches'))}`,
  )
  const selectMatches = prepareText(
    (hole) => sql`select rowid as fact from fact_text where fact_text match ${hole('query')}
      order by rowid desc limit ${hole('limit')}`,
  )

  const seqsOf = (branches: readonly string[]) => column<number>(selectBranches, { branches: JSON.stringify(branches) })

  const term = (branch: number, word: string): string => `${branch}·${word}`
  const onAny = (branches: readonly number[], words: readonly string[]): string =>
    `(${branches.flatMap((branch) => words.map((word) => `"${term(branch, word)}"`)).join(' OR ')})`

  return {
    *add({ seq, branch, words }) {
      const [on] = yield* seqsOf([branch])
      const terms = searchTerms(words).map((word) => term(on as number, word))
      yield* change(insertText, { fact: seq, words: terms.join(' ') })
    },
    *remove(seq) {
      yield* change(deleteText, { fact: seq })
    },
    *matches(names, { all, any }, limit) {
      const branches = yield* seqsOf(names)
      if (branches.length === 0) return []
      const needed = [...all.map((word) => [word]), ...(any.length > 0 ? [any] : [])]
      const query = needed.map((words) => onAny(branches, words)).join(' AND ')
      return yield* column(selectMatches, { query, limit })
    },
  }
}

/**
 * PostgreSQL: an array of stems under a GIN index. Not `to_tsvector`, whose parser splits words by rules of its own and drops stop words.
 */
function withArrays(compiler: StatementCompiler): TextIndex {
  const { prepareText } = compiler
  const stems = (json: unknown) =>
    sql`array(select coalesce((ts_lexize('english_stem', value))[1], value) from ${listed(compiler.dialect, json)} as word)`
  const insertText = prepareText(
    { inserts: 'fact_text' },
    (hole) => sql`insert into fact_text (fact, branch, words)
      select ${hole('fact')}, seq, ${stems(hole('words'))} from branch where name = ${hole('branch')}`,
  )
  const deleteText = prepareText(
    { changes: 'fact_text' },
    (hole) => sql`delete from fact_text where fact = ${hole('fact')}`,
  )
  const selectMatches = prepareText(
    (hole) => sql`select fact from fact_text
      where branch in (select seq from branch where name ${among(compiler.dialect, hole('branches'))})
        and words @> ${stems(hole('all'))} and (${hole('anyone')} = 1 or words && ${stems(hole('any'))})
      order by fact desc limit ${hole('limit')}`,
  )

  return {
    *add({ seq, branch, words }) {
      yield* change(insertText, { fact: seq, branch, words: JSON.stringify(searchTerms(words)) })
    },
    *remove(seq) {
      yield* change(deleteText, { fact: seq })
    },
    matches: (branches, { all, any }, limit) =>
      column(selectMatches, {
        branches: JSON.stringify(branches),
        all: JSON.stringify(all),
        any: JSON.stringify(any),
        anyone: any.length === 0 ? 1 : 0,
        limit,
      }),
  }
}

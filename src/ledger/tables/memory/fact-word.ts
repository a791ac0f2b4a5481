// The facts in which a word is found: looks up the facts that may be alike without reading all. Two alike texts share so many words that a
// few of one, preferably the rarest, find the other (`probeCount`).
import { sha256 } from '../../../core/sha256.ts'
import { minShared, probeCount, similarSizes } from '../../../entities/fact-tokens.ts'
import type { Op } from '../../ledger.ts'
import { among, change, column, listed, rows, type StatementCompiler, sql } from '../../statement.ts'

/** The facts of a word are counted up to the first number; up to the second only if too few words are rarer than that. */
const countedAtMost = { first: 128, second: 512 }

/** With more candidates than these, more words are looked up instead of comparing all: that leaves hardly any that is not alike. */
const fewCandidates = 16

/** How many additional words are looked up in each attempt. */
const extraProbes = [0, 1, 3] as const

/** A fact with the words under which it is indexed. */
export interface IndexedFact {
  seq: number
  branch: string
  words: readonly string[]
}

export interface FactWords {
  add(fact: IndexedFact): Op<void>
  remove(fact: IndexedFact): Op<void>
  /** The `seq` of every fact that may be alike; contains all that are alike. In no order. */
  candidates(branch: string, words: readonly string[], threshold: number): Op<number[]>
}

/** The key of a text in an index: itself, or a digest of a long one, because an index entry of PostgreSQL holds at most 2,700 bytes. */
export function indexKey(text: string): string {
  return text.length <= 100 ? text : sha256(text)
}

const keysOf = (words: readonly string[]): string => JSON.stringify(words.map(indexKey))

interface Counted {
  word: string
  facts: number
}

const byFacts = (a: Counted, b: Counted): number => a.facts - b.facts

export function createFactWords(compiler: StatementCompiler): FactWords {
  const { insertWords, deleteText, countEach, selectMet } = wordStatements(compiler)

  /**
   * The words by how many facts of such a size have them, the rarest first, for as many as are `needed`. Of words more common than was
   * counted the longer ones come first: in any language frequent words are shorter, as a rule.
   */
  function* rarestFirst(
    branch: string,
    words: readonly string[],
    sizes: { min: number; max: number },
    needed: number,
  ): Op<Counted[]> {
    const { first, second } = countedAtMost
    const count = (keys: string, most: number) =>
      rows<Counted>(countEach, { branch, words: keys, ...sizes, 'most counted': most })
    const counts = yield* count(keysOf(words), first)
    const rare = counts.filter(({ facts }) => facts < first)
    const common = counts.filter(({ facts }) => facts >= first).sort((a, b) => b.word.length - a.word.length)
    if (rare.length >= needed || common.length === 0) return [...rare.sort(byFacts), ...common]
    return [...rare, ...(yield* count(JSON.stringify(common.map(({ word }) => word)), second))].sort(byFacts)
  }

  return {
    *add({ seq, branch, words }) {
      yield* change(insertWords, { fact: seq, branch, words: keysOf(words), size: words.length })
    },
    *remove({ seq, branch, words }) {
      yield* change(deleteText, { fact: seq, branch, words: keysOf(words), size: words.length })
    },
    *candidates(branch, words, threshold) {
      if (words.length === 0) return []
      const sizes = similarSizes(words.length, threshold)
      const probes = probeCount(words.length, threshold)
      const maxExtra = minShared(words.length, threshold) - 1
      const extras = [...new Set(extraProbes.map((wanted) => Math.min(wanted, maxExtra)))]
      const byRarity = yield* rarestFirst(branch, words, sizes, probes + (extras[1] ?? 0))
      const met = byRarity.slice(0, probes).reduce((sum, { facts }) => sum + facts, 0)
      // If the rarest words find too many facts, they are not tried alone.
      for (const extra of met > fewCandidates && extras.length > 1 ? extras.slice(1) : extras) {
        // With so many additional words, an alike fact shares one more for each: it may miss no more of them than before.
        const last = extra === extras.at(-1)
        const found = yield* column<number>(selectMet, {
          branch,
          words: JSON.stringify(byRarity.slice(0, probes + extra).map(({ word }) => word)),
          ...sizes,
          shared: extra + 1,
          limit: last ? Number.MAX_SAFE_INTEGER : fewCandidates + 1,
        })
        if (last || found.length <= fewCandidates) return found
      }
      return []
    },
  }
}

function wordStatements(compiler: StatementCompiler) {
  const { prepareText, dialect } = compiler
  const insertWords = prepareText(
    { inserts: 'fact_word' },
    (hole) => sql`insert into fact_word (branch, word, size, fact)
      select branch.seq, word.value, ${hole('size')}, ${hole('fact')}
      from branch cross join ${listed(dialect, hole('words'))} as word where branch.name = ${hole('branch')}`,
  )
  const deleteText = prepareText(
    { changes: 'fact_word' },
    (hole) => sql`delete from fact_word
      where branch = (select seq from branch where name = ${hole('branch')})
        and word ${among(dialect, hole('words'))} and size = ${hole('size')} and fact = ${hole('fact')}`,
  )
  const countEach = prepareText(
    (hole) => sql`select word.value as word, (select count(*) from (
        select 1 from fact_word where branch = branch.seq and word = word.value
          and size between ${hole('min')} and ${hole('max')} limit ${hole('most counted')}) as counted) as facts
      from branch cross join ${listed(dialect, hole('words'))} as word where branch.name = ${hole('branch')}`,
  )
  const selectMet = prepareText(
    (hole) => sql`select fact from fact_word
      where branch = (select seq from branch where name = ${hole('branch')})
        and word ${among(dialect, hole('words'))} and size between ${hole('min')} and ${hole('max')}
      group by fact having count(*) >= ${hole('shared')} limit ${hole('limit')}`,
  )
  return { insertWords, deleteText, countEach, selectMet }
}

// Which facts a word is found in: how those that may be alike are looked up without reading all. Two texts that are alike share
// so many words that any few of the one, the rarest for choice, lead to the other (`probeCount`).
import { createHash } from 'node:crypto'
import { leastShared, probeCount, sizesAlike } from '../../entities/fact-words.ts'
import type { Op } from '../ledger.ts'
import { change, listed, prepareText, rows, type StatementCompiler, sql } from '../statement.ts'

/** Beyond so many facts it does not matter how common a word is. */
const countedAtMost = 256

/** So many candidates are read at once; rather than more of them, more words are looked up. */
const fewCandidates = 1_000

/** How many words more than needed are looked up, from one attempt to the next. */
const extraProbes = [0, 2, 5] as const

/** A fact as its words are kept under it. */
export interface IndexedFact {
  seq: number
  branch: string
  words: readonly string[]
}

export interface FactWords {
  add(fact: IndexedFact): Op<void>
  remove(fact: IndexedFact): Op<void>
  /** The `seq` of every fact that may be alike: none that is alike is missing. In no order. */
  candidates(branch: string, words: readonly string[], threshold: number): Op<number[]>
}

/** What stands for a text in an index: itself, or a digest of a long one, because an entry of PostgreSQL's holds 2,700 bytes at most. */
export function indexKey(text: string): string {
  return text.length <= 100 ? text : createHash('sha256').update(text).digest('hex')
}

export const keysOf = (words: readonly string[]): string => JSON.stringify(words.map(indexKey))

export function createFactWords(compiler: StatementCompiler): FactWords {
  const prepare = (build: Parameters<typeof prepareText>[1]) => prepareText(compiler, build)
  const { dialect } = compiler

  const insertWords = prepare(
    (hole) => sql`insert into fact_word (branch, word, size, fact)
      select branch.seq, word.value, ${hole('size')}, ${hole('fact')}
      from branch cross join ${listed(dialect, hole('words'))} as word where branch.name = ${hole('branch')}`,
  )
  const deleteWords = prepare(
    (hole) => sql`delete from fact_word
      where branch = (select seq from branch where name = ${hole('branch')})
        and word in ${listed(dialect, hole('words'))} and size = ${hole('size')} and fact = ${hole('fact')}`,
  )
  const countEach = prepare(
    (hole) => sql`select word.value as word, (select count(*) from (
        select 1 from fact_word where branch = branch.seq and word = word.value
          and size between ${hole('least')} and ${hole('most')} limit ${sql.lit(countedAtMost)}) as counted) as facts
      from branch cross join ${listed(dialect, hole('words'))} as word where branch.name = ${hole('branch')}`,
  )
  const selectMet = prepare(
    (hole) => sql`select fact from fact_word
      where branch = (select seq from branch where name = ${hole('branch')})
        and word in ${listed(dialect, hole('words'))} and size between ${hole('least')} and ${hole('most')}
      group by fact having count(*) >= ${hole('shared')} limit ${hole('limit')}`,
  )

  /** The words by how many facts of such a size have them, the rarest first. */
  function* rarestFirst(
    branch: string,
    words: readonly string[],
    sizes: { least: number; most: number },
  ): Op<string[]> {
    const counts = yield* rows<{ word: string; facts: number }>(countEach, { branch, words: keysOf(words), ...sizes })
    return counts.sort((a, b) => a.facts - b.facts).map(({ word }) => word)
  }

  return {
    *add({ seq, branch, words }) {
      yield* change(insertWords, { fact: seq, branch, words: keysOf(words), size: words.length })
    },
    *remove({ seq, branch, words }) {
      yield* change(deleteWords, { fact: seq, branch, words: keysOf(words), size: words.length })
    },
    *candidates(branch, words, threshold) {
      if (words.length === 0) return []
      const sizes = sizesAlike(words.length, threshold)
      const probes = probeCount(words.length, threshold)
      const mostExtra = leastShared(words.length, threshold) - 1
      const byRarity = yield* rarestFirst(branch, words, sizes)
      for (const [attempt, wanted] of extraProbes.entries()) {
        // Of so many words more, an alike fact has one more of each: it can do without no more of them than before.
        const extra = Math.min(wanted, mostExtra)
        const last = extra === mostExtra || attempt === extraProbes.length - 1
        const found = yield* rows<{ fact: number }>(selectMet, {
          branch,
          words: JSON.stringify(byRarity.slice(0, probes + extra)),
          ...sizes,
          shared: extra + 1,
          limit: last ? Number.MAX_SAFE_INTEGER : fewCandidates + 1,
        })
        if (last || found.length <= fewCandidates) return found.map(({ fact }) => fact)
      }
      return []
    },
  }
}

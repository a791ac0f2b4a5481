// Rules about the two indexes by which facts are found: they contain the active facts that are not summaries, and nothing else.
import { counted } from '../../core/counted.ts'
import { wordsOf } from '../../entities/fact-tokens.ts'
import type { LedgerSnapshot, TableShape } from '../snapshot.ts'
import { tableShapes } from '../sqlite/table-shapes.ts'
import { sql } from '../statement.ts'
import { isComparable } from '../tables/memory/fact.ts'
import { indexKey } from '../tables/memory/fact-word.ts'
import { type Check, type Findings, highestSeq, pages, type Rule, statementCheck } from './rule.ts'

const wordIndex: Rule = {
  name: 'fact-words',
  explains:
    'The word index contains the words of each active fact that is not a summary, and no others, because facts that are alike are looked up there.',
}

interface FactRow {
  seq: number
  id: string
  text: string
  branch: number
}

/** Of the entries of each fact: how many there are, and the sum of their hashes. Eight bytes for each fact, however many entries. */
class Entries {
  readonly #counts: Uint32Array
  readonly #sums: Uint32Array

  constructor(highestFact: number) {
    this.#counts = new Uint32Array(highestFact + 1)
    this.#sums = new Uint32Array(highestFact + 1)
  }

  add(fact: number, hash: number): void {
    ;(this.#counts[fact] as number)++
    ;(this.#sums[fact] as number) += hash
  }

  /** Returns those of a fact and forgets them. */
  take(fact: number): { count: number; sum: number } {
    const taken = { count: this.#counts[fact] as number, sum: this.#sums[fact] as number }
    this.#counts[fact] = 0
    return taken
  }

  /** Facts that have entries still. */
  *left(): Generator<number> {
    for (const [fact, count] of this.#counts.entries()) if (count > 0) yield fact
  }
}

/** FNV-1a. */
function hashOf(branch: number, size: number, word: string): number {
  const text = `${branch} ${size} ${word}`
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

async function checkWords(ledger: LedgerSnapshot, findings: Findings): Promise<void> {
  const highest = await highestSeq(ledger, 'fact')
  const entries = new Entries(highest)
  const shape = tableShapes().find(({ name }) => name === 'fact_word') as TableShape
  for await (const batch of ledger.batches(shape)) {
    findings.rows += batch.length
    for (const { branch, size, word, fact } of batch) {
      if ((fact as number) <= highest)
        entries.add(fact as number, hashOf(branch as number, size as number, word as string))
      else findings.add(wordIndex, `fact #${fact}`, `The index leads to it by the word ${word}, and it does not exist.`)
    }
  }
  const facts = pages<FactRow>(
    ledger,
    (hole) => sql`select fact.seq, fact.id, fact.text, branch.seq as branch
      from (select * from fact where ${isComparable} and seq > ${hole('seq')} order by seq limit ${hole('limit')}) as fact
      join branch on branch.name = fact.branch order by fact.seq`,
    { seq: 0 },
  )
  for await (const page of facts) for (const fact of page) checkFact(fact, entries, findings)
  for (const seq of entries.left()) {
    const { count } = entries.take(seq)
    findings.add(
      wordIndex,
      `fact #${seq}`,
      `The index leads to it by ${counted(count, 'word')}, and it is no active fact to be compared.`,
    )
  }
}

function checkFact({ seq, id, text, branch }: FactRow, entries: Entries, findings: Findings): void {
  const words = wordsOf(text).map(indexKey)
  const expected = words.reduce((sum, word) => (sum + hashOf(branch, words.length, word)) >>> 0, 0)
  const { count, sum } = entries.take(seq)
  if (count !== words.length) {
    findings.add(wordIndex, id, `It has ${counted(words.length, 'word')}, and the index leads to it by ${count}.`)
  } else if (sum !== expected) {
    findings.add(
      wordIndex,
      id,
      `The words by which the index leads to it (${count}) are not those of its text on its branch.`,
    )
  }
}

const textIndex = statementCheck(
  {
    name: 'fact-text',
    explains:
      'The text index contains each active fact that is not a summary, and no others, because searches find facts there.',
  },
  ({ kind }) => {
    // The index of each database is one of its own.
    const fact = sql.raw(kind === 'sqlite' ? 'fact_text.rowid' : 'fact_text.fact')
    return sql`select active.id as subject, active.status from (select seq, id, status from fact where ${isComparable}) as active
        where not exists (select 1 from fact_text where ${fact} = active.seq)
      union all
      select coalesce(fact.id, 'fact #' || cast(${fact} as text)), coalesce(fact.status, 'missing')
        from fact_text left join fact on fact.seq = ${fact}
        where fact.seq is null or not (fact.status = 'active' and fact.category <> 'summary')`
  },
  ({ status }) => {
    if (status === 'active')
      return 'Its entry in the text index is wrong: an active fact has one, and a summary has none.'
    return `It is in the text index and ${status === 'missing' ? 'does not exist' : `is ${status}`}.`
  },
)

export const factIndexChecks: readonly Check[] = [{ rules: [wordIndex], run: checkWords }, textIndex]

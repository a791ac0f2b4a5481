// Finding a fact by what people write: an id, or a beginning of one, with or without `fact-`.
import type { Caller } from '../bus/caller.ts'
import type { FactRecord } from '../entities/memory.ts'
import { ErrandError } from '../errors.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { isReadable, requireReadable } from './standing.ts'

const prefixPattern = /^fact-[a-z0-9]*$/
const mostCandidates = 10

/**
 * Of a beginning only facts that the caller reads count: it does not learn by guessing which others there are.
 * @throws ErrandError NOT_FOUND { factId }, INVALID_INPUT { factId, candidates } when several ids begin so, FORBIDDEN for the whole id
 *   of one that the caller does not read
 */
export function* findFact(tx: Reads, caller: Caller, ref: string): Op<FactRecord> {
  const exact = yield* tx.fact.get(ref)
  if (exact !== undefined) {
    yield* requireReadable(tx, caller, exact.branch)
    return exact
  }
  const prefix = ref.startsWith('fact-') ? ref : `fact-${ref}`
  const begun = prefixPattern.test(prefix) ? yield* tx.fact.findByPrefix(prefix, mostCandidates) : []
  const found: FactRecord[] = []
  for (const fact of begun) if (yield* isReadable(tx, caller, fact.branch)) found.push(fact)
  const whole = found.find(({ id }) => id === prefix)
  if (whole !== undefined) return whole
  const [only] = found
  if (only === undefined) {
    throw new ErrandError(
      'NOT_FOUND',
      `There is no fact ${ref}. A fact is named by its id or any unique beginning of it; \`mem:facts\` lists those of a branch.`,
      { factId: ref },
    )
  }
  // Where not all were looked at there may be others.
  if (found.length === 1 && begun.length < mostCandidates) return only
  const candidates = found.map(({ id }) => id)
  throw new ErrandError(
    'INVALID_INPUT',
    `"${ref}" is the beginning of several facts: ${candidates.join(', ')}${begun.length < mostCandidates ? '' : ' and others'}. Write more of the id.`,
    { factId: ref, candidates },
  )
}

// Observing: what somebody saw is kept as it was said, on an open branch, until a consolidation takes it up.
import type { ObservationRecord } from '../entities/memory.ts'
import { checkText } from '../json.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { requireOpenBranch } from '../steps/branch.ts'
import type { Deliberation } from './deliberate.ts'

interface NewObservation extends Omit<ObservationRecord, 'seq' | 'id' | 'createdAt' | 'consolidatedBy'> {
  /** Default: one of its own. What is given twice under one id is there once. */
  id?: string
}

/** On the branch of an agent it is that agent's, where nobody is named. @throws ErrandError NOT_FOUND, BRANCH_CLOSED, INVALID_INPUT */
export function* observe(
  tx: Tx,
  d: Pick<Deliberation, 'moment' | 'nextId'>,
  { id = d.nextId('obs'), ...given }: NewObservation,
): Op<{ observationId: string; isNew: boolean }> {
  checkText(given.content, 'the content')
  if (given.outcome !== null) checkText(given.outcome, 'the outcome')
  const branch = yield* requireOpenBranch(tx, given.branch)
  const isNew = yield* tx.observation.insert({
    ...given,
    id,
    taskId: given.taskId ?? branch.taskId,
    agentId: given.agentId ?? branch.agentId,
    createdAt: d.moment.at,
    consolidatedBy: null,
  })
  return { observationId: id, isNew }
}

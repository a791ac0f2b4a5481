// Where a branch ends: to which branch above it gives what it holds, and that it can, although somebody has archived it meanwhile.
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import { requireBranch, setBranchStatus } from '../steps/branch.ts'
import type { StepContext } from '../steps/step-context.ts'

/** One that has been given on itself passes nothing on any more, so what lasts goes to the nearest above that has not; `main` never has. */
export function* liveBranchAbove(tx: Reads, branch: string): Op<string> {
  const [, ...above] = yield* tx.branch.lineage(branch)
  const live = above.find(({ status }) => status === 'active')
  if (live === undefined) throw new Error(`nothing is above ${branch}, not even main`)
  return live.name
}

/** Does the work with the branch open. One that was archived is archived again: whoever works on it comes to an end all the same. */
export function* whileOpen<R>(tx: Tx, name: string, work: Op<R>, ctx: StepContext): Op<R> {
  const branch = yield* requireBranch(tx, name)
  if (branch.status !== 'archived') return yield* work
  yield* setBranchStatus(tx, branch, 'active', ctx)
  const result = yield* work
  yield* setBranchStatus(tx, yield* requireBranch(tx, name), 'archived', ctx)
  return result
}

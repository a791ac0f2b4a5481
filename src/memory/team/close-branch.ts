// What happens to a branch of memory when its work ends: into which branch it is merged, also if it was archived meanwhile.
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import type { StepContext } from '../../operations/steps/step-context.ts'
import { requireBranch, setBranchStatus } from '../branches.ts'

/** The nearest branch above that is active; a merged or archived one passes nothing on. `main` is always active. */
export function* activeBranchAbove(tx: Reads, branch: string): Op<string> {
  const [, ...above] = yield* tx.branch.lineage(branch)
  const live = above.find(({ status }) => status === 'active')
  if (live === undefined) throw new Error(`no active branch above ${branch}, not even main`)
  return live.name
}

/** Runs the work with the branch open. An archived branch is archived again afterwards, so that the work on it can still end. */
export function* whileOpen<R>(tx: Tx, name: string, work: Op<R>, ctx: StepContext): Op<R> {
  const branch = yield* requireBranch(tx, name)
  if (branch.status !== 'archived') return yield* work
  yield* setBranchStatus(tx, branch, 'active', ctx)
  const result = yield* work
  yield* setBranchStatus(tx, yield* requireBranch(tx, name), 'archived', ctx)
  return result
}

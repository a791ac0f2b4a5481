// Branches of memory in steps: find, create, close. A branch is created in the same transaction as its task or stint, so neither exists
// without the other.
import { type Caller, mayAffect } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { type BranchRecord, type BranchStatus, mainBranch } from '../entities/memory.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import type { StepContext } from '../operations/steps/step-context.ts'

/** @throws ErrandError NOT_FOUND { branch } */
export function* requireBranch(tx: Reads, name: string): Op<BranchRecord> {
  const found = yield* tx.branch.get(name)
  if (found !== undefined) return found
  throw unknownBranch(name)
}

/**
 * Returns the branch to which a caller adds. A branch of a task that the caller may not affect is reported as unknown. @throws ErrandError
 * NOT_FOUND { branch }
 */
export function* requireBranchFor(tx: Reads, caller: Caller, name: string): Op<BranchRecord> {
  const found = yield* requireBranch(tx, name)
  if (found.taskId === null || mayAffect(caller, (yield* tx.task.get(found.taskId))?.principal)) return found
  throw unknownBranch(name)
}

function unknownBranch(name: string): ErrandError {
  return new ErrandError(
    'NOT_FOUND',
    `There is no branch "${name}". \`mem:branches\` lists the branches; "${mainBranch}" always exists.`,
    { branch: name },
  )
}

/**
 * Returns a branch that accepts additions. A merged branch does too, so that what its agent adds late is not lost. @throws ErrandError
 * NOT_FOUND, BRANCH_CLOSED
 */
export function* requireOpenBranch(tx: Reads, name: string): Op<BranchRecord> {
  const branch = yield* requireBranch(tx, name)
  if (branch.status !== 'archived') return branch
  throw new ErrandError(
    'BRANCH_CLOSED',
    `The branch "${name}" is archived: it can be read, but accepts no additions. Use "${branch.parent ?? mainBranch}", or another branch.`,
    { branch: name, status: branch.status },
  )
}

/** Returns the branch, or, if it is archived or unknown, the nearest branch above that accepts additions; `main` always does. */
export function* nearestOpenBranch(tx: Reads, name: string): Op<string> {
  const lineage = yield* tx.branch.lineage(name)
  return lineage.find(({ status }) => status !== 'archived')?.name ?? mainBranch
}

export interface NewBranch {
  name: string
  parent: string
  description: string
  taskId: string | null
  agentId: string | null
}

/** The name must be free. @throws ErrandError NOT_FOUND, BRANCH_CLOSED for the parent. */
export function* makeBranch(tx: Tx, branch: NewBranch, { at }: StepContext): Op<BranchRecord> {
  yield* requireOpenBranch(tx, branch.parent)
  const made = { ...branch, status: 'active' as const, createdAt: at, updatedAt: at }
  return { ...made, seq: yield* tx.branch.insert(made) }
}

/** @throws ErrandError INVALID_INPUT for `main`, which stays as it is. */
export function* setBranchStatus(
  tx: Tx,
  branch: BranchRecord,
  status: BranchStatus,
  { at }: StepContext,
): Op<BranchRecord> {
  if (branch.name === mainBranch) {
    throw new ErrandError(
      'INVALID_INPUT',
      `The branch "${mainBranch}" is permanent and cannot be ${status}. Name another branch.`,
      { branch: branch.name, status },
    )
  }
  if (branch.status === status) return branch
  const changed = { ...branch, status, updatedAt: at }
  // Whether a branch is archived is judged without a lock, so a step that changes it runs alone on a server.
  const isShared = branch.taskId === null || branch.status === 'archived' || status === 'archived'
  yield* isShared ? tx.branch.save(changed) : tx.branch.saveStatus(changed)
  return changed
}

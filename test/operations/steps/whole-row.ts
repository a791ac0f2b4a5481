// A row of a task as a step writes it, with the derived columns filled in.
import type { NewTask } from '../../../src/ledger/ledger.ts'
import { isClaimable, isReady } from '../../../src/machines/readiness.ts'
import { writeSnapshot } from '../../../src/machines/task-snapshot.ts'
import { taskRow } from '../../ledger/factories.ts'

export function whole(task: Partial<NewTask> & { id: string }): NewTask {
  const row = { seq: 0, ...taskRow(task) }
  return { ...row, ready: isReady(row), claimable: isClaimable(row), snapshot: writeSnapshot(row) }
}

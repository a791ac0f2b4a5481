// Runs whose engine is dead by the proof of recovery, before an engine that works has taken them over. Their tasks are WORKING in the
// ledger; what people see says that they are interrupted.
import { isLiveRun } from '../../entities/run.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { Ledger } from '../../ledger/ledger.ts'

/** Numbers of lost runs, by task. */
export type LostRuns = ReadonlyMap<string, number>

export const noLostRuns: LostRuns = new Map()

/** Asks for the life of each engine once, whatever the number of its runs is. */
export async function readLostRuns(ledger: Pick<Ledger, 'read' | 'isAlive'>): Promise<LostRuns> {
  const dead: string[] = []
  for (const { id } of await ledger.read((tx) => tx.instance.open())) {
    if ((await ledger.isAlive(id)) === 'dead') dead.push(id)
  }
  if (dead.length === 0) return noLostRuns
  return await ledger.read(function* (tx) {
    const lost = new Map<string, number>()
    for (const id of dead) {
      for (const run of yield* tx.run.openOf(id)) if (isLiveRun(run)) lost.set(run.taskId, run.number)
    }
    return lost
  })
}

export function isLost({ id, status, run }: Pick<TaskRecord, 'id' | 'status' | 'run'>, lost: LostRuns): boolean {
  return status === 'working' && lost.get(id) === run
}

/** The task with the reason that recovery will record, if its run is lost. */
export function asShown<T extends Pick<TaskRecord, 'id' | 'status' | 'run' | 'statusReason'>>(
  task: T,
  lost: LostRuns,
): T {
  return isLost(task, lost) ? { ...task, statusReason: 'interrupted' } : task
}

/** The same for several tasks. Asks for lost runs only if one of the tasks is in a run. */
export async function allAsShown<T extends Pick<TaskRecord, 'id' | 'status' | 'run' | 'statusReason' | 'executor'>>(
  host: { lostRuns(): Promise<LostRuns> },
  tasks: readonly T[],
): Promise<T[]> {
  const mayBeLost = tasks.some(({ status, executor }) => status === 'working' && executor !== null)
  const lost = mayBeLost ? await host.lostRuns() : noLostRuns
  return tasks.map((task) => asShown(task, lost))
}

// Which tasks of the board are looked at, and the look itself.
import type { BoardStatus, BoardTask } from '../../entities/board.ts'
import { type BoardAccess, fromHere } from './board-place.ts'

/** As many as one look at the board gives. */
const mostListed = 10_000
const mostReady = 1_000

export interface BoardChoice {
  /** Only what may be claimed now. */
  ready: boolean
  statuses: readonly BoardStatus[] | undefined
  owner: string | undefined
}

/** By number; what may be claimed by urgency. `total` counts those that are not given, too. */
export async function chosenTasks(
  { engine, board }: BoardAccess,
  { ready, statuses, owner }: BoardChoice,
): Promise<{ tasks: BoardTask[]; total: number }> {
  if (ready) return await engine.bus.call('board:ready', { limit: mostReady, board }, fromHere)
  const status = statuses === undefined ? undefined : [...statuses]
  return await engine.bus.call('board:list', { status, owner, limit: mostListed, board }, fromHere)
}

/** The same asked of one task that has changed. */
export function isChosen(task: BoardTask, { ready, statuses, owner }: BoardChoice): boolean {
  return (
    (!ready || task.ready) &&
    (statuses === undefined || statuses.includes(task.status)) &&
    (owner === undefined || task.owner === owner)
  )
}

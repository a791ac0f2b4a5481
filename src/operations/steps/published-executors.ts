// The traits of the executors of working engines, published in the ledger for processes without these executors: whether an executor runs
// commands, and whether it asks people.
import { type AnyExecutor, isExecutor } from '../../entities/executor.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'

export interface PublishedTraits {
  runsCommands: boolean
  asksPeople: boolean
}

const setting = 'executors'

export function* publishExecutors(tx: Tx, executors: ReadonlyMap<string, AnyExecutor>): Op<void> {
  const known = yield* publishedExecutors(tx)
  const own = Object.fromEntries([...executors].map(([name, executor]) => [name, traitsOf(executor)]))
  const isChange = Object.entries(own).some(
    ([name, { runsCommands, asksPeople }]) =>
      known[name]?.runsCommands !== runsCommands || known[name]?.asksPeople !== asksPeople,
  )
  if (isChange) yield* tx.setting.put(setting, { ...known, ...own })
}

function traitsOf(executor: AnyExecutor): PublishedTraits {
  if (!isExecutor(executor)) return { runsCommands: false, asksPeople: false }
  return { runsCommands: executor.runsCommands, asksPeople: executor.asksPeople }
}

export function* publishedExecutors(tx: Reads): Op<Readonly<Record<string, PublishedTraits | undefined>>> {
  return ((yield* tx.setting.get(setting)) as Record<string, PublishedTraits> | undefined) ?? {}
}

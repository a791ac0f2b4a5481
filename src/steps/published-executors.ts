// The traits of the executors of working engines, published in the ledger for processes without these executors: whether an executor runs
// commands, and whether it asks people.
import type { Op, Reads, Tx } from '../ledger/ledger.ts'

export interface PublishedTraits {
  runsCommands: boolean
  asksPeople: boolean
}

const setting = 'executors'

export function* publishExecutors(tx: Tx, executors: Readonly<Record<string, PublishedTraits>>): Op<void> {
  const known = yield* publishedExecutors(tx)
  const isChange = Object.entries(executors).some(
    ([name, { runsCommands, asksPeople }]) =>
      known[name]?.runsCommands !== runsCommands || known[name]?.asksPeople !== asksPeople,
  )
  if (isChange) yield* tx.setting.put(setting, { ...known, ...executors })
}

export function* publishedExecutors(tx: Reads): Op<Readonly<Record<string, PublishedTraits | undefined>>> {
  return ((yield* tx.setting.get(setting)) as Record<string, PublishedTraits> | undefined) ?? {}
}

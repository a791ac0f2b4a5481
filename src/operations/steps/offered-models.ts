// The names of the models that working engines offer, published in the ledger for processes without models.
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'

const setting = 'models'

/** Publishes the models that this engine offers to the other processes on the ledger. */
export function* publishModels(tx: Tx, offered: readonly string[]): Op<void> {
  const known = yield* publishedModels(tx)
  const added = offered.filter((name) => !known.includes(name))
  if (added.length > 0) yield* tx.setting.put(setting, [...known, ...added])
}

export function* publishedModels(tx: Reads): Op<string[]> {
  return ((yield* tx.setting.get(setting)) as string[] | undefined) ?? []
}

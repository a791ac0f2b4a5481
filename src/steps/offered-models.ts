// The names under which working engines offer models, published in the ledger for processes that have no models themselves.
import type { Op, Reads, Tx } from '../ledger/ledger.ts'

const setting = 'models'

/** Tells the other processes on the ledger which models this engine offers. */
export function* publishModels(tx: Tx, offered: readonly string[]): Op<void> {
  const known = yield* publishedModels(tx)
  const news = offered.filter((name) => !known.includes(name))
  if (news.length > 0) yield* tx.setting.put(setting, [...known, ...news])
}

export function* publishedModels(tx: Reads): Op<string[]> {
  return ((yield* tx.setting.get(setting)) as string[] | undefined) ?? []
}

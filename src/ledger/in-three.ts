// A step in three parts, until all are written as one.
import type { Op, Step, Tx } from './ledger.ts'

interface Parts<L, D, R> {
  name: string
  load(tx: Tx): Op<L>
  judge(loaded: L): D
  write(tx: Tx, decision: D): Op<R>
}

export function inThree<L, D, R>({ name, load, judge, write }: Parts<L, D, R>): Step<R> {
  return {
    name,
    *decide(tx) {
      return yield* write(tx, judge(yield* load(tx)))
    },
  }
}

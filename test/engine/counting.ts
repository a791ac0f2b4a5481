import type { Ledger, Step } from '../../src/ledger/ledger.ts'

/** Counts the statements of the steps of a name. */
export function counting(inner: Ledger, name: string, counted: { statements: number }): Ledger {
  const step = <R>(given: Step<R>): Promise<R> =>
    inner.step(
      given.name !== name
        ? given
        : {
            name,
            *decide(tx) {
              const statements = given.decide(tx)
              let turn = statements.next()
              while (!turn.done) {
                counted.statements++
                turn = statements.next(yield turn.value)
              }
              return turn.value
            },
          },
    )
  return {
    name: inner.name,
    step,
    read: (query) => inner.read(query),
    enlist: (id) => inner.enlist(id),
    isAlive: (id) => inner.isAlive(id),
    discharge: (id, options) => inner.discharge(id, options),
    observe: (observer, options) => inner.observe(observer, options),
    close: (options) => inner.close(options),
  }
}

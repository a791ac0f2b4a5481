// A ledger that passes every call on to another one, but for the methods that are replaced: how faults and probes come between.
import type { Ledger } from './ledger.ts'

export function delegateLedger(inner: Ledger, replaced: Partial<Ledger> = {}): Ledger {
  return {
    name: inner.name,
    ...(inner.now === undefined ? {} : { now: inner.now }),
    ...(inner.keepLease === undefined ? {} : { keepLease: inner.keepLease }),
    step: (step) => inner.step(step),
    read: (query, reader) => inner.read(query, reader),
    register: (id) => inner.register(id),
    isAlive: (id) => inner.isAlive(id),
    unregister: (id, options) => inner.unregister(id, options),
    observe: (observer, options) => inner.observe(observer, options),
    close: (options) => inner.close(options),
    ...replaced,
  }
}

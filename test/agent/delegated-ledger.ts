// A ledger that delegates every method, so that a fault can override some of them.
import type { Ledger } from '../../src/ledger/ledger.ts'

export function delegated(inner: Ledger): Ledger {
  return {
    name: inner.name,
    step: (step) => inner.step(step),
    read: (query) => inner.read(query),
    register: (id) => inner.register(id),
    isAlive: (id) => inner.isAlive(id),
    unregister: (id, options) => inner.unregister(id, options),
    observe: (observer, options) => inner.observe(observer, options),
    close: (options) => inner.close(options),
  }
}

// Which instances live, and who wakes whom: what a ledger on PostgreSQL asks for beside its statements.
import type { Ledger, Life } from '../ledger.ts'

export interface LedgerLife {
  register(instanceId: string): Promise<void>
  isAlive(instanceId: string): Promise<Life>
  unregister(instanceId: string): void
  /** A group of this process has been committed: notifies others. */
  committed(): void
  /** The time of the server, in epoch milliseconds; undefined: that of this host. */
  readonly now?: Ledger['now']
  readonly keepLease?: Ledger['keepLease']
  close(): Promise<void>
}

/** For a database inside this process, which no other one can open. */
export function lifeInProcess(): LedgerLife {
  const alive = new Set<string>()
  return {
    async register(instanceId) {
      alive.add(instanceId)
    },
    isAlive: async (instanceId) => (alive.has(instanceId) ? 'alive' : 'unknown'),
    unregister: (instanceId) => void alive.delete(instanceId),
    committed() {},
    close: async () => alive.clear(),
  }
}

// One ledger for many tests, each of which begins with it empty: to create its tables, or its connections, takes longer than most tests.

import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'

/**
 * Deletes the few rows of a test, which takes less time than to truncate all tables, and lets all sequences begin again. The first branch
 * stays. The triggers of some tables would refuse it.
 */
export const emptied = `do $$ declare name text; begin
  set local session_replication_role = replica;
  for name in select quote_ident(tablename) from pg_tables
    where schemaname = current_schema() and tablename not in ('ledger_version', 'branch') loop
    execute 'delete from ' || name;
  end loop;
  delete from branch where branch.name <> 'main';
  for name in select quote_ident(sequencename) from pg_sequences where schemaname = current_schema() loop
    perform setval(name::regclass, 1, false);
  end loop;
  perform setval('branch_seq_seq', 1);
end $$`

/**
 * `empty` empties the database of the ledger, and returns how it is opened. The ledger is opened anew after a test that closes it, or that
 * registers an engine, because it would keep the lock of that engine.
 */
export function keptOpen(empty: () => Promise<() => Promise<Ledger>>) {
  let opened: Ledger | undefined
  return {
    async open(): Promise<{ ledger: Ledger; close: () => Promise<void> }> {
      const openAnew = await empty()
      opened ??= await openAnew()
      const inner = opened
      let isRegistered = false
      const unobserve: Array<() => void> = []
      const closeInner = async () => {
        if (opened === inner) opened = undefined
        await inner.close()
      }
      const ledger = delegateLedger(inner, {
        close: closeInner,
        register(id) {
          isRegistered = true
          return inner.register(id)
        },
        observe(observer, options) {
          const stop = inner.observe(observer, options)
          unobserve.push(stop)
          return stop
        },
      })
      const close = async () => {
        for (const stop of unobserve) stop()
        if (isRegistered) await closeInner()
      }
      return { ledger, close }
    },
    async end(): Promise<void> {
      await opened?.close()
    },
  }
}

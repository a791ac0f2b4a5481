// A lock that dies with its process: each instance holds an exclusive SQLite lock on a small file of its own beside the
// ledger. The kernel lets it go within milliseconds of any death, so a dead owner is known at once and a live one, however
// slow, is never mistaken for dead. (A pid file would outlive its process, and pids are used again.)
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { type Connection, connect, isBusy } from './connection.ts'

export interface InstanceLocks {
  hold(instanceId: string): void
  isHeld(instanceId: string): boolean
  release(instanceId: string): void
  releaseAll(): void
}

export function createInstanceLocks(ledgerPath: string): InstanceLocks {
  const held = new Map<string, Connection | null>()
  const fileOf = (instanceId: string): string => `${ledgerPath}-${instanceId}`
  const inMemory = ledgerPath === ':memory:'

  function release(instanceId: string): void {
    held.get(instanceId)?.close()
    held.delete(instanceId)
    if (!inMemory) rmSync(fileOf(instanceId), { force: true })
  }

  return {
    hold(instanceId) {
      if (inMemory) {
        held.set(instanceId, null)
        return
      }
      closeSync(openSync(fileOf(instanceId), 'wx', 0o600))
      const lock = connect(fileOf(instanceId), { busyTimeoutMs: 0 })
      lock.execute('begin exclusive')
      held.set(instanceId, lock)
    },
    isHeld(instanceId) {
      if (held.has(instanceId)) return true
      const file = fileOf(instanceId)
      if (inMemory || !existsSync(file)) return false
      let probe: Connection | undefined
      try {
        probe = connect(file, { busyTimeoutMs: 0 })
        probe.execute('begin exclusive')
        probe.execute('rollback')
        return false
      } catch (error) {
        // Whatever cannot be told apart from a live owner is left alone.
        return isBusy(error) || existsSync(file)
      } finally {
        probe?.close()
      }
    },
    release,
    releaseAll() {
      for (const instanceId of held.keys()) release(instanceId)
    },
  }
}

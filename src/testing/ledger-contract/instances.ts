// Instances: the engines that have the ledger open, and whether they live.
import type { Theme } from './contract-world.ts'
import { write } from './contract-world.ts'

export const instances: Theme = ({ describe, proves, expect }) => {
  describe('an instance', () => {
    proves('is listed from its beginning to its end, oldest first', async (ledger) => {
      const instance = (id: string, startedAt: number) => ({
        id,
        pid: 7,
        host: 'here',
        startedAt,
        leaseUntil: 50,
        endedAt: null,
      })
      await write(ledger, function* (tx) {
        yield* tx.instance.insert(instance('engine-1', 2))
        yield* tx.instance.insert(instance('engine-2', 1))
        yield* tx.instance.insert(instance('engine-3', 3))
        yield* tx.instance.end('engine-3', 9)
      })
      const open = await ledger.read((tx) => tx.instance.open())
      expect(open).toEqual([instance('engine-2', 1), instance('engine-1', 2)])
    })

    proves('is found by its id, and a sign of life opens it again when it had been taken for dead', async (ledger) => {
      const instance = { id: 'engine-1', pid: 7, host: 'here', startedAt: 1, leaseUntil: 50, endedAt: null }
      await write(ledger, function* (tx) {
        yield* tx.instance.insert(instance)
        yield* tx.instance.insert({ ...instance, id: 'engine-2' })
        yield* tx.instance.renew('engine-1', 80)
      })
      expect(await ledger.read((tx) => tx.instance.get('engine-1'))).toEqual({ ...instance, leaseUntil: 80 })
      await write(ledger, (tx) => tx.instance.end('engine-1', 90))
      await write(ledger, (tx) => tx.instance.end('engine-1', 95))
      expect((await ledger.read((tx) => tx.instance.get('engine-1')))?.endedAt).toBe(90)
      await write(ledger, (tx) => tx.instance.renew('engine-1', 120))
      expect(await ledger.read((tx) => tx.instance.get('engine-1'))).toEqual({ ...instance, leaseUntil: 120 })
      expect((await ledger.read((tx) => tx.instance.open())).length).toBe(2)
      expect(await ledger.read((tx) => tx.instance.get('engine-2'))).toMatchObject({ leaseUntil: 50 })
      expect(await ledger.read((tx) => tx.instance.get('nobody'))).toBe(undefined)
    })

    proves('is alive from enlisting to discharge, and nobody else is', async (ledger) => {
      expect(ledger.isAlive('engine-1')).toBe(false)
      await ledger.enlist('engine-1')
      expect([ledger.isAlive('engine-1'), ledger.isAlive('engine-2')]).toEqual([true, false])
      ledger.discharge('engine-1')
      expect(ledger.isAlive('engine-1')).toBe(false)
      ledger.discharge('engine-2')
    })
  })
}

// Instances: the engines that have the ledger open, and whether they are alive.
import { runRow, taskRow } from '../factories.ts'
import { type Theme, write } from './contract-world.ts'

const instance = (id: string, startedAt = 1) => ({
  id,
  pid: 7,
  host: 'here',
  startedAt,
  leaseUntil: 50,
  endedAt: null,
})

export const instances: Theme = ({ describe, proves, expect }) => {
  describe('an instance', () => {
    proves(
      'an instance is listed from its start to its end, oldest first, and afterwards among the latest',
      async (ledger) => {
        await write(ledger, function* (tx) {
          yield* tx.instance.insert(instance('engine-1', 2))
          yield* tx.instance.insert(instance('engine-2', 1))
          yield* tx.instance.insert(instance('engine-3', 3))
          yield* tx.instance.end('engine-3', 9)
        })
        const open = await ledger.read((tx) => tx.instance.open())
        expect(open).toEqual([instance('engine-2', 1), instance('engine-1', 2)])
        const latest = await ledger.read((tx) => tx.instance.latest(2))
        expect(latest).toEqual([{ ...instance('engine-3', 3), endedAt: 9 }, instance('engine-1', 2)])
      },
    )

    proves(
      'an instance is found by its id, and renewing it opens it again after it was taken for dead',
      async (ledger) => {
        const first = instance('engine-1')
        await write(ledger, function* (tx) {
          yield* tx.instance.insert(first)
          yield* tx.instance.insert(instance('engine-2'))
          yield* tx.instance.renew({ ...first, leaseUntil: 80 })
        })
        expect(await ledger.read((tx) => tx.instance.get('engine-1'))).toEqual({ ...first, leaseUntil: 80 })
        await write(ledger, (tx) => tx.instance.end('engine-1', 90))
        await write(ledger, (tx) => tx.instance.end('engine-1', 95))
        expect((await ledger.read((tx) => tx.instance.get('engine-1')))?.endedAt).toBe(90)
        await write(ledger, (tx) => tx.instance.renew({ ...first, leaseUntil: 120 }))
        expect(await ledger.read((tx) => tx.instance.get('engine-1'))).toEqual({ ...first, leaseUntil: 120 })
        expect((await ledger.read((tx) => tx.instance.open())).length).toBe(2)
        expect(await ledger.read((tx) => tx.instance.get('engine-2'))).toMatchObject({ leaseUntil: 50 })
        expect(await ledger.read((tx) => tx.instance.get('missing'))).toBe(undefined)
      },
    )

    proves(
      'isAlive reports an instance as alive from its registration to its end, and no other one',
      async (ledger) => {
        const isAlive = async (id: string) => (await ledger.isAlive(id)) === 'alive'
        expect(await isAlive('engine-1')).toBe(false)
        await ledger.register('engine-1')
        await ledger.register('engine-3')
        expect([await isAlive('engine-1'), await isAlive('engine-2')]).toEqual([true, false])
        ledger.unregister('engine-1')
        ledger.unregister('engine-3', { asDead: true })
        expect([await isAlive('engine-1'), await isAlive('engine-3')]).toEqual([false, false])
        ledger.unregister('engine-2')
      },
    )

    proves('an instance is relevant while its row, a run or a mirrored folder names it', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const id of ['engine-1', 'engine-2', 'engine-3']) yield* tx.instance.insert(instance(id))
        yield* tx.task.insert(taskRow({ id: 'a' }))
        yield* tx.run.insert(runRow({ taskId: 'a', number: 1, instanceId: 'engine-2' }))
        yield* tx.mirror.hold('/a', 'main', 'mirror-1', 10)
        for (const id of ['engine-2', 'engine-3']) yield* tx.instance.end(id, 9)
      })
      const named = await ledger.read((tx) => tx.instance.named())
      expect(named.sort()).toEqual(['engine-1', 'engine-2', 'mirror-1'])
    })

    proves(
      'an instance that ended long ago and owns no open run is forgotten, and renewing it writes its row anew',
      async (ledger) => {
        const all = ['open', 'long-ago', 'just-now', 'owner']
        const run = runRow({ taskId: 'a', number: 1, instanceId: 'owner' })
        await write(ledger, function* (tx) {
          for (const id of all) yield* tx.instance.insert(instance(id))
          yield* tx.task.insert(taskRow({ id: 'a' }))
          yield* tx.run.insert(run)
          for (const id of ['long-ago', 'owner']) yield* tx.instance.end(id, 9)
          yield* tx.instance.end('just-now', 10)
        })
        const left = async () => {
          const found = await Promise.all(all.map((id) => ledger.read((tx) => tx.instance.get(id))))
          return found.flatMap((each) => each?.id ?? [])
        }
        expect(await write(ledger, (tx) => tx.instance.forget(10))).toBe(1)
        expect(await left()).toEqual(['open', 'just-now', 'owner'])
        await write(ledger, (tx) =>
          tx.run.save({ ...run, status: 'closed', outcome: 'completed', endedAt: 11, closedAt: 11 }),
        )
        expect(await write(ledger, (tx) => tx.instance.forget(10))).toBe(1)
        expect(await left()).toEqual(['open', 'just-now'])
        await write(ledger, (tx) => tx.instance.renew({ ...instance('long-ago', 3), leaseUntil: 99 }))
        expect(await ledger.read((tx) => tx.instance.get('long-ago'))).toEqual({
          ...instance('long-ago', 3),
          leaseUntil: 99,
        })
      },
    )
  })
}

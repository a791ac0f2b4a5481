// Dependencies: open edges, satisfied ones, waits of a journal entry, and the search for a cycle.

import { callRow, edgeRow, someTime, taskRow } from '../factories.ts'
import { insertTasks, type Theme, write } from './contract-world.ts'

export const dependencies: Theme = ({ describe, proves, expect }) => {
  describe('dependencies', () => {
    proves('dependencies keep the order in which they were given, satisfied or not', async (ledger) => {
      await insertTasks(ledger, 'a', 'z', 'm', 'b')
      await write(ledger, function* (tx) {
        for (const blockerId of ['z', 'm', 'b']) yield* tx.dependency.insert(edgeRow({ taskId: 'a', blockerId }))
        yield* tx.dependency.satisfy(edgeRow({ taskId: 'a', blockerId: 'm' }), someTime)
      })
      expect(await ledger.read((tx) => tx.dependency.blockers('a'))).toEqual(['z', 'm', 'b'])
      expect(await ledger.read((tx) => tx.dependency.openBlockers('a'))).toEqual(['z', 'b'])
      expect(await ledger.read((tx) => tx.dependency.dependents('m'))).toEqual([])
      expect((await ledger.read((tx) => tx.dependency.dependents('b'))).map((edge) => edge.taskId)).toEqual(['a'])
      await write(ledger, (tx) => tx.dependency.remove('a', 'z'))
      expect(await ledger.read((tx) => tx.dependency.blockers('a'))).toEqual(['m', 'b'])
    })

    proves('the dependencies of a wait are satisfied together and are not blockers', async (ledger) => {
      await insertTasks(ledger, 'a', 'b', 'c')
      await write(ledger, function* (tx) {
        for (const blockerId of ['b', 'c']) {
          yield* tx.dependency.insert(edgeRow({ taskId: 'a', blockerId, kind: 'wait', callId: 'call-1' }))
        }
        yield* tx.dependency.insert(edgeRow({ taskId: 'a', blockerId: 'b', kind: 'wait', callId: 'call-2' }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'a', blockerId: 'b' }))
        yield* tx.dependency.satisfyWaits('call-1', someTime)
      })
      expect(await ledger.read((tx) => tx.dependency.openWaits('call-1'))).toEqual([])
      expect((await ledger.read((tx) => tx.dependency.openWaits('call-2'))).length).toBe(1)
      expect(await ledger.read((tx) => tx.dependency.openBlockers('a'))).toEqual(['b'])
      expect((await ledger.read((tx) => tx.dependency.dependents('b'))).length).toBe(2)
    })

    proves(
      'the dependencies of an open wait are open again when the awaited task is, and those of an ended wait are not',
      async (ledger) => {
        await insertTasks(ledger, 'a', 'b')
        await write(ledger, function* (tx) {
          for (const [id, status] of Object.entries({ 'call-open': 'pending', 'call-over': 'completed' } as const)) {
            yield* tx.call.insert(callRow({ id, taskId: 'a', kind: 'wait', status }))
            const edge = edgeRow({ taskId: 'a', blockerId: 'b', kind: 'wait', callId: id, satisfiedAt: someTime })
            yield* tx.dependency.insert(edge)
          }
          yield* tx.dependency.reopenWaits('b')
        })
        expect(await ledger.read((tx) => tx.dependency.hasOpenWaits('call-open'))).toBe(true)
        expect(await ledger.read((tx) => tx.dependency.hasOpenWaits('call-over'))).toBe(false)
      },
    )

    proves('a dependency path follows open edges, and parents that wait for children', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'group', group: true }))
        yield* tx.task.insert(taskRow({ id: 'child', parentId: 'group' }))
        yield* tx.task.insert(taskRow({ id: 'auto', policy: { autoComplete: true } }))
        yield* tx.task.insert(taskRow({ id: 'below-auto', parentId: 'auto' }))
        yield* tx.task.insert(taskRow({ id: 'plain' }))
        yield* tx.task.insert(taskRow({ id: 'below-plain', parentId: 'plain' }))
        yield* tx.task.insert(taskRow({ id: 'end' }))
        for (const taskId of ['child', 'below-auto', 'below-plain']) {
          yield* tx.dependency.insert(edgeRow({ taskId, blockerId: 'end' }))
        }
        yield* tx.task.insert(taskRow({ id: 'past' }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'past', blockerId: 'end', satisfiedAt: someTime }))
      })
      const path = (...from: string[]) => ledger.read((tx) => tx.dependency.path(from, new Set(['end'])))
      expect(await path('group')).toEqual(['group', 'child', 'end'])
      expect(await path('auto')).toEqual(['auto', 'below-auto', 'end'])
      expect(await path('plain')).toBe(undefined)
      expect(await path('past')).toBe(undefined)
      expect(await path('plain', 'child')).toEqual(['child', 'end'])
      expect(await path('end')).toEqual(['end'])
      expect(await path()).toBe(undefined)
    })

    proves('a dependency path visits each task of a cycle once', async (ledger) => {
      await insertTasks(ledger, 'a', 'b', 'c', 'elsewhere')
      await write(ledger, function* (tx) {
        for (const [taskId, blockerId] of [['a', 'b'] as const, ['b', 'c'] as const, ['c', 'a'] as const]) {
          yield* tx.dependency.insert(edgeRow({ taskId, blockerId }))
        }
      })
      expect(await ledger.read((tx) => tx.dependency.path(['a'], new Set(['elsewhere'])))).toBe(undefined)
      expect(await ledger.read((tx) => tx.dependency.path(['a'], new Set(['c'])))).toEqual(['a', 'b', 'c'])
    })
  })
}

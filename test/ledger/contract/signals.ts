// Signals: kept in their order until a wait takes them, each once.
import { signalRow, taskRow } from '../factories.ts'
import { type Theme, write } from './contract-world.ts'

export const signals: Theme = ({ describe, proves, expect }) => {
  describe('signals', () => {
    proves('signals are kept by task and name, oldest first, until they are taken', async (ledger) => {
      const [first, second] = await write(ledger, function* (tx) {
        for (const id of ['a', 'b']) yield* tx.task.insert(taskRow({ id }))
        yield* tx.signal.insert(signalRow({ taskId: 'b', payload: 'for another task' }))
        yield* tx.signal.insert(signalRow({ taskId: 'a', name: 'shipped' }))
        return [
          yield* tx.signal.insert(signalRow({ taskId: 'a', payload: { amount: 1 } })),
          yield* tx.signal.insert(signalRow({ taskId: 'a', payload: { amount: 2 } })),
        ] as const
      })
      const kept = () => ledger.read((tx) => tx.signal.kept('a', 'paid'))
      const count = () => ledger.read((tx) => tx.signal.countKept('a'))
      expect([await kept(), await count()]).toEqual([
        { ...signalRow({ taskId: 'a', payload: { amount: 1 } }), seq: first },
        3,
      ])
      await write(ledger, (tx) => tx.signal.take({ taskId: 'a', seq: first }, 'call-1'))
      expect([await kept(), await count()]).toMatchObject([{ seq: second, payload: { amount: 2 } }, 2])
      await write(ledger, (tx) => tx.signal.take({ taskId: 'a', seq: second }, 'call-2'))
      expect([await kept(), await count()]).toEqual([undefined, 1])
    })

    proves('a signal is known by the id with which it was sent, also when it was taken', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const id of ['a', 'b']) yield* tx.task.insert(taskRow({ id }))
        yield* tx.signal.insert(signalRow({ taskId: 'a', sentId: 'evt-1' }))
        yield* tx.signal.insert(signalRow({ taskId: 'a', sentId: 'evt-2', payload: null, takenBy: 'call-1' }))
      })
      const sent = (taskId: string, name: string, id: string) =>
        ledger.read((tx) => tx.signal.wasSent(taskId, name, id))
      expect([await sent('a', 'paid', 'evt-1'), await sent('a', 'paid', 'evt-2')]).toEqual([true, true])
      expect([
        await sent('a', 'paid', 'evt-3'),
        await sent('a', 'shipped', 'evt-1'),
        await sent('b', 'paid', 'evt-1'),
      ]).toEqual([false, false, false])
    })
  })
}

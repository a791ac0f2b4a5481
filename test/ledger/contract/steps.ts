// Steps: decided in order on the state of the ledger, each atomic, together in one commit.
import { all, type LedgerObserver, type Step } from '../../../src/ledger/ledger.ts'
import { eventRow, taskRow } from '../factories.ts'
import { idsIn, inserted, type Theme, write } from './contract-world.ts'

/** Inserts a task; throws if its id exists, as a step of the engine would. */
function add(id: string): Step<number> {
  return {
    name: 'add',
    *decide(tx) {
      if ((yield* tx.task.get(id)) !== undefined) throw new RangeError(`there is a ${id}`)
      const seq = yield* inserted(tx, taskRow({ id }))
      yield* tx.event.append(eventRow({ taskId: id, type: 'task.created' }))
      return seq
    },
  }
}

export const steps: Theme = ({ describe, proves, expect }) => {
  describe('a read', () => {
    proves('V-07 a read rejects without running if its signal has aborted', async (ledger) => {
      const reason = new Error('gone')
      const reading = ledger.read((tx) => tx.task.get('a'), { principal: 'ann', signal: AbortSignal.abort(reason) })
      await expect(reading).rejects.toBe(reason)
      expect(await ledger.read((tx) => tx.task.get('a'), { principal: 'ann' })).toBe(undefined)
    })
  })

  describe('a step', () => {
    proves('a step reads, decides and writes, and resolves to its return value', async (ledger) => {
      expect(await ledger.step(add('a'))).toBe(1)
      expect((await ledger.read((tx) => tx.task.get('a')))?.id).toBe('a')
    })

    proves('reads that a step runs together see its writes, and each returns a whole record', async (ledger) => {
      await ledger.step(add('a'))
      const policy = { concurrency: 3 }
      const found = await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'b', policy }))
        return yield* all([tx.task.get('a'), tx.task.get('b'), tx.task.get('a'), tx.task.get('c'), tx.task.list({}, 9)])
      })
      const [a, b, again, c, listed] = found
      expect([a, again]).toEqual([1, 1].map((seq) => ({ ...taskRow({ id: 'a' }), seq })))
      expect(b).toEqual({ ...taskRow({ id: 'b', policy }), seq: 2 })
      expect(c).toBe(undefined)
      expect(listed.map(({ id }) => id)).toEqual(['a', 'b'])
    })

    proves('a step that throws rejects with the same error, and nothing of it is stored', async (ledger) => {
      const refusal = new Error('no')
      const refused: Step<void> = {
        name: 'refused',
        *decide(tx) {
          yield* tx.task.get('never')
          throw refusal
        },
      }
      await expect(ledger.step(refused)).rejects.toBe(refusal)
      expect(await ledger.read((tx) => tx.task.get('never'))).toBe(undefined)
    })

    proves('a step that throws between writes is rolled back completely', async (ledger) => {
      const refusal = new Error('half way')
      const half = write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'half' }))
        yield* tx.event.append(eventRow({ taskId: 'half' }))
        throw refusal
      })
      await expect(half).rejects.toBe(refusal)
      expect(await ledger.read((tx) => tx.task.get('half'))).toBe(undefined)
      expect(await ledger.read((tx) => tx.event.last())).toBe(0)
    })

    proves(
      'a step that the tables refuse rejects with LEDGER_WRITE_FAILED and is rolled back completely',
      async (ledger) => {
        await ledger.step(add('a'))
        const clash = write(ledger, function* (tx) {
          yield* tx.task.insert(taskRow({ id: 'before' }))
          yield* tx.task.insert(taskRow({ id: 'a' }))
        })
        await expect(clash).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
        expect(await ledger.read((tx) => tx.task.get('before'))).toBe(undefined)
      },
    )
  })

  describe('steps that arrive together', () => {
    proves('steps are decided in order of arrival, each on the writes of the ones before it', async (ledger) => {
      const outcomes = await Promise.allSettled([ledger.step(add('a')), ledger.step(add('a')), ledger.step(add('b'))])
      expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(await idsIn(ledger, (tx) => tx.task.list({}, 10))).toEqual(['a', 'b'])
    })

    proves('a step that throws before or after its writes, or that the tables refuse, fails alone', async (ledger) => {
      const outcomes = await Promise.allSettled([
        ledger.step(add('a')),
        ledger.step(add('a')),
        write(ledger, function* (tx) {
          yield* tx.task.insert(taskRow({ id: 'half' }))
          throw new Error('half way')
        }),
        ledger.step(add('b')),
        write(ledger, function* (tx) {
          yield* tx.task.insert(taskRow({ id: 'clash' }))
          yield* tx.task.insert(taskRow({ id: 'b' }))
        }),
        ledger.step(add('c')),
      ])
      expect(outcomes.map((outcome) => outcome.status)).toEqual([
        'fulfilled',
        'rejected',
        'rejected',
        'fulfilled',
        'rejected',
        'fulfilled',
      ])
      expect(await idsIn(ledger, (tx) => tx.task.list({}, 10))).toEqual(['a', 'b', 'c'])
      const events = await ledger.read((tx) => tx.event.after(0, 10))
      expect(events.map((event) => event.taskId)).toEqual(['a', 'b', 'c'])
    })

    proves('more than a thousand steps at once are all written once', async (ledger) => {
      await Promise.all(Array.from({ length: 1_200 }, (_, n) => ledger.step(add(`task-${n}`))))
      expect(await ledger.read((tx) => tx.task.count({}))).toBe(1_200)
      const last = { priority: 0, seq: 1_199 }
      expect(await idsIn(ledger, (tx) => tx.task.list({}, 1, last))).toEqual(['task-1199'])
    })
  })

  describe('an observer', () => {
    proves('an observer receives the events of every commit in order, once they are durable', async (ledger) => {
      const received: string[] = []
      const seen: Array<Promise<boolean>> = []
      ledger.observe(
        observing((events) => {
          for (const event of events) {
            received.push(`${event.seq} ${event.taskId}`)
            seen.push(ledger.read((tx) => tx.task.get(event.taskId)).then((task) => task !== undefined))
          }
        }),
        { watchOthers: false },
      )
      await Promise.allSettled([ledger.step(add('a')), ledger.step(add('a')), ledger.step(add('b'))])
      await ledger.step(add('c'))
      const stored = await ledger.read((tx) => tx.event.after(0, 10))
      expect(received).toEqual(stored.map((event) => `${event.seq} ${event.taskId}`))
      expect(received.length).toBe(3)
      expect(await Promise.all(seen)).toEqual([true, true, true])
    })

    proves('an observer receives nothing of a refused step, and nothing after it has unsubscribed', async (ledger) => {
      const received: string[] = []
      const stop = ledger.observe(
        observing((events) => received.push(...events.map((event) => event.taskId))),
        { watchOthers: false },
      )
      await Promise.allSettled([
        write(ledger, function* (tx) {
          yield* tx.task.insert(taskRow({ id: 'half' }))
          yield* tx.event.append(eventRow({ taskId: 'half' }))
          throw new Error('half way')
        }),
      ])
      await ledger.step(add('a'))
      stop()
      await ledger.step(add('b'))
      expect(received).toEqual(['a'])
    })
  })

  describe('closing', () => {
    proves('closing writes the steps that arrived before, and refuses later ones', async (ledger) => {
      const before = ledger.step(add('a'))
      const closed = ledger.close()
      const after = ledger.step(add('b'))
      await expect(after).rejects.toMatchObject({ code: 'ENGINE_CLOSED' })
      expect(await before).toBe(1)
      await closed
      await expect(ledger.read((tx) => tx.event.last())).rejects.toMatchObject({ code: 'ENGINE_CLOSED' })
      await ledger.close()
    })
  })
}

function observing(committed: LedgerObserver['committed']): LedgerObserver {
  return { committed, changed() {}, failed() {} }
}

// Runs and the journal: open ones, their owners, and their order.
import { callRow, messageRow, runRow, someTime, taskRow } from '../factories.ts'
import { idsIn, type Theme, write } from './contract-world.ts'

export const runsAndCalls: Theme = ({ describe, proves, expect }) => {
  describe('runs', () => {
    proves('open runs are found by their instance', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const taskId of ['a', 'b', 'c', 'd']) yield* tx.task.insert(taskRow({ id: taskId }))
        yield* tx.run.insert(runRow({ taskId: 'a', startedAt: 2 }))
        yield* tx.run.insert(runRow({ taskId: 'b', startedAt: 1 }))
        yield* tx.run.insert(runRow({ taskId: 'c', instanceId: 'engine-2' }))
        yield* tx.run.insert(runRow({ taskId: 'd', startedAt: 3 }))
        const ended = { outcome: 'paused' as const, error: null, endedAt: 5 }
        yield* tx.run.save({ taskId: 'a', number: 1, status: 'ending', closedAt: null, ...ended })
        yield* tx.run.save({ taskId: 'd', number: 1, status: 'closed', closedAt: 6, ...ended })
      })
      const open = await ledger.read((tx) => tx.run.openOf('engine-1'))
      expect(open.map((run) => `${run.taskId} ${run.status}`)).toEqual(['b live', 'a ending'])
      expect(await ledger.read((tx) => tx.run.openOf('engine-3'))).toEqual([])
    })

    proves('a second run of a task is refused while the first is open', async (ledger) => {
      const first = runRow({ taskId: 'a' })
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a' }))
        yield* tx.run.insert(first)
      })
      const second = () => write(ledger, (tx) => tx.run.insert(runRow({ taskId: 'a', number: 2 })))
      await expect(second()).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
      await write(ledger, (tx) => tx.run.save({ ...first, status: 'ending', outcome: 'paused', endedAt: 1 }))
      await expect(second()).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
      await write(ledger, (tx) =>
        tx.run.save({ ...first, status: 'closed', outcome: 'paused', endedAt: 1, closedAt: 2 }),
      )
      await second()
      expect((await ledger.read((tx) => tx.run.list('a'))).map((run) => run.number)).toEqual([1, 2])
      const page = async (after: number, limit: number) =>
        (await ledger.read((tx) => tx.run.page('a', after, limit))).map((run) => run.number)
      expect([await page(0, 1), await page(1, 9), await page(2, 9)]).toEqual([[1], [2], []])
    })
  })

  describe('the journal', () => {
    proves(
      'the journal is read in the order of writing, optionally by kind or only its open entries',
      async (ledger) => {
        await write(ledger, function* (tx) {
          yield* tx.task.insert(taskRow({ id: 'a' }))
          yield* tx.task.insert(taskRow({ id: 'b' }))
          yield* tx.call.insert(callRow({ id: 'z', taskId: 'a', createdAt: someTime + 9 }))
          yield* tx.call.insert(callRow({ id: 'y', taskId: 'a', kind: 'ask', status: 'pending' }))
          yield* tx.call.insert(callRow({ id: 'x', taskId: 'a', status: 'completed', createdAt: 0 }))
          yield* tx.call.insert(callRow({ id: 'w', taskId: 'b' }))
        })
        expect(await idsIn(ledger, (tx) => tx.call.list('a'))).toEqual(['z', 'y', 'x'])
        expect(await idsIn(ledger, (tx) => tx.call.list('a', ['call', 'sleep']))).toEqual(['z', 'x'])
        const page = async (after: number, limit: number) => {
          const { rows, isLast } = await ledger.read((tx) => tx.call.page('a', after, limit))
          return [rows.map(({ id }) => id), isLast]
        }
        expect(await page(0, 1)).toEqual([['z'], false])
        const { seq } = (await ledger.read((tx) => tx.call.get('z'))) as { seq: number }
        expect(await page(seq, 9)).toEqual([['x'], true])
        expect(await idsIn(ledger, (tx) => tx.call.open('a'))).toEqual(['z', 'y'])
        expect(await ledger.read((tx) => tx.call.get('missing'))).toBe(undefined)
      },
    )

    proves('what a run may find again is what its own generation recorded', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a', generation: 3 }))
        for (const generation of [1, 2, 3]) {
          yield* tx.run.insert(
            runRow({
              taskId: 'a',
              number: generation,
              generation,
              status: 'closed',
              outcome: 'waiting',
              endedAt: 1,
              closedAt: 1,
            }),
          )
          yield* tx.call.insert(callRow({ id: `call-${generation}`, taskId: 'a', generation }))
          yield* tx.message.append(
            messageRow({ id: `msg-${generation}`, taskId: 'a', run: generation, generation, ident: 'p:hello' }),
          )
        }
        yield* tx.message.append(messageRow({ id: 'sent', taskId: 'a' }))
      })
      for (const generation of [1, 2, 3]) {
        expect(await idsIn(ledger, (tx) => tx.call.ofGeneration('a', generation))).toEqual([`call-${generation}`])
        expect(await idsIn(ledger, (tx) => tx.message.ofGeneration('a', generation))).toEqual([`msg-${generation}`])
        const { rows } = await ledger.read((tx) => tx.call.page('a', 0, 9, generation))
        expect(rows.map(({ id }) => id)).toEqual([`call-${generation}`])
        const runs = await ledger.read((tx) => tx.run.page('a', 0, 9, generation))
        expect(runs.map(({ number }) => number)).toEqual([generation])
      }
    })

    proves('a task is found by its live run, and by no other', async (ledger) => {
      const team = { taskId: 'objectives', agentId: 'worker' }
      const working = { status: 'working' as const, run: 2, runOpen: true }
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a', name: 'One', ...working }))
        yield* tx.task.insert(taskRow({ id: 'b', ...working, policy: { team, systemPrompt: 'Be brief.' } }))
        yield* tx.task.insert(taskRow({ id: 'c', ...working, status: 'paused' }))
      })
      const live = (id: string, run: number) => ledger.read((tx) => tx.call.liveTask(id, run))
      expect(await live('a', 2)).toEqual({ id: 'a', run: 2, name: 'One', status: 'working', policy: {} })
      expect((await live('b', 2))?.policy).toEqual({ team })
      expect([await live('a', 1), await live('a', 3), await live('c', 2), await live('d', 2)]).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ])
    })

    proves('a call in progress that was not announced is ended alone, and no other', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a' }))
        yield* tx.call.insert(callRow({ id: 'z', taskId: 'a', details: { noted: true } }))
        yield* tx.call.insert(callRow({ id: 'y', taskId: 'a' }))
        yield* tx.call.insert(callRow({ id: 'pending', taskId: 'a', status: 'pending' }))
        yield* tx.call.insert(callRow({ id: 'announced', taskId: 'a', startMessageId: 'm' }))
        yield* tx.call.insert(callRow({ id: 'sleep', taskId: 'a', kind: 'sleep' }))
      })
      const came = { status: 'completed' as const, result: [1], error: null, updatedAt: someTime + 5 }
      const failure = {
        ...came,
        status: 'failed' as const,
        result: null,
        error: { code: 'CALL_FAILED', message: 'no' },
      }
      const end = (id: string, outcome: typeof came | typeof failure = came, taskId = 'a') =>
        write(ledger, (tx) => tx.call.end({ id, taskId, kind: 'call', ...outcome }))
      expect([await end('z', came, 'b'), await end('z'), await end('z'), await end('y', failure)]).toEqual([
        false,
        true,
        false,
        true,
      ])
      expect([await end('pending'), await end('announced'), await end('sleep')]).toEqual([false, false, false])
      const ended = await ledger.read((tx) => tx.call.list('a'))
      expect(ended).toMatchObject([
        { ...came, details: { noted: true } },
        failure,
        { status: 'pending' },
        { status: 'in_progress' },
        { status: 'in_progress' },
      ])
    })
  })
}

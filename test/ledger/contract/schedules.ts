// Schedules: their rows, and which of them are due.
import type { ScheduleRecord } from '../../../src/entities/schedule.ts'
import { scheduleRow, taskRow } from '../factories.ts'
import { type Theme, write } from './contract-world.ts'

export const schedules: Theme = ({ describe, proves, expect }) => {
  describe('schedules', () => {
    proves('a schedule is saved whole, replaced, listed by name and removed', async (ledger) => {
      const nightly = scheduleRow({
        name: 'nightly',
        cron: '0 3 * * *',
        everyMs: null,
        timezone: 'Europe/Berlin',
        overlap: 'queue',
        catchUp: 'none',
        jitterMs: 5,
        drafts: [{ id: 'task-1', input: { text: `'"\\ 漢` } }, { id: 'task-2' }],
        nextTick: 8.64e15,
        nextAt: 8.64e15,
        queuedTick: 3,
        taskId: 'gone',
        last: { tick: 2, at: 3, outcome: 'refused', error: { code: 'LIMIT_EXCEEDED', message: 'too deep' } },
      })
      const get = (name: string) => ledger.read((tx) => tx.schedule.get(name))
      await write(ledger, function* (tx) {
        yield* tx.schedule.save(nightly)
        for (const name of ['often', 'A', 'b.c-d_e']) yield* tx.schedule.save(scheduleRow({ name }))
      })
      expect(await get('nightly')).toEqual(nightly)
      expect(await get('none')).toBe(undefined)
      const paused: ScheduleRecord = { ...nightly, paused: true, nextAt: null, queuedTick: null, updatedAt: 9 }
      await write(ledger, (tx) => tx.schedule.save(paused))
      expect(await get('nightly')).toEqual(paused)
      const names = async (after: string, limit: number) =>
        (await ledger.read((tx) => tx.schedule.list(after, limit))).map(({ name }) => name)
      expect(await names('', 3)).toEqual(['A', 'b.c-d_e', 'nightly'])
      expect(await names('nightly', 3)).toEqual(['often'])
      expect(await write(ledger, (tx) => tx.schedule.remove('often'))).toBe(true)
      expect(await write(ledger, (tx) => tx.schedule.remove('often'))).toBe(false)
      expect(await names('nightly', 3)).toEqual([])
    })

    proves('a schedule has either an expression or an interval', async (ledger) => {
      for (const times of [
        { cron: '0 3 * * *', everyMs: 1 },
        { cron: null, everyMs: null },
      ]) {
        const both = write(ledger, (tx) => tx.schedule.save(scheduleRow({ name: 'both', ...times })))
        await expect(both).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
      }
    })

    proves('a schedule is due at its time, and when the task ends for which a tick waits', async (ledger) => {
      const own = { instanceId: 'engine-1', executors: [] }
      const due = async (now: number) => {
        const names = await ledger.read((tx) => tx.schedule.due(now, 9))
        return [names.sort().join(' '), await ledger.read((tx) => tx.task.nextDue(own))]
      }
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'open' }))
        yield* tx.schedule.save(scheduleRow({ name: 'soon', nextTick: 1, nextAt: 10 }))
        yield* tx.schedule.save(scheduleRow({ name: 'later', nextTick: 20, nextAt: 20 }))
        yield* tx.schedule.save(scheduleRow({ name: 'never', nextTick: 1 }))
        yield* tx.schedule.save(scheduleRow({ name: 'waits', queuedTick: 5, taskId: 'open' }))
      })
      expect(await due(9)).toEqual(['', 10])
      expect(await due(10)).toEqual(['soon', 10])
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'done', status: 'completed', completedAt: 1 }))
        yield* tx.schedule.save(scheduleRow({ name: 'waited', queuedTick: 6, taskId: 'done' }))
        yield* tx.schedule.save(scheduleRow({ name: 'purged', queuedTick: 7, taskId: 'gone', nextTick: 9, nextAt: 9 }))
      })
      const [names, soonest] = await due(20)
      expect(names).toBe('later purged soon waited')
      expect((soonest as number) <= 7).toBe(true)
    })
  })
}

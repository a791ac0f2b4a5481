// `errand schedule`: schedules are added, listed and changed by processes that run no tasks, and made by an engine that works.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/index.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { Workplace } from './workplace.ts'

const lines = ({ out }: { out: string }) => out.trim().split('\n')
const json = ({ out }: { out: string }) => lines({ out }).map((line) => JSON.parse(line))

it('errand schedule adds, lists, pauses, resumes, triggers and removes a schedule', async () => {
  await using place = new Workplace()
  const add = ['schedule', 'add', 'nightly', '--cron', '0 3 * * *', '--timezone', 'Europe/Berlin', '--run', 'true']
  const added = await place.errand(...add, '--overlap', 'queue', '--priority', '3')
  expect(added).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^nightly: 0 3 \* \* \* Europe\/Berlin, next 2\d/),
  })
  await place.errand('schedule', 'add', 'often', '--every', '2h', '--executor', 'work', '--input', '{"a": 1}')
  const [header, first, second] = lines(await place.errand('schedule'))
  expect(header).toMatch(/^NAME +WHEN +NEXT +LAST +TASK$/)
  expect(first).toMatch(/^nightly +0 3 \* \* \* Europe\/Berlin +2\S+Z +nightly$/)
  expect(second).toMatch(/^often +every 2h00m +2\S+Z +often$/)
  expect((await place.errand('schedule', 'pause', 'nightly')).out).toBe('nightly: 0 3 * * * Europe/Berlin, paused\n')
  const { out: taskId } = await place.errand('schedule', 'trigger', 'nightly')
  expect(json(await place.errand('show', taskId.trim(), '--json'))).toMatchObject([
    { executor: 'shell', priority: 3, key: expect.stringMatching(/^schedule:nightly:2\S+Z$/) },
  ])
  expect((await place.errand('schedule', 'trigger', 'nightly')).out).toBe(`queued: ${taskId.trim()} is open\n`)
  expect(json(await place.errand('schedule', 'ls', '--json'))).toMatchObject([
    { name: 'nightly', overlap: 'queue', paused: true, next: [], last: { outcome: 'queued' } },
    { name: 'often', everyMs: 7_200_000, next: [{}, {}, {}], last: null },
  ])
  expect((await place.errand('schedule', 'resume', 'nightly')).out).toContain('next 2')
  expect(await place.errand('schedule', 'rm', 'nightly')).toMatchObject({ code: 0, out: 'nightly is removed.\n' })
  expect(await place.errand('schedule', 'rm', 'nightly')).toMatchObject({ code: 2, out: '' })
  expect(lines(await place.errand('schedule', 'ls'))).toHaveLength(2)
})

it('errand schedule backfill makes the tasks of past times', async () => {
  await using place = new Workplace()
  await place.errand('schedule', 'add', 'hourly', '--cron', '0 * * * *', '--run', 'true')
  const range = ['--from', '2025-01-01T00:00:00Z', '--to', '2025-01-01T05:00:00Z']
  expect((await place.errand('schedule', 'backfill', 'hourly', ...range)).out).toBe('6 tasks for 6 times\n')
  expect((await place.errand('schedule', 'backfill', 'hourly', ...range)).out).toBe('0 tasks for 6 times\n')
})

it('errand schedule add refuses what could never come, and says what would work', async () => {
  await using place = new Workplace()
  const add = (...args: string[]) => place.errand('schedule', 'add', 'x', '--run', 'true', ...args)
  expect((await add('--cron', '0 0 31 2 *')).err).toContain('never come')
  expect((await add('--cron', '0 9 * * *', '--timezone', 'Mars/Phobos')).err).toContain('"Europe/Berlin" or "UTC"')
  expect((await add()).err).toContain('either --cron or --every')
  expect((await add('--every', '2')).err).toContain('--every takes a duration')
  expect((await add('--every', '2h', '--key', 'mine')).err).toContain('--key')
  expect((await place.errand('schedule', 'ls')).out).toBe('No schedules.\n')
})

it('a schedule that the command line added is made by an engine that works', async () => {
  await using place = new Workplace()
  await place.errand('schedule', 'add', 'often', '--every', '2h', '--executor', 'work')
  const clock = new SimulatedClock(Date.now())
  const executors = { work: async () => 'done' }
  await using engine = await createEngine({ ledger: join(place.folder, 'ledger.db'), executors, clock })
  await clock.advance('3h')
  expect((await engine.list({ keyPrefix: 'schedule:often:' })).tasks).toMatchObject([{ status: 'completed' }])
})

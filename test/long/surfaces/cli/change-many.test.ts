// Ten thousand failed tasks are retried by one command that is killed in the middle and run again, while an engine works on them and they fail
// again: none is retried twice.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createEngine } from '../../../../src/engine/create-engine.ts'
import { Workplace } from '../../../surfaces/cli/workplace.ts'

const count = 10_000

async function failedTasks(place: Workplace) {
  const engine = await createEngine({
    ledger: join(place.folder, 'ledger.db'),
    maxConcurrent: 100,
    executors: {
      work: () => {
        throw new Error('down')
      },
    },
  })
  for (let made = 0; made < count; made += 1_000) {
    await engine.create(Array.from({ length: 1_000 }, () => ({ executor: 'work' })))
  }
  await engine.idle()
  return engine
}

/** Kills the command when it has printed some progress. Returns the command that it has printed to go on with. */
async function killedInTheMiddle(place: Workplace): Promise<string[]> {
  const retrying = place.start('retry', '--status', 'failed')
  await retrying.printed(/retry: \d+ of 10000\n.*retry: \d+ of 10000/s)
  retrying.kill('SIGKILL')
  const { err } = await retrying.ended
  const again = /"errand ([^"]+)" goes on/.exec(err)?.[1]
  return (again ?? '').split(' ')
}

it('10,000 failed tasks are retried by one command, killed in the middle and run again: none twice', async () => {
  await using place = new Workplace()
  const engine = await failedTasks(place)
  try {
    const again = await killedInTheMiddle(place)
    expect(again).toContain('--before')
    const rest = await place.start(...again).ended
    expect(rest).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+ tasks retried\.\n$/) as string })
    await engine.idle()
    const attempts = new Map<number, number>()
    for await (const task of tasksOf(engine)) attempts.set(task.attempt, (attempts.get(task.attempt) ?? 0) + 1)
    expect([...attempts]).toEqual([[2, count]])
    // Without the bound, those that have failed again would be retried once more: the test would see it.
    const planted = await engine.batch('retry', { status: 'failed' })
    expect(planted.done).toBe(count)
  } finally {
    await engine.close()
  }
})

async function* tasksOf(engine: Awaited<ReturnType<typeof failedTasks>>) {
  for (let after: string | undefined; ; ) {
    const page = await engine.list({ limit: 1_000, ...(after === undefined ? {} : { after }) })
    yield* page.tasks
    if (page.next === null) return
    after = page.next
  }
}

// The process that posts webhooks is killed again and again while the receiver fails two thirds of the requests: no event is lost.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { checkLedger } from '../../src/ledger/check/check-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { ledgerFile, openEngine } from '../engine/world.ts'
import { programOf } from '../programs.ts'
import { isLong } from '../tier.ts'
import { receiver, secret } from './receiver.ts'

const tasks = isLong ? 60 : 12
const kills = isLong ? 20 : 4
const hour = 3_600_000
const start = Date.UTC(2026, 0, 1)

function startPosting(ledger: string, url: string, startsAt: number) {
  const script = programOf(import.meta.dirname, 'posting-process.ts')
  const given = [ledger, url, secret, String(tasks), String(startsAt)]
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { child, exited }
}

/** Returns the ids of the tasks whose events were accepted. Each process is killed at one of its requests, before or after the answer. */
async function deliverWithKills(loses: (tries: number) => boolean): Promise<{ accepted: string[]; ledger: string }> {
  const ledger = ledgerFile()
  let current: ReturnType<typeof startPosting> | undefined
  let requests = 0
  const hook = await receiver((tries) => {
    requests++
    if (loses(tries)) return 204
    if (requests === 2 + (started % 4) && current !== undefined && started <= kills) current.child.kill('SIGKILL')
    return tries % 3 === 0 ? 204 : 503
  }, 'any time')
  let started = 0
  for (;;) {
    requests = 0
    current = startPosting(ledger, hook.url, start + started * hour)
    started++
    const [code] = (await current.exited) as [number | null]
    if (code === 0) break
    expect(started).toBeLessThan(kills + 2)
  }
  expect(started).toBe(kills + 1)
  const lost = new Set(hook.tries.filter((_try, index) => loses(index + 1)).map(({ id }) => id))
  const accepted = hook.accepted.filter(({ id }) => !lost.has(id)).map(({ data }) => data.taskId)
  return { accepted: [...new Set(accepted)], ledger }
}

it('each event is delivered at least once, however often the process is killed', async () => {
  const { accepted, ledger } = await deliverWithKills(() => false)
  const engine = await openEngine({ ledger, work: false, clock: new SimulatedClock(start + 240 * hour) })
  const ids = (await engine.list({ limit: 1_000 })).tasks.map(({ id }) => id)
  expect(accepted.toSorted()).toEqual(ids.toSorted())
  await engine.close()
  expect((await checkLedger(ledger)).violations).toEqual([])
})

it('a receiver that accepts an event and loses it would be found', async () => {
  const { accepted } = await deliverWithKills((tries) => tries === 1)
  expect(accepted).toHaveLength(tasks - 1)
})

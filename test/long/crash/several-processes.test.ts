// Several processes on one ledger: no engine takes a run from another live one, however slow; killed engines are noticed; commands of a canceled
// task end in the other process; and kills at random lose nothing.

import { describe, expect, it } from 'vitest'
import { isAlive, type ProcessGroup, processGroupOf } from '../../../src/commands/process-group.ts'
import { delegateLedger } from '../../../src/ledger/delegate-ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { createOne, createPlace, drawSeed, effectsOf, openEngine, randomOf, startEngine } from '../../crash/child.ts'
import { violations } from '../../crash/invariants.ts'

/** A ledger that counts how often a working engine checks whether other engines are alive. */
async function countingLedger(path: string) {
  const inner = await openLedger(path)
  let checks = 0
  let waiting: Array<{ checks: number; resolve: () => void }> = []
  const ledger = delegateLedger(inner, {
    isAlive(id) {
      checks++
      for (const each of waiting) if (each.checks <= checks) each.resolve()
      waiting = waiting.filter((each) => each.checks > checks)
      return inner.isAlive(id)
    },
  })
  return {
    ledger,
    checked: (times: number) =>
      new Promise<void>((resolve) => {
        waiting.push({ checks: checks + times, resolve })
      }),
  }
}

const held = { executor: 'held', key: 'held', name: 'held' }

describe('Two engines on one ledger', () => {
  it.each([
    ['busy', false],
    ['stopped by SIGSTOP', true],
  ])('S0-109 an engine does not fail the calls of another live engine that is %s', async (_how, stop) => {
    const place = createPlace()
    const first = startEngine(place, { create: [held], leave: 'settled' })
    await first.lineWhere((line) => 'inside' in line)
    if (stop) first.signal('SIGSTOP')
    const { ledger, checked } = await countingLedger(place.ledger)
    const second = await openEngine(place, { ledger })
    const task = await createOne(second, held)
    await checked(4)
    // It runs its own tasks and does not change those of the other.
    expect(await second.result(await createOne(second, { executor: 'leaf' }))).toContain('leaf of')
    expect(await second.calls(task)).toMatchObject([{ status: 'in_progress' }])
    expect(await second.runs(task)).toMatchObject([{ status: 'live', outcome: null }])
    if (stop) first.signal('SIGCONT')
    first.send('go')
    expect(await second.result(task)).toBe(`held of ${task.id}`)
    expect((await first.exited).code).toBe(0)
    expect(await second.runs(task)).toHaveLength(1)
    await second.close()
    await ledger.close()
    expect(await violations(place)).toEqual([])
  })

  it('an engine notices that another engine was killed', async () => {
    const place = createPlace()
    // Without the executor of the first engine it can only recover those tasks.
    const second = await openEngine(place, { executors: { leaf: async () => 'leaf' } })
    for (let round = 1; round <= 5; round++) {
      const first = startEngine(place, { create: [{ ...held, key: `held ${round}` }], leave: 'never' })
      const { inside } = await first.lineWhere((line) => 'inside' in line)
      await first.kill()
      for await (const event of second.events({ taskId: inside as string })) if (event.data['lost'] !== undefined) break
    }
  })

  it('canceling a task in one process ends its command in another, with all processes that the command started', async () => {
    const place = createPlace()
    const hands = await openEngine(place, { work: false })
    const worker = startEngine(place, { leave: 'never' })
    await worker.lineWhere((line) => 'ready' in line)
    const input = { run: 'sleep 1000 & echo $$; wait', shell: '/bin/sh' }
    const task = await createOne(hands, { executor: 'shell', input })
    for await (const { type } of hands.events({ taskId: task.id })) if (type === 'output.written') break
    const [call] = await hands.calls(task)
    const group = processGroupOf(call?.details) as ProcessGroup
    expect(await isAlive(group)).toBe(true)
    await hands.cancel(task)
    for await (const { type } of hands.events({ taskId: task.id })) if (type === 'run.closed') break
    expect(await isAlive(group)).toBe(false)
  })
})

it('two engines that are killed in turn at random moments lose nothing, repeat nothing silently, and leave nothing stuck', async () => {
  const random = randomOf(drawSeed('two engines'))
  const place = createPlace()
  const create = Array.from({ length: 40 }, (_, index) => ({
    executor: ['everyStep', 'leaf', 'documents'][index % 3],
    key: `task ${index}`,
    input: { count: 5, atOnce: 5 },
  }))
  const start = () =>
    startEngine(place, {
      create,
      leave: 'settled',
      maxConcurrent: 3,
      maxCrashes: 100,
      onInterrupt: 'rerun',
      follow: true,
    })
  const engines = [start(), start()]
  let killed = 0
  for (let kill = 0; kill < 8; kill++) {
    const index = kill % 2
    const victim = engines[index] as ReturnType<typeof start>
    const nth = 10 + Math.floor(random() * 60)
    let events = 0
    await victim.lineWhere((line) => ('seq' in line && ++events >= nth) || 'steps' in line)
    if ((await victim.kill()).signal === 'SIGKILL') killed++
    engines[index] = start()
  }
  for (const { exited, lines } of engines) expect((await exited).code, JSON.stringify(lines.slice(-3))).toBe(0)
  const engine = await openEngine(place, { work: false })
  const { tasks, total } = await engine.list({ limit: 500 })
  expect(total).toBeGreaterThanOrEqual(40)
  expect(tasks.filter((task) => task.status !== 'completed')).toEqual([])
  expect(await violations(place)).toEqual([])
  console.log(`${killed} kills of two engines, ${effectsOf(place).length} effects of ${total} tasks`)
})

// An executor that computes without a pause between its slices. Each flight of a transaction waits for the end of a slice.
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import { createLedger, type TestServer, testServer } from '../../postgres/server.ts'

const server = (await testServer()) as TestServer

it.skipIf(server === undefined).each([2_500, 10_000])(
  'an engine whose executor computes for %d ms at a time stores new tasks in between, and loses no run',
  async (sliceMs) => {
    let isStored = false
    const reported: string[] = []
    const engine = await createEngine({
      ledger: await createLedger(server),
      onError: (error) => void reported.push(String(error)),
      executors: {
        quick: () => 'quick',
        busy: async () => {
          while (!isStored) {
            for (const end = performance.now() + sliceMs; performance.now() < end; );
            await setImmediate()
          }
          return 'busy'
        },
      },
    })
    onTestFinished(() => engine.close())
    const busy = await engine.create({ executor: 'busy' })
    const quick = await engine.create({ executor: 'quick' }).finally(() => {
      isStored = true
    })
    expect(await engine.result(busy)).toBe('busy')
    expect(await engine.result(quick)).toBe('quick')
    expect(await engine.runs(busy)).toHaveLength(1)
    expect(reported).toEqual([])
  },
  180_000,
)

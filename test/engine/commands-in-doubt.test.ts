// A command that a dead engine left in another place: recovery cannot see whether it runs. The place is written into the ledger by hand; two
// real PID namespaces are in test/long/engine/two-containers.test.ts.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shell } from '../../src/commands/shell.ts'
import { placeOfProcess } from '../../src/core/process-place.ts'
import type { EngineOptions } from '../../src/engine/engine-api.ts'
import { identOf } from '../../src/entities/call.ts'
import type { OnInterrupt } from '../../src/entities/task-fields.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { callRow, runRow } from '../ledger/factories.ts'
import { ledgerFile, openEngine } from './world.ts'

const [host, boot, pids] = placeOfProcess().split(' ')
const anotherContainer = `${host} ${boot} pid:[0]`
const beforeRestart = `${host} earlier-boot ${pids}`

/** A task whose command was running when its engine died, and an engine that takes it over. */
async function takeOver(place: string, task: { onInterrupt?: OnInterrupt } = {}, options: EngineOptions = {}) {
  const file = ledgerFile()
  const ran = join(dirname(file), 'ran')
  const run = `touch ${ran}`
  const producer = await openEngine({ ledger: file, work: false, executors: { shell } })
  const { id } = await producer.create({ executor: 'shell', input: { run }, ...task })
  await producer.close()
  const ledger = await openLedger(file)
  const lost = { id: 'instance-lost', pid: process.pid, host: place, startedAt: 0, leaseUntil: 0, endedAt: null }
  const identity = { command: run, cwd: null }
  const processGroup = { pgid: 2 ** 22 + 1, startedAt: `${boot}/1`, mark: 'ERRAND_CALL_ID=call-lost', place }
  await ledger.step({
    name: 'seed',
    *decide(tx) {
      yield* tx.instance.insert(lost)
      const created = yield* tx.task.get(id)
      yield* tx.task.save({ ...created!, status: 'working', run: 1, runOpen: true, ready: false })
      yield* tx.run.insert(runRow({ taskId: id, instanceId: lost.id }))
      const call = { taskId: id, name: 'shell', params: identity, ident: identOf(undefined, identity) }
      yield* tx.call.insert(callRow({ ...call, id: 'call-lost', details: { processGroup } }))
    },
  })
  await ledger.close()
  const reported: string[] = []
  const onError = (error: unknown): void => void reported.push(String(error))
  const engine = await openEngine({ ledger: file, executors: { shell }, onError, ...options } as never)
  return { engine, id, reported, hasRun: () => existsSync(ran) }
}

describe.runIf(process.platform === 'linux')('a command whose engine died in another container', () => {
  it('a command in another container is not run again beside one that may live: its task fails', async () => {
    const { engine, id, reported, hasRun } = await takeOver(anotherContainer)
    await expect(engine.result(id)).rejects.toThrow('Its command may still run')
    expect(await engine.get(id)).toMatchObject({ status: 'failed', error: { code: 'CALL_INTERRUPTED' } })
    expect(hasRun()).toBe(false)
    expect(reported.join()).toContain('A command of call call-lost may still be running')
  })

  it('a command in another container is run again if the task says so', async () => {
    const { engine, id, hasRun } = await takeOver(anotherContainer, { onInterrupt: 'rerun' })
    expect(await engine.result(id)).toMatchObject({ exitCode: 0 })
    expect(hasRun()).toBe(true)
  })

  it('a command in another container is run again if the engine says so', async () => {
    const { engine, id } = await takeOver(anotherContainer, {}, { onInterrupt: 'rerun' })
    expect(await engine.result(id)).toMatchObject({ exitCode: 0 })
  })

  it('a command in another container is run again if a person answers so, and the question says that it may still run', async () => {
    const { engine, id, hasRun } = await takeOver(anotherContainer, { onInterrupt: 'ask' })
    await expect.poll(async () => (await engine.get(id))?.status).toBe('input_required')
    expect(JSON.stringify(await engine.get(id))).toContain('its command may still run')
    expect(hasRun()).toBe(false)
    await engine.answer(id, 'rerun' as never)
    expect(await engine.result(id)).toMatchObject({ exitCode: 0 })
  })

  it.each([
    ['here', placeOfProcess()],
    ['before a restart of this host, which nothing outlives', beforeRestart],
  ])('a command that was started %s is run again by default', async (_when, place) => {
    const { engine, id, reported } = await takeOver(place)
    expect(await engine.result(id)).toMatchObject({ exitCode: 0 })
    expect(reported).toEqual([])
  })
})

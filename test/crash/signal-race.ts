// Processes that send the same signals to one task: each id is taken once.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, onTestFinished } from 'vitest'
import type { Run } from '../../src/entities/executor.ts'
import { checkLedger } from '../../src/ledger/check/check-ledger.ts'
import { ledgerFile, openEngine } from '../engine/world.ts'
import { programOf } from '../programs.ts'

function startSender(...given: string[]) {
  const script = programOf(import.meta.dirname, 'signal-process.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...given], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return {
    ready: lines.next(),
    async go(): Promise<unknown> {
      child.stdin.write('go\n')
      return JSON.parse((await lines.next()).value as string)
    },
  }
}

/** Each process sends each of the ids `rounds` times. */
export async function raceWithSignals({ ids, rounds, processes }: Record<'ids' | 'rounds' | 'processes', number>) {
  const ledger = ledgerFile()
  const collect = async (_task: unknown, run: Run) => {
    const got: unknown[] = []
    while (got.length < ids) got.push(await run.waitForSignal('event'))
    return got
  }
  const engine = await openEngine({ ledger, executors: { collect } })
  const task = await engine.create({ executor: 'collect' })
  const given = [ledger, task.id, String(ids), String(rounds)]
  const senders = Array.from({ length: processes }, () => startSender(...given))
  await Promise.all(senders.map(({ ready }) => ready))
  const reports = await Promise.all(senders.map((sender) => sender.go()))

  expect(reports).toEqual(senders.map(() => ({ sent: ids * rounds, errors: [] })))
  const got = (await engine.result(task)) as string[]
  expect([...got].sort()).toEqual(Array.from({ length: ids }, (_, n) => `evt_${n}`).sort())
  expect((await checkLedger(ledger)).violations).toEqual([])
}

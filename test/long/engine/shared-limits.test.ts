// Limits shared by engines in processes of their own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import type { Task } from '../../../src/entities/task.ts'
import { ledgerFile, openEngine } from '../../engine/world.ts'
import { programOf } from '../../programs.ts'

const many = (length: number, executor: string) => Array.from({ length }, () => ({ executor }) as never)

it('limits shared by engines apply to engines in processes of their own, also while they change', async () => {
  const ledger = ledgerFile()
  const effects = `${ledger}.effects`
  writeFileSync(effects, '')
  const hands = await openEngine({ ledger, work: false })
  await hands.setSharedLimits({ maxConcurrent: 3 })
  const engines = [0, 1, 2].map(() => startProcess(ledger, effects))
  await Promise.all(engines.map((engine) => engine.ready))
  const first = (await hands.create(many(90, 'tick'))) as unknown as Task[]
  await Promise.all(first.map((task) => hands.settled(task)))
  expect(maxOpen(effects)).toBe(3)
  const { size } = new Set(
    readFileSync(effects, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ')[1]),
  )
  console.log(`90 tasks, three at a time, by ${size} processes`)

  await hands.setSharedLimits({ maxConcurrent: 1 })
  writeFileSync(effects, '')
  const second = (await hands.create(many(20, 'tick'))) as unknown as Task[]
  await Promise.all(second.map((task) => hands.settled(task)))
  expect(maxOpen(effects)).toBe(1)
  for (const engine of engines) expect(await engine.leave()).toBe(0)
})

/** The maximum of concurrently open runs, by the order of the marks. */
function maxOpen(effects: string): number {
  let [open, most] = [0, 0]
  for (const line of readFileSync(effects, 'utf8').split('\n').filter(Boolean)) {
    open += line.startsWith('begin') ? 1 : -1
    most = Math.max(most, open)
  }
  expect(open).toBe(0)
  return most
}

function startProcess(ledger: string, effects: string) {
  const script = programOf(import.meta.dirname, '../../crash/limits-process.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ledger, effects], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return {
    ready: once(child.stdout, 'data'),
    async leave() {
      child.stdin.write('leave\n')
      return (await exited)[0]
    },
  }
}

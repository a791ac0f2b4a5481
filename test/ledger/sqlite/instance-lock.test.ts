// The lock of an instance dies with its process, and only with it.
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLedger } from '../../../src/testing/index.ts'
import { startChild } from './child-process.ts'

async function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'errand-lock-'))
  const file = join(folder, 'ledger.db')
  const ledger = await openLedger(file)
  onTestFinished(async () => {
    await ledger.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { file, ledger }
}

it('an instance of another process is alive until kill -9, and dead as soon as it is gone', async () => {
  const { file, ledger } = await setup()
  const child = startChild('hold', file, 'engine-other')
  expect(await child.nextLine()).toBe('held')
  // However often it is asked, the lock is never stolen.
  for (let time = 0; time < 20; time++) expect(ledger.isAlive('engine-other')).toBe(true)
  await child.kill()
  expect(ledger.isAlive('engine-other')).toBe(false)
  expect(existsSync(`${file}-engine-other`)).toBe(true)
  ledger.discharge('engine-other')
  expect(existsSync(`${file}-engine-other`)).toBe(false)
})

it('an instance that closes its ledger is dead at once, and leaves no file', async () => {
  const { file, ledger } = await setup()
  const child = startChild('hold', file, 'engine-other')
  await child.nextLine()
  child.say('go')
  expect(await child.ended()).toBe(0)
  expect(ledger.isAlive('engine-other')).toBe(false)
  expect(existsSync(`${file}-engine-other`)).toBe(false)
})

it('two ledgers of one process on one file know of each other', async () => {
  const { file, ledger } = await setup()
  const other = await openLedger(file)
  await other.enlist('engine-2')
  expect(ledger.isAlive('engine-2')).toBe(true)
  await expect(ledger.enlist('engine-2')).rejects.toThrow()
  expect(ledger.isAlive('engine-2')).toBe(true)
  await other.close()
  expect(ledger.isAlive('engine-2')).toBe(false)
})

it('an instance is alive whichever way leads to its file: a symbolic link too', async () => {
  const { file, ledger } = await setup()
  const link = join(dirname(file), 'link.db')
  symlinkSync(file, link)
  const other = await openLedger(link)
  await other.enlist('engine-2')
  expect(ledger.isAlive('engine-2')).toBe(true)
  await other.close()
  expect(ledger.isAlive('engine-2')).toBe(false)
})

// The lock of an instance dies with its process, and only with it.
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import * as connections from '../../../src/ledger/dialects/sqlite/connection.ts'
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

it('an instance of another process is alive until kill -9, and dead as soon as the process has ended', async () => {
  const { file, ledger } = await setup()
  const child = startChild('hold', file, 'engine-other')
  expect(await child.nextLine()).toBe('held')
  // However often it is asked, the lock is never stolen.
  for (let time = 0; time < 20; time++) expect(await ledger.isAlive('engine-other')).toBe('alive')
  await child.kill()
  expect(await ledger.isAlive('engine-other')).toBe('dead')
  expect(existsSync(`${file}-engine-other`)).toBe(true)
  ledger.unregister('engine-other')
  expect(existsSync(`${file}-engine-other`)).toBe(false)
})

it('an instance that closes its ledger leaves no file, and nothing to judge its life by', async () => {
  const { file, ledger } = await setup()
  const child = startChild('hold', file, 'engine-other')
  await child.nextLine()
  child.say('go')
  expect(await child.ended()).toBe(0)
  expect(await ledger.isAlive('engine-other')).toBe('unknown')
  expect(existsSync(`${file}-engine-other`)).toBe(false)
})

it('two ledgers of one process on one file know of each other', async () => {
  const { file, ledger } = await setup()
  const other = await openLedger(file)
  await other.register('engine-2')
  expect(await ledger.isAlive('engine-2')).toBe('alive')
  await expect(ledger.register('engine-2')).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
  expect(await ledger.isAlive('engine-2')).toBe('alive')
  await other.close()
  expect(await ledger.isAlive('engine-2')).toBe('unknown')
})

it('an instance is alive whichever way leads to its file: a symbolic link too', async () => {
  const { file, ledger } = await setup()
  const link = join(dirname(file), 'link.db')
  symlinkSync(file, link)
  const other = await openLedger(link)
  await other.register('engine-2')
  expect(await ledger.isAlive('engine-2')).toBe('alive')
  await other.close()
  expect(await ledger.isAlive('engine-2')).toBe('unknown')
})

it('a removed lock file is no proof of death: the instance is unknown, and its lease decides', async () => {
  const { file, ledger } = await setup()
  const child = startChild('hold', file, 'engine-other')
  await child.nextLine()
  rmSync(`${file}-engine-other`)
  expect(await ledger.isAlive('engine-other')).toBe('unknown')
  // Looking has not made the file again.
  expect(existsSync(`${file}-engine-other`)).toBe(false)
  await child.kill()
})

it('an instance that could not end its row is dead to others as soon as it is discharged as dead', async () => {
  const { file, ledger } = await setup()
  const other = await openLedger(file)
  await ledger.register('engine-1')
  ledger.unregister('engine-1', { asDead: true })
  expect(await other.isAlive('engine-1')).toBe('dead')
  other.unregister('engine-1')
  expect(existsSync(`${file}-engine-1`)).toBe(false)
  await other.close()
})

it('files of killed instances are removed by the next that enlists, unless a row still needs the proof', async () => {
  const { file, ledger } = await setup()
  const litter = () => readdirSync(dirname(file)).filter((name) => /engine|mirror/.test(name))
  const names = ['mirror-stood-by', 'mirror-wrote', 'engine-unrecovered', 'engine-alive']
  const children = names.map((name) => startChild('hold', file, name))
  for (const child of children) await child.nextLine()
  await ledger.step({
    name: 'name',
    *decide(tx) {
      yield* tx.mirror.hold('/folder', 'main', 'mirror-wrote', 10)
      const row = { pid: 1, host: 'here', startedAt: 1, leaseUntil: 10, endedAt: null }
      yield* tx.instance.insert({ id: 'engine-unrecovered', ...row })
    },
  })
  for (const child of children.slice(0, 3)) await child.kill()
  await ledger.register('engine-next')
  expect(litter().sort()).toEqual([
    'ledger.db-engine-alive',
    'ledger.db-engine-next',
    'ledger.db-engine-unrecovered',
    'ledger.db-mirror-wrote',
  ])
  expect(await ledger.isAlive('engine-unrecovered')).toBe('dead')
  expect(await ledger.isAlive('engine-alive')).toBe('alive')
  await children[3]?.kill()
})

it('a lock that cannot be taken is LEDGER_UNAVAILABLE with its cause, and leaves no file behind', async () => {
  const connect = connections.connect
  for (const [code, remedy] of [
    ['SQLITE_FULL', /Free some disk space/],
    ['SQLITE_IOERR_SHMSIZE', /Check the disk/],
    ['SQLITE_CANTOPEN', /open more files/],
  ] as const) {
    const { file, ledger } = await setup()
    const cause = Object.assign(new Error('planted'), { code })
    const watching = vi.spyOn(connections, 'connect').mockImplementation((path, options) => {
      if (!path.endsWith('-engine-1')) return connect(path, options)
      if (code === 'SQLITE_CANTOPEN') throw cause
      const connection = connect(path, options)
      connection.execute = () => {
        throw cause
      }
      return connection
    })
    try {
      await expect(ledger.register('engine-1')).rejects.toMatchObject({
        code: 'LEDGER_UNAVAILABLE',
        message: expect.stringMatching(remedy),
        cause,
      })
    } finally {
      watching.mockRestore()
    }
    expect(existsSync(`${file}-engine-1`)).toBe(false)
    await ledger.register('engine-1')
  }
})

// The lock of an instance is released when its process ends, and only then.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import * as connections from '../../../src/ledger/sqlite/connection.ts'
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

it('isAlive reports an instance of another process as alive until kill -9, and as dead as soon as that process has ended', async () => {
  const { file, ledger } = await setup()
  const child = startChild('hold', file, 'engine-other')
  expect(await child.nextLine()).toBe('held')
  // Checking does not take the lock.
  for (let time = 0; time < 20; time++) expect(await ledger.isAlive('engine-other')).toBe('alive')
  await child.kill()
  expect(await ledger.isAlive('engine-other')).toBe('dead')
  expect(existsSync(`${file}-locks/engine-other`)).toBe(true)
  ledger.unregister('engine-other')
  expect(existsSync(`${file}-locks/engine-other`)).toBe(false)
})

it('isAlive reports an instance that has closed its ledger as unknown, and its lock file is removed', async () => {
  const { file, ledger } = await setup()
  const child = startChild('hold', file, 'engine-other')
  await child.nextLine()
  child.send('go')
  expect(await child.ended()).toBe(0)
  expect(await ledger.isAlive('engine-other')).toBe('unknown')
  expect(existsSync(`${file}-locks/engine-other`)).toBe(false)
})

it('isAlive sees the instances of another ledger of the same process on the same file', async () => {
  const { file, ledger } = await setup()
  const other = await openLedger(file)
  await other.register('engine-2')
  expect(await ledger.isAlive('engine-2')).toBe('alive')
  await expect(ledger.register('engine-2')).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
  expect(await ledger.isAlive('engine-2')).toBe('alive')
  await other.close()
  expect(await ledger.isAlive('engine-2')).toBe('unknown')
})

it('isAlive finds an instance whose ledger was opened by a symbolic link', async () => {
  const { file, ledger } = await setup()
  const link = join(dirname(file), 'link.db')
  symlinkSync(file, link)
  const other = await openLedger(link)
  await other.register('engine-2')
  expect(await ledger.isAlive('engine-2')).toBe('alive')
  await other.close()
  expect(await ledger.isAlive('engine-2')).toBe('unknown')
})

it('isAlive reports an instance whose lock file was removed as unknown', async () => {
  const { file, ledger } = await setup()
  const child = startChild('hold', file, 'engine-other')
  await child.nextLine()
  rmSync(`${file}-locks/engine-other`)
  expect(await ledger.isAlive('engine-other')).toBe('unknown')
  // Checking has not created the file again.
  expect(existsSync(`${file}-locks/engine-other`)).toBe(false)
  await child.kill()
})

it('isAlive reports an instance as dead as soon as it was unregistered as dead', async () => {
  const { file, ledger } = await setup()
  const other = await openLedger(file)
  await ledger.register('engine-1')
  ledger.unregister('engine-1', { asDead: true })
  expect(await other.isAlive('engine-1')).toBe('dead')
  other.unregister('engine-1')
  expect(existsSync(`${file}-locks/engine-1`)).toBe(false)
  await other.close()
})

it('register removes the lock files of killed instances, unless a row still needs the proof of their death', async () => {
  const { file, ledger } = await setup()
  const lockFiles = () => readdirSync(`${file}-locks`)
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
  expect(lockFiles().sort()).toEqual(['engine-alive', 'engine-next', 'engine-unrecovered', 'mirror-wrote'])
  expect(await ledger.isAlive('engine-unrecovered')).toBe('dead')
  expect(await ledger.isAlive('engine-alive')).toBe('alive')
  await children[3]?.kill()
})

it('register throws LEDGER_UNAVAILABLE with the cause if the lock cannot be taken, and leaves no file', async () => {
  const connect = connections.connect
  for (const [code, remedy] of [
    ['SQLITE_FULL', /Free some disk space/],
    ['SQLITE_IOERR_SHMSIZE', /Check the disk/],
    ['SQLITE_CANTOPEN', /open more files/],
  ] as const) {
    const { file, ledger } = await setup()
    const cause = Object.assign(new Error('planted'), { code })
    const watching = vi.spyOn(connections, 'connect').mockImplementation((path, options) => {
      if (!path.endsWith('/engine-1')) return connect(path, options)
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
    expect(existsSync(`${file}-locks/engine-1`)).toBe(false)
    await ledger.register('engine-1')
  }
})

it('register removes nothing in the folder of locks but empty files with the name of an instance', async () => {
  const { file, ledger } = await setup()
  const folder = `${file}-locks`
  mkdirSync(folder)
  copyFileSync(file, join(folder, 'engine-database'))
  for (const name of ['.gitkeep', 'placeholder', 'engine-dead']) writeFileSync(join(folder, name), '')
  await ledger.register('engine-1')
  expect(readdirSync(folder).sort()).toEqual(['.gitkeep', 'engine-1', 'engine-database', 'placeholder'])
})

it.each(['link', 'file'])(
  'register refuses a %s in place of the folder of locks, and touches nothing',
  async (what) => {
    const { file, ledger } = await setup()
    const folder = `${file}-locks`
    const foreign = join(dirname(file), 'foreign')
    mkdirSync(foreign)
    writeFileSync(join(foreign, 'engine-dead'), '')
    if (what === 'link') symlinkSync(foreign, folder)
    else writeFileSync(folder, '')
    await expect(ledger.register('engine-1')).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      message: expect.stringContaining('where engines hold their locks, is a link or a file. Remove it'),
    })
    expect(readdirSync(foreign)).toEqual(['engine-dead'])
    rmSync(folder)
    await ledger.register('engine-1')
  },
)

it('register removes no file outside of the folder of locks, whatever its name, and the last instance removes the folder', async () => {
  const { file, ledger } = await setup()
  const kept = ['ledger.db-backup', 'ledger.db-2026-11-29', 'ledger.db-old', 'ledger.db-empty']
  for (const name of kept) copyFileSync(file, join(dirname(file), name))
  writeFileSync(`${file}-empty`, '')
  await ledger.register('engine-1')
  ledger.unregister('engine-1')
  const left = readdirSync(dirname(file)).filter((name) => !/^ledger\.db(-wal|-shm)?$/.test(name))
  expect(left.sort()).toEqual(kept.toSorted())
})

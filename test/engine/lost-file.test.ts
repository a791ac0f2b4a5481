// The file of a ledger is removed, moved or replaced while an engine has it open: nothing is acknowledged that is not in the file which others read.
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Run } from '../../src/entities/executor.ts'
import { ledgerFile } from './world.ts'

const remove = (file: string) => {
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true })
}

const ways: Record<string, (file: string) => void> = {
  removed: remove,
  'removed with its folder': (file) => rmSync(dirname(file), { recursive: true }),
  moved: (file) => renameSync(file, `${file}.moved`),
  'replaced by a copy': (file) => {
    const database = new Database(file)
    database.exec(`vacuum into '${file}.copy'`)
    database.close()
    for (const ending of ['-wal', '-shm']) rmSync(file + ending, { force: true })
    renameSync(`${file}.copy`, file)
  },
}

/** An engine with a task that runs until its signal aborts. */
async function workingEngine() {
  const file = join(dirname(ledgerFile()), 'own', 'ledger.db')
  mkdirSync(dirname(file), { recursive: true })
  const running = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<unknown>()
  const reported = Promise.withResolvers<unknown>()
  const engine = await createEngine({
    ledger: file,
    onError: reported.resolve,
    executors: {
      work: (_task: unknown, run: Run) => {
        running.resolve()
        run.signal.addEventListener('abort', () => aborted.resolve(run.signal.reason))
        return aborted.promise
      },
    },
  })
  onTestFinished(async () => {
    await engine.close()
    rmSync(dirname(file), { recursive: true, force: true })
  })
  await engine.create({ executor: 'work' })
  await running.promise
  return { file, engine, aborted: aborted.promise, reported: reported.promise }
}

it.each(Object.entries(ways))(
  'an engine whose ledger is %s ends its runs, reports it, and refuses to write and read',
  async (_how, lose) => {
    const { file, engine, aborted, reported } = await workingEngine()
    lose(file)
    const refusal = { code: 'LEDGER_UNAVAILABLE', message: expect.stringContaining(file) }
    expect(await reported).toMatchObject(refusal)
    await aborted
    await expect(engine.create({ name: 'late' })).rejects.toMatchObject(refusal)
    await expect(engine.list()).rejects.toMatchObject(refusal)
  },
)

it('a step whose commit goes to a removed file is not acknowledged', async () => {
  const file = ledgerFile()
  const engine = await createEngine({ ledger: file, work: false, onError: () => {} })
  onTestFinished(() => engine.close())
  await engine.create({ name: 'before' })
  remove(file)
  // In the same turn: no look at the file comes in between.
  const outcomes = await Promise.allSettled(['a', 'b'].map((name) => engine.create({ name })))
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'LEDGER_UNAVAILABLE' } })
})

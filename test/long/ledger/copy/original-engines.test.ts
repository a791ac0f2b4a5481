// An engine that opens the copy of a ledger takes over its tasks, and leaves the commands of the original alone.
import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { shell } from '../../../../src/index.ts'
import { copyLedger } from '../../../../src/ledger/copy/copy-ledger.ts'
import { ledgerFile, openEngine } from '../../../engine/world.ts'

it('an engine of a copy ends the runs of the engines of the original there, and not their commands', async () => {
  const from = ledgerFile()
  const to = ledgerFile()
  const original = await openEngine({ ledger: from, executors: { shell }, leaseMs: 300 })
  const go = `${from}.go`
  const command = `echo begun; until [ -e '${go}' ]; do sleep 0.05; done`
  const task = await original.create({ name: 'command', executor: 'shell', input: { run: command } })
  for await (const { type } of original.events({ after: 0 })) if (type === 'output.written') break
  expect(await copyLedger(from, to)).toMatchObject({ engines: 1 })
  const other = await openEngine({ ledger: to, executors: { shell } })
  for await (const event of other.events({ after: 0 }))
    if (event.type === 'task.started' && event.data['run'] === 2) break
  writeFileSync(go, '')
  expect(await other.settled(task.id)).toMatchObject({ status: 'completed' })
  expect(await original.settled(task)).toMatchObject({ status: 'completed' })
})
